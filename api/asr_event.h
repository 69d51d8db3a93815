// SPDX-License-Identifier: Apache-2.0
// The C handle of an event, and how out structs of any version are filled.
#pragma once

#include <algorithm>
#include <cstring>

#include "core/base/error.h"
#include "core/engine/event.h"

struct asr_event : asr::Event {};

namespace asr::api {

// Copies `value` into the caller's struct, as far as that reaches by its size, which stays.
template <typename Struct>
void fill(Struct *out, Struct value, const char *name) {
  const size_t size = out->size;
  if (size < sizeof(size_t)) fail(ASR_INVALID_ARGUMENT, "%s is %zu; set it to the sizeof of the struct", name, size);
  value.size = size;
  memcpy(static_cast<void *>(out), &value, std::min(size, sizeof(Struct)));
}

}  // namespace asr::api
