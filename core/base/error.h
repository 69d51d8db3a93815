// SPDX-License-Identifier: Apache-2.0
// The one exception of the project: a status and one sentence for the user. Thrown anywhere in core, tools and plugins;
// turned into codes at two borders, api/guard.h and plugins/common/guard.h.
#pragma once

#include <stdexcept>
#include <string>

#include "asr.h"

namespace asr {

class Error : public std::runtime_error {
 public:
  Error(asr_status code, const std::string &message) : std::runtime_error(message), code_(code) {}
  asr_status code() const noexcept { return code_; }

 private:
  asr_status code_;
};

// Throws Error with a printf-formatted sentence: fail(ASR_BAD_FILE, "%s: ...; do ...", path).
[[noreturn]] void fail(asr_status code, const char *format, ...) __attribute__((format(printf, 2, 3)));

// The error of a failed allocation. It was made when the library was loaded, and copies of an Error share its text, so that
// nothing of it needs memory.
const Error &out_of_memory() noexcept;

// Throws where the system starts no thread; `who` wanted one.
[[noreturn]] void fail_without_thread(const char *who);

// The exception being handled, as an Error; where there is no memory to say what it was, out_of_memory(). In catch blocks only.
Error current_error() noexcept;

std::string format(const char *format, ...) __attribute__((format(printf, 1, 2)));

}  // namespace asr
