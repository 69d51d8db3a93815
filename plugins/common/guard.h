// SPDX-License-Identifier: Apache-2.0
// The border between a plugin's C++ and its C table: exceptions become a status and this thread's last_error text.
#pragma once

#include <string>

#include "core/base/error.h"

namespace asr {

inline std::string &plugin_last_error() {
  static thread_local std::string text;
  return text;
}

// Where there is no memory for the text, the caller gets none.
inline asr_status set_plugin_error(asr_status status, const char *text) noexcept {
  try {
    plugin_last_error() = text;
  } catch (...) {
    plugin_last_error().clear();
  }
  return status;
}

// Every slot's body: return guard([&] { ... });
template <typename Body>
asr_status guard(Body &&body) noexcept {
  try {
    body();
    return ASR_OK;
  } catch (...) {
    const Error error = current_error();
    return set_plugin_error(error.code(), error.what());
  }
}

}  // namespace asr
