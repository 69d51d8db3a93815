// SPDX-License-Identifier: Apache-2.0
// The `senone` command collects the subcommands of the other files, runs one, and turns errors into exit codes: 0 ok, 1
// failure, 2 bad usage. Signals end it with 128 + their number (progress.h).
#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdarg>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <new>
#include <vector>

#include "core/base/printable.h"
#include "core/model/bundle.h"
#include "tools/progress.h"
#include "tools/tool.h"

namespace asr::tool {
namespace {

std::map<std::string, AddFunction> &subcommands() {
  static std::map<std::string, AddFunction> all;
  return all;
}

std::vector<std::string> &process_arguments() {
  static std::vector<std::string> all;
  return all;
}

}  // namespace

Subcommand::Subcommand(const char *name, AddFunction add) { subcommands()[name] = add; }

double wall_seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return double(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) + 1e-6 * double(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

BundleStep this_step() { return {asr_version(), process_arguments()}; }

uint64_t peak_memory_bytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return uint64_t(usage.ru_maxrss) * 1024;
}

void print_line(FILE *file, const char *format, ...) {
  char *text = nullptr;
  va_list args;
  va_start(args, format);
  const int length = vasprintf(&text, format, args);
  va_end(args);
  if (length < 0) throw std::bad_alloc();
  const std::unique_ptr<char, decltype(&free)> owner(text, free);
  fputs((printable(text) + "\n").c_str(), file);
}

void flush_stdout() {
  if (fflush(stdout) == 0 && ferror(stdout) == 0) return;
  const int error = errno;
  const char *const remedy = error == ENOSPC  ? "; free some space or write elsewhere"
                             : error == EPIPE ? "; its reader has ended"
                                              : "; check where it leads";
  fail(ASR_IO, "standard output: cannot be written: %s%s", strerror(error), remedy);
}

namespace {

// Opens placeholders for closed standard streams. Otherwise an opened file could get the number of such a stream and receive
// the printed output. Using such a stream still fails.
void occupy_standard_streams() {
  for (const int number : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(number, F_GETFD) < 0) open("/dev/null", number == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

}  // namespace

int run(int argc, char **argv) {
  occupy_standard_streams();
  if (argc > 1) process_arguments().assign(argv + 1, argv + argc);
  signal(SIGXFSZ, SIG_IGN);  // exceeding the file size limit becomes an error of write(), so outputs are cleaned up
  end_cleanly_on_signals();
  const auto add_all = [](Command program) {
    for (const auto &[name, add] : subcommands()) add(program);
  };
  try {
    const int code = run_command_line("senone", "Senone, a speech recogniser", asr_version(), add_all, argc, argv);
    flush_stdout();
    return code;
  } catch (const UsageError &error) {
    print_line(stderr, "senone: %s", error.what());
    return 2;
  } catch (...) {
    print_line(stderr, "senone: %s", current_error().what());
    return 1;
  }
}

}  // namespace asr::tool

int main(int argc, char **argv) { return asr::tool::run(argc, argv); }
