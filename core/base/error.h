// SPDX-License-Identifier: Apache-2.0
// Error is the project's only exception type: a status and one message for the user. Core, tools and plugins throw it. Two
// borders turn it into codes: api/guard.h and plugins/common/guard.h.
#pragma once

#include <stdexcept>
#include <string>

#include "asr.h"

namespace asr {

class Error : public std::runtime_error {
 public:
  // The message becomes one printable line (core/base/printable.h), since it may quote paths and files. One that quotes much
  // of a file loses its middle part (kMaxMessageBytes).
  Error(asr_status code, const std::string &message);
  asr_status code() const noexcept { return code_; }

 private:
  asr_status code_;
};

// Throws Error with a printf-formatted message: fail(ASR_BAD_FILE, "%s: ...; do ...", path).
[[noreturn]] void fail(asr_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// Returns the error of a failed allocation, created when the library is loaded. Copies of an Error share its text, so
// throwing it allocates no text.
const Error &out_of_memory() noexcept;

// Throws because the system could not start a thread; `who` names the part that wanted it.
[[noreturn]] void fail_without_thread(const char *who);

// Returns the exception being handled as an Error, or out_of_memory() if there is no memory for its text. For catch blocks
// only.
Error current_error() noexcept;

std::string format(const char *format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace asr
