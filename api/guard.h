// SPDX-License-Identifier: Apache-2.0
// The border between the library's C++ and its C ABI: exceptions become a status and this thread's asr_last_error text.
#pragma once

#include "api/uncancelled.h"
#include "core/base/error.h"
#include "core/base/last_error.h"

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

// Throws if an argument is NULL.
inline void require(const void *argument, const char *function, const char *name) {
  if (argument == nullptr) fail(ASR_INVALID_ARGUMENT, "%s: %s is NULL", function, name);
}

}  // namespace asr::api
