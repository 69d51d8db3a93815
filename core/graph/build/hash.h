// SPDX-License-Identifier: Apache-2.0
// Hashing for the tables of the graph builder.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

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

// Numbers found by the hash of what they stand for: a table with open addressing. What is equal the caller decides.
class HashIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // The number with this hash for which equal(number) holds, or kNone.
  template <typename Equal>
  uint32_t find(uint64_t hash, const Equal &equal) const {
    const auto low = static_cast<uint32_t>(hash);
    for (size_t at = low & (slots_.size() - 1); slots_[at].number != kNone; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == low && equal(slots_[at].number)) return slots_[at].number;
    }
    return kNone;
  }

  void add(uint64_t hash, uint32_t number) {
    if (2 * ++n_ > slots_.size()) {
      std::vector<Slot> old(2 * slots_.size());
      old.swap(slots_);
      for (const Slot &slot : old) {
        if (slot.number != kNone) place(slot);
      }
    }
    place({static_cast<uint32_t>(hash), number});
  }

 private:
  struct Slot {
    uint32_t hash = 0;  // its low half
    uint32_t number = kNone;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two, at most half of them filled
  size_t n_ = 0;

  void place(const Slot &slot) {
    size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
};

}  // namespace asr
