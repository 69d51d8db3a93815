// SPDX-License-Identifier: Apache-2.0
// The border between the library's C++ and its C ABI: exceptions become a status and this thread's asr_last_error text.
#pragma once

#include <exception>
#include <new>
#include <string>

#include "core/base/error.h"

namespace asr::api {

inline std::string &last_error() {
  static thread_local std::string text;
  return text;
}

inline asr_status set_error(asr_status status, const char *text) noexcept {
  try {
    last_error() = text;
  } catch (...) {
    last_error().clear();
  }
  return status;
}

// The body of every function that returns a status: return guard([&] { ... });
template <typename Body>
asr_status guard(Body &&body) noexcept {
  try {
    body();
    return ASR_OK;
  } catch (const Error &error) {
    return set_error(error.code(), error.what());
  } catch (const std::bad_alloc &) {
    return set_error(ASR_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception &error) {
    return set_error(ASR_INTERNAL, (std::string("internal error: ") + error.what()).c_str());
  } catch (...) {
    return set_error(ASR_INTERNAL, "internal error: an unknown exception");
  }
}

// Throws if an argument is NULL.
inline void require(const void *argument, const char *function, const char *name) {
  if (argument == nullptr) fail(ASR_INVALID_ARGUMENT, "%s: %s is NULL", function, name);
}

}  // namespace asr::api
