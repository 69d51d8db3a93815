// SPDX-License-Identifier: Apache-2.0
// The options of asr_backend_api::open, from a core that may be older than the plugin and knows fewer of them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>

#include "core/backend/asr_backend.h"

namespace asr {

// The options that the core has given; the others are 0, their default.
inline asr_backend_options complete(const asr_backend_options &options) {
  asr_backend_options all{};
  // Every core gives the options before model_bits.
  const size_t n_bytes = std::max(options.size, offsetof(asr_backend_options, model_bits));
  std::memcpy(&all, &options, std::min(n_bytes, sizeof all));
  all.size = sizeof all;
  return all;
}

// The room that something begins with where it usually begins with `usual`; at least `least`, which is no more than that.
inline uint32_t small_room(uint32_t usual, uint32_t small_rooms, uint32_t least) {
  return small_rooms < 32 ? std::max(usual >> small_rooms, least) : least;
}

}  // namespace asr
