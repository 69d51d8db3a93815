// SPDX-License-Identifier: Apache-2.0
// guard() is the border between a plugin's C++ and its C table: exceptions become a status and this thread's last_error text.
#pragma once

#include "core/base/error.h"
#include "core/base/last_error.h"

namespace asr {

inline LastError &plugin_last_error() {
  static thread_local LastError error;
  return error;
}

// Keeps the exception that is being handled as this thread's last_error, and returns its code: the last words of a slot that is
// written as `asr_status slot(...) noexcept try { ...; return ASR_OK; } catch (...) { return failure(); }`.
inline asr_status failure() noexcept {
  const Error error = current_error();
  plugin_last_error().keep(error.what());
  return error.code();
}

// Runs the body of a slot: return guard([&] { ... });
template <typename Body>
asr_status guard(Body &&body) noexcept {
  try {
    body();
    return ASR_OK;
  } catch (...) {
    return failure();
  }
}

}  // namespace asr
