// SPDX-License-Identifier: Apache-2.0
// The main function of a fuzz target without libFuzzer: fuzz_TARGET [--seconds S] [--write-seeds DIR] [--write NUMBER FILE]
// [PATH...]. It runs the target on its seeds, which the target must accept, on the files at PATH... (or in such directories),
// and for S seconds on damaged seeds, always the same ones. --write only writes damaged seed NUMBER to FILE, --write-seeds the
// seeds to DIR.
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/fuzz/damage.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {
namespace {

constexpr rlim_t kMaxMemory = rlim_t{3} << 30;

char g_input[4096];  // the current input, for on_signal()

void on_signal(int number) {
  const char text[] = "the input was ";
  (void)!write(STDERR_FILENO, text, sizeof(text) - 1);
  (void)!write(STDERR_FILENO, g_input, strlen(g_input));
  (void)!write(STDERR_FILENO, "\n", 1);
  signal(number, SIG_DFL);
  raise(number);
}

void watch() {
  for (const int number : {SIGABRT, SIGSEGV, SIGBUS, SIGFPE}) signal(number, on_signal);
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
  const rlimit limit = {kMaxMemory, kMaxMemory};
  setrlimit(RLIMIT_AS, &limit);
#endif
}

struct Options {
  double seconds = 0;
  std::string write_seeds, write;
  uint64_t number = 0;
  std::vector<std::string> paths;
};

Options parse(int argc, char **argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    const auto is = [&](const char *name, int n_values) { return strcmp(argv[i], name) == 0 && i + n_values < argc; };
    if (is("--seconds", 1)) {
      options.seconds = atof(argv[++i]);
    } else if (is("--write-seeds", 1)) {
      options.write_seeds = argv[++i];
    } else if (is("--write", 2)) {
      options.number = strtoull(argv[++i], nullptr, 10);
      options.write = argv[++i];
    } else {
      options.paths.emplace_back(argv[i]);
    }
  }
  return options;
}

// Returns files and the files in directories, ordered by name.
std::vector<std::string> files_of(const std::vector<std::string> &paths) {
  std::vector<std::string> files;
  for (const std::string &path : paths) {
    if (!std::filesystem::is_directory(path)) {
      files.push_back(path);
      continue;
    }
    for (const auto &entry : std::filesystem::directory_iterator(path)) files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

std::string slurp(const std::string &path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) finding("%s cannot be read", path.c_str());
  return std::string(std::istreambuf_iterator<char>(in), {});
}

void spill(const std::string &path, const std::string &bytes) {
  std::ofstream out(path, std::ios::binary | std::ios::trunc);
  out << bytes;
  if (!out.flush()) finding("%s cannot be written", path.c_str());
}

void run_named(const std::string &name, const std::string &bytes) {
  snprintf(g_input, sizeof(g_input), "%s", name.c_str());
  LLVMFuzzerTestOneInput(reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
}

std::string damaged(const std::vector<std::string> &good, uint64_t number) {
  Random random(number);
  return damage(good[number % good.size()], good, random);
}

void run_seeds(const std::vector<std::string> &good) {
  if (good.empty()) finding("the target has no seeds");
  for (size_t i = 0; i < good.size(); ++i) {
    run_named("seed " + std::to_string(i), good[i]);
    if (was_refused()) finding("seed %zu is refused", i);
  }
}

uint64_t run_damaged(const std::vector<std::string> &good, double seconds) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(seconds));
  uint64_t number = 0;
  for (; Clock::now() < end; ++number) {
    run_named("damaged seed " + std::to_string(number) + "; --write " + std::to_string(number) + " FILE writes it",
              damaged(good, number));
  }
  return number;
}

int replay(const Options &options) {
  const std::vector<std::string> good = seeds();
  if (!options.write.empty()) {
    spill(options.write, damaged(good, options.number));
    return 0;
  }
  if (!options.write_seeds.empty()) {
    std::filesystem::create_directories(options.write_seeds);
    for (size_t i = 0; i < good.size(); ++i) spill(options.write_seeds + "/seed-" + std::to_string(i), good[i]);
    return 0;
  }
  watch();
  run_seeds(good);
  const std::vector<std::string> files = files_of(options.paths);
  for (const std::string &path : files) run_named(path, slurp(path));
  const uint64_t n_damaged = run_damaged(good, options.seconds);
  printf("%zu seeds, %zu kept inputs, %llu damaged seeds\n", good.size(), files.size(),
         static_cast<unsigned long long>(n_damaged));
  return 0;
}

}  // namespace
}  // namespace asr::fuzz

int main(int argc, char **argv) { return asr::fuzz::replay(asr::fuzz::parse(argc, argv)); }
