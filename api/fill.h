// SPDX-License-Identifier: Apache-2.0
// Structs of the caller, which may be those of an older or a newer version of asr.h.
#pragma once

#include <algorithm>
#include <cstring>
#include <string>
#include <type_traits>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::api {

// Throws unless `size` can be the size of a version of the struct. Structs only grow by whole fields, up to a multiple
// of the alignment.
template <typename Struct>
void check_size(size_t size, const char *name) {
  if (size >= sizeof(size_t) && size % alignof(Struct) == 0 && size <= kMaxStructBytes) return;
  fail(ASR_INVALID_ARGUMENT, "%s is %zu, which no version of the struct has; set it to the sizeof of the struct", name, size);
}

// The caller's struct in this library's size. Members that a smaller one lacks get their defaults; members that a
// larger one adds must be zero.
template <typename Config>
Config resized(const Config *config, void (*set_default)(Config *), const char *name) {
  Config result;
  set_default(&result);
  if (config == nullptr) return result;
  const size_t size = config->size;
  check_size<Config>(size, format("%s.size", name).c_str());
  const unsigned char *bytes = reinterpret_cast<const unsigned char *>(config);
  for (size_t i = sizeof(Config); i < size; ++i) {
    if (bytes[i] != 0) fail(ASR_UNSUPPORTED, "%s: a field that this version of the library does not know is set", name);
  }
  memcpy(static_cast<void *>(&result), config, std::min(size, sizeof(Config)));
  return result;
}

// An enum field as the number it holds, which need not be one of the enum's.
template <typename Enum>
int number(const Enum &field) {
  static_assert(sizeof(Enum) == sizeof(int));
  int value;
  memcpy(&value, &field, sizeof(value));
  return value;
}

template <typename Number>
void check_range(Number value, Number low, Number high, const char *name) {
  if (value >= low && value <= high) return;
  constexpr int kDigits = std::is_floating_point_v<Number> ? 7 : 10;
  fail(ASR_INVALID_ARGUMENT, "%s is %.*g; its range is %.*g to %.*g", name, kDigits, static_cast<double>(value), kDigits,
       static_cast<double>(low), kDigits, static_cast<double>(high));
}

// Copies `value` into the caller's struct, as far as that reaches by its size, which stays.
template <typename Struct>
void fill(Struct *out, Struct value, const char *name) {
  const size_t size = out->size;
  check_size<Struct>(size, name);
  value.size = size;
  memcpy(static_cast<void *>(out), &value, std::min(size, sizeof(Struct)));
}

}  // namespace asr::api
