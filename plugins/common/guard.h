// SPDX-License-Identifier: Apache-2.0
// The border between a plugin's C++ and its C table: exceptions become a status and this thread's last_error text.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "core/base/error.h"

namespace asr {

inline std::string &plugin_last_error() {
  static thread_local std::string text;
  return text;
}

// Every slot's body: return guard([&] { ... });
template <typename Body>
asr_status guard(Body &&body) noexcept {
  try {
    body();
    return ASR_OK;
  } catch (const Error &error) {
    plugin_last_error() = error.what();
    return error.code();
  } catch (const std::bad_alloc &) {
    plugin_last_error() = "out of host memory";
    return ASR_OUT_OF_MEMORY;
  } catch (const std::exception &error) {
    plugin_last_error() = std::string("internal error: ") + error.what();
    return ASR_INTERNAL;
  } catch (...) {
    plugin_last_error() = "internal error: unknown exception";
    return ASR_INTERNAL;
  }
}

}  // namespace asr
