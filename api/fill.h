// SPDX-License-Identifier: Apache-2.0
// Structs of the caller, which may be those of an older or a newer version of asr.h.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::api {

// Throws unless `size` can be the size of a version of the struct: these only grow by whole fields, up to a multiple of the
// alignment.
template <typename Struct>
void check_size(size_t size, const char *name) {
  if (size >= sizeof(size_t) && size % alignof(Struct) == 0 && size <= kMostStructBytes) return;
  fail(ASR_INVALID_ARGUMENT, "%s is %zu, which no version of the struct has; set it to the sizeof of the struct", name, size);
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
