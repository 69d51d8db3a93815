// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/target.h"

#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cstdarg>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "tests/unit/lattice/allocated.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SENONE_SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SENONE_SANITIZED 1
#endif

// A huge allocation fails as in malloc, so that a missing check of the reader shows. A finding ends in abort(), where replay.cc
// can name the input.
// NOLINTNEXTLINE(bugprone-reserved-identifier): name of the sanitizer
extern "C" const char *__asan_default_options() {
  return "max_allocation_size_mb=2048:allocator_may_return_null=1:abort_on_error=1:detect_stack_use_after_return=0";
}

namespace asr::fuzz {
namespace {

#ifdef SENONE_SANITIZED
constexpr double kSlowness = 20;
#else
constexpr double kSlowness = 1;
#endif

constexpr char kMark[] = "\n%%%%\n";

bool g_refused = false;

double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

void attempt(const std::string &bytes, const std::function<void(const std::string &bytes)> &action) {
  g_refused = false;
  try {
    action(bytes);
  } catch (const Error &error) {
    g_refused = true;
    if (error.what()[0] == '\0') finding("an error without a message");
  } catch (const std::exception &error) {
    finding("threw %s instead of an asr::Error", error.what());
  }
}

struct Directory {
  std::string path;
  Directory() {
    const char *const asked = getenv("TMPDIR");
    const bool in_memory = access("/dev/shm", W_OK) == 0;
    path = std::string(asked != nullptr ? asked : in_memory ? "/dev/shm" : "/tmp") + "/senone-fuzz-XXXXXX";
    if (mkdtemp(path.data()) == nullptr) finding("no temporary directory %s", path.c_str());
  }
  ~Directory() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

}  // namespace

int run(const uint8_t *data, size_t size, const Budget &budget, const std::function<void(const std::string &bytes)> &action) {
  const std::string bytes(reinterpret_cast<const char *>(data), size);
  const double max_bytes = 1e6 * budget.megabytes + budget.bytes_each * double(size);
  const double max_seconds = kSlowness * (budget.seconds + 1e-6 * budget.microseconds_each * double(size));
  const test::PeakMemory memory;
  const double begin = processor_seconds();
  attempt(bytes, action);
  const double seconds = processor_seconds() - begin;
  if (double(memory.bytes()) > max_bytes) {
    finding("%zu bytes of input took %.1f MB, more than %.1f", size, 1e-6 * double(memory.bytes()), 1e-6 * max_bytes);
  }
  if (seconds > max_seconds) finding("%zu bytes of input took %.2f s, more than %.2f", size, seconds, max_seconds);
  return 0;
}

bool was_refused() { return g_refused; }

void finding(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  fprintf(stderr, "FINDING: ");
  vfprintf(stderr, format, arguments);
  fprintf(stderr, "\n");
  va_end(arguments);
  abort();
}

const std::string &directory() {
  static const Directory directory;
  return directory.path;
}

std::string file(const std::string &name, const std::string &bytes) {
  std::string path = directory() + "/" + name;
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  return path;
}

std::string join(const std::vector<std::string> &pieces) {
  std::string all;
  for (size_t i = 0; i < pieces.size(); ++i) all += (i == 0 ? "" : kMark) + pieces[i];
  return all;
}

std::vector<std::string> split(const std::string &bytes, size_t n_pieces) {
  std::vector<std::string> pieces;
  size_t at = 0;
  while (pieces.size() + 1 < n_pieces && at <= bytes.size()) {
    const size_t end = bytes.find(kMark, at);
    if (end == std::string::npos) break;
    pieces.push_back(bytes.substr(at, end - at));
    at = end + sizeof(kMark) - 1;
  }
  pieces.push_back(bytes.substr(at));
  pieces.resize(n_pieces);
  return pieces;
}

}  // namespace asr::fuzz
