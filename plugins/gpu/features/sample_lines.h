// SPDX-License-Identifier: Apache-2.0
// Aligns samples that are copied to a device: frame 0 of a piece begins a line of memory.
#pragma once

#include "plugins/gpu/runtime/staging.h"

namespace asr {

constexpr size_t kLineFloats = 32;  // 128 bytes

// Returns zeros to add after n_floats values. The sample before frame 0, which the piece begins with, ends their line.
inline Piece<const float> line_filler(size_t n_floats) {
  static constexpr float kZeros[kLineFloats] = {};
  return {kZeros, kLineFloats - 1 - n_floats % kLineFloats};
}

}  // namespace asr
