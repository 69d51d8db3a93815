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

// Runs the body of a slot: return guard([&] { ... });
template <typename Body>
asr_status guard(Body &&body) noexcept {
  try {
    body();
    return ASR_OK;
  } catch (...) {
    const Error error = current_error();
    plugin_last_error().keep(error.what());
    return error.code();
  }
}

}  // namespace asr
