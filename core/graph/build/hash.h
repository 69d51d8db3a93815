// SPDX-License-Identifier: Apache-2.0
// Hashing for the tables of the graph builder.
#pragma once

#include <cstdint>
#include <cstring>

namespace asr {

inline uint64_t mix_hash(uint64_t hash, uint64_t value) {
  hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
  return hash ^ (hash >> 29);
}

template <typename... Values>
uint64_t mix_hash(uint64_t hash, uint64_t value, Values... more) {
  return mix_hash(mix_hash(hash, value), static_cast<uint64_t>(more)...);
}

inline uint32_t float_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

}  // namespace asr
