// SPDX-License-Identifier: Apache-2.0
// The border between the library's C++ and its C ABI: exceptions become a status and this thread's asr_last_error text.
#pragma once

#include <cstdint>

#include "api/uncancelled.h"
#include "core/base/error.h"
#include "core/base/last_error.h"
#include "core/base/process_wide.h"

namespace asr::api {

inline LastError &last_error() {
  static thread_local LastError error;
  return error;
}

// The body of every function that returns a status: return guard([&] { ... });
template <typename Body>
asr_status guard(Body &&body) noexcept {
  const Uncancelled uncancelled;
  try {
    body();
    return ASR_OK;
  } catch (...) {
    const Error error = current_error();
    last_error().keep(error.what());
    return error.code();
  }
}

// An object that a handle points to, of the process that made it. A child of fork must not use it, since its threads and what
// they would give back do not exist there.
struct Handle {
  const uint32_t generation = process_generation();
  bool is_of_parent() const { return generation != process_generation(); }
};

// Throws if an argument is NULL; if it is a handle, also in a child of fork.
inline void require(const void *argument, const char *function, const char *name) {
  if (argument == nullptr) fail(ASR_INVALID_ARGUMENT, "%s: %s is NULL", function, name);
}
inline void require(const Handle *argument, const char *function, const char *name) {
  require(static_cast<const void *>(argument), function, name);
  if (!argument->is_of_parent()) return;
  fail(ASR_INVALID_STATE, "%s: %s is of the process from which this one was forked; load an engine in this process", function,
       name);
}

}  // namespace asr::api
