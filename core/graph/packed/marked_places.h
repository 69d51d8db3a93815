// SPDX-License-Identifier: Apache-2.0
// A set of places in an array, and the number of each among them: a bit a place and 4 bytes for 64.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr {

class MarkedPlaces {
 public:
  explicit MarkedPlaces(size_t n_places) : bits_((n_places + 63) / 64) {}

  void mark(uint32_t place) { bits_[place / 64] |= uint64_t{1} << place % 64; }
  bool contains(uint32_t place) const { return (bits_[place / 64] >> place % 64 & 1) != 0; }
  void prefetch(uint32_t place) const { __builtin_prefetch(&bits_[place / 64]); }

  // After all were marked: how many places are.
  uint32_t count() {
    uint32_t n = 0;
    n_before_.resize(bits_.size());
    for (size_t i = 0; i < bits_.size(); ++i) {
      n_before_[i] = n;
      n += static_cast<uint32_t>(__builtin_popcountll(bits_[i]));
    }
    return n;
  }
  // After count: how many marked places are before this one.
  uint32_t number_of(uint32_t place) const {
    const uint64_t before = bits_[place / 64] & ((uint64_t{1} << place % 64) - 1);
    return n_before_[place / 64] + static_cast<uint32_t>(__builtin_popcountll(before));
  }

 private:
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> n_before_;
};

}  // namespace asr
