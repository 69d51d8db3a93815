// SPDX-License-Identifier: Apache-2.0
// Hashing for the tables of the graph builder.
#pragma once

#include <cstdint>
#include <cstring>
#include <utility>
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

// HashIndex finds numbers by the hash of their objects: a table with open addressing. The caller defines equality.
class HashIndex {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

  // Returns the number with this hash for which equal(number) holds, or kNone.
  template <typename Equal>
  uint32_t find(uint64_t hash, const Equal &equal) const {
    const auto low = static_cast<uint32_t>(hash);
    for (size_t at = low & (slots_.size() - 1); slots_[at].number != kNone; at = (at + 1) & (slots_.size() - 1)) {
      if (slots_[at].hash == low && equal(slots_[at].number)) return slots_[at].number;
    }
    return kNone;
  }

  void add(uint64_t hash, uint32_t number) {
    if (8 * ++n_ > 7 * slots_.size()) {
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
    uint32_t hash = 0;  // lower half of the hash
    uint32_t number = kNone;
  };
  std::vector<Slot> slots_ = std::vector<Slot>(16);  // a power of two; at most 7/8 are filled
  size_t n_ = 0;

  void place(const Slot &slot) {
    size_t at = slot.hash & (slots_.size() - 1);
    while (slots_[at].number != kNone) at = (at + 1) & (slots_.size() - 1);
    slots_[at] = slot;
  }
};

// Maps 64-bit keys other than ~0 to values, in one block of memory without a node per value.
template <typename Value>
class FlatMap {
 public:
  // Returns the value of a key, and whether it is new. The pointer is valid until the next call.
  std::pair<Value *, bool> try_emplace(uint64_t key) {
    if (8 * (n_ + 1) > 7 * slots_.size()) {
      std::vector<Slot> old(2 * slots_.size());
      old.swap(slots_);
      for (const Slot &slot : old) {
        if (slot.key != kNone) find(slot.key) = slot;
      }
    }
    Slot &slot = find(key);
    const bool added = slot.key == kNone;
    if (added) ++n_;
    slot.key = key;
    return {&slot.value, added};
  }

 private:
  static constexpr uint64_t kNone = ~uint64_t{0};
  struct Slot {
    uint64_t key = kNone;
    Value value{};
  };
  std::vector<Slot> slots_ = std::vector<Slot>(16);
  size_t n_ = 0;

  Slot &find(uint64_t key) {
    size_t at = mix_hash(0, key) & (slots_.size() - 1);
    while (slots_[at].key != kNone && slots_[at].key != key) at = (at + 1) & (slots_.size() - 1);
    return slots_[at];
  }
};

}  // namespace asr
