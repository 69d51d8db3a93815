// SPDX-License-Identifier: Apache-2.0
// The common part of the subcommands of `senone`. A subcommand is one file tools/<name>.cc that registers itself:
//   static const Subcommand kWer{"wer", add_wer};
// add_wer adds its command with options and a callback. The callback throws asr::Error on failure (exit code 1) and
// UsageError on bad usage (exit code 2). The message is one line with the file, the cause and the remedy.
#pragma once

#include <cstdio>
#include <string>

#include "core/base/error.h"
#include "tools/command_line.h"

namespace asr {
struct BundleStep;
}

namespace asr::tool {

using AddFunction = void (*)(Command app);

struct Subcommand {
  Subcommand(const char *name, AddFunction add);
};

class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Prints one line and ends it. What it quotes of paths and files becomes printable (core/base/printable.h).
void print_line(FILE *file, const char *format, ...) __attribute__((format(printf, 2, 3)));
void flush_stdout();  // throws if the printed text could not be written

BundleStep this_step();        // version and arguments of this run, for bundles it makes
double wall_seconds();         // monotonic
double cpu_seconds();          // processor time of the process
uint64_t peak_memory_bytes();  // highest resident set so far

}  // namespace asr::tool
