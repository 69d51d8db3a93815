// SPDX-License-Identifier: Apache-2.0
// Completes the options of asr_backend_api::open from a core that may be older than the plugin and know fewer of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/backend/asr_backend.h"

namespace asr {

// Returns the options that the core passed; the others are 0, their default.
inline asr_backend_options complete(const asr_backend_options &options) {
  asr_backend_options all{};
  // Every core passes the options before model_bits.
  const size_t n_bytes = std::max(options.size, offsetof(asr_backend_options, model_bits));
  std::memcpy(&all, &options, std::min(n_bytes, sizeof all));
  all.size = sizeof all;
  return all;
}

// Returns the initial capacity of an array whose usual one is `usual`; at least `least`, which is at most `usual`.
inline uint32_t initial_capacity(uint32_t usual, uint32_t initial_capacity_shift, uint32_t least) {
  return initial_capacity_shift < 32 ? std::max(usual >> initial_capacity_shift, least) : least;
}

}  // namespace asr
