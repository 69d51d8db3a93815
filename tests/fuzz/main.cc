// SPDX-License-Identifier: Apache-2.0
// fuzz_readers [--seconds S] [--target NAME] [--keep FILE]
// Runs every target for its share of S seconds (default 20) on damaged files made from fixed random numbers, and says what
// failed. The file being read lies at FILE (default: in the temporary directory), so that it can be had after a crash.
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "tests/fuzz/fuzz.h"

// A reader that asks for this much for a small file has believed a damaged size.
#if defined(__SANITIZE_ADDRESS__)
extern "C" const char *__asan_default_options() { return "max_allocation_size_mb=1024"; }
static void limit_memory() {}
#elif defined(__SANITIZE_THREAD__)
static void limit_memory() {}
#else
static void limit_memory() {
  const rlimit limit = {rlim_t{2} << 30, rlim_t{2} << 30};
  setrlimit(RLIMIT_AS, &limit);
}
#endif

namespace asr::fuzz {
namespace {

constexpr double kLongestRead_s = 5;

double now_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Options {
  double seconds = 20;
  std::string target;
  std::string file;
};

struct Counts {
  size_t good = 0, refused = 0, failed = 0;
};

// Reads `bytes` through a file; returns "" if that is right, else what is wrong.
std::string attempt(const Target &target, const std::string &bytes, const std::string &path, Counts &counts) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  const double start_s = now_s();
  std::string wrong;
  try {
    target.read(path);
    ++counts.good;
  } catch (const Error &error) {
    ++counts.refused;
    if (error.what()[0] == '\0') wrong = "an error without a sentence";
  } catch (const std::exception &error) {
    wrong = std::string("threw ") + error.what();
  }
  if (now_s() - start_s > kLongestRead_s) wrong = "took too long";
  if (!wrong.empty()) ++counts.failed;
  return wrong;
}

bool run(const Target &target, double seconds, const std::string &path) {
  Counts counts;
  for (const std::string &seed : target.seeds) {
    const std::string wrong = attempt(target, seed, path, counts);
    if (!wrong.empty()) printf("%s: a good file: %s\n", target.name.c_str(), wrong.c_str());
  }
  if (counts.good != target.seeds.size()) {
    printf("%s: only %zu of %zu good files are read\n", target.name.c_str(), counts.good, target.seeds.size());
    return false;
  }
  const double end_s = now_s() + seconds;
  Counts damaged;
  uint64_t number = 0;
  for (; now_s() < end_s && damaged.failed < 5; ++number) {
    Random random(number);
    const std::string bytes = mutate(target.seeds[number % target.seeds.size()], target.seeds, random);
    const std::string wrong = attempt(target, bytes, path, damaged);
    if (wrong.empty()) continue;
    const std::string kept = path + "." + target.name + "-" + std::to_string(number);
    std::filesystem::copy_file(path, kept, std::filesystem::copy_options::overwrite_existing);
    printf("%s: damaged file %llu: %s; it is kept at %s\n", target.name.c_str(), static_cast<unsigned long long>(number),
           wrong.c_str(), kept.c_str());
  }
  printf("%-24s %8llu damaged files, %zu refused, %zu read, %zu failed\n", target.name.c_str(),
         static_cast<unsigned long long>(number), damaged.refused, damaged.good, damaged.failed);
  fflush(stdout);
  return damaged.failed == 0;
}

Options parse(int argc, char **argv) {
  Options options;
  const bool in_memory = access("/dev/shm", W_OK) == 0;
  const std::string folder = in_memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
  options.file = folder + "/senone-fuzz-" + std::to_string(getpid());
  for (int i = 1; i + 1 < argc; i += 2) {
    if (strcmp(argv[i], "--seconds") == 0) options.seconds = atof(argv[i + 1]);
    if (strcmp(argv[i], "--target") == 0) options.target = argv[i + 1];
    if (strcmp(argv[i], "--keep") == 0) options.file = argv[i + 1];
  }
  return options;
}

}  // namespace
}  // namespace asr::fuzz

int main(int argc, char **argv) {
  using namespace asr::fuzz;
  limit_memory();
  const Options options = parse(argc, argv);
  std::vector<Target> targets;
  add_bundle_targets(targets);
  add_sphinx_targets(targets);
  add_kaldi_targets(targets);
  add_build_targets(targets);
  add_lattice_targets(targets);
  bool good = true, any = false;
  for (const Target &target : targets) {
    if (!options.target.empty() && target.name != options.target) continue;
    any = true;
    const double share = options.target.empty() ? static_cast<double>(targets.size()) : 1;
    good &= run(target, options.seconds / share, options.file);
  }
  unlink(options.file.c_str());
  if (!any) printf("there is no target %s\n", options.target.c_str());
  return good && any ? 0 : 1;
}
