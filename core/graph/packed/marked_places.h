// SPDX-License-Identifier: Apache-2.0
// MarkedPlaces is a set of offsets in an array with the rank of each: one bit per offset and 4 bytes per 64 offsets.
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

  // Call after all offsets were marked; returns their number.
  uint32_t count() {
    uint32_t n = 0;
    n_before_.resize(bits_.size());
    for (size_t i = 0; i < bits_.size(); ++i) {
      n_before_[i] = n;
      n += static_cast<uint32_t>(__builtin_popcountll(bits_[i]));
    }
    return n;
  }
  // Call after count(); returns the number of marked offsets before this one.
  uint32_t number_of(uint32_t place) const {
    const uint64_t before = bits_[place / 64] & ((uint64_t{1} << place % 64) - 1);
    return n_before_[place / 64] + static_cast<uint32_t>(__builtin_popcountll(before));
  }

 private:
  std::vector<uint64_t> bits_;
  std::vector<uint32_t> n_before_;
};

}  // namespace asr
