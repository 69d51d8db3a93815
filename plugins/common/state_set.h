// SPDX-License-Identifier: Apache-2.0
// StateSet is a set of states of an acoustic model, which are the pdfs of graphs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace asr {

class StateSet {
 public:
  explicit StateSet(size_t n_states) : words_((n_states + 63) / 64) {}

  void add(uint32_t state) { words_[state / 64] |= uint64_t{1} << state % 64; }
  bool contains(uint32_t state) const { return (words_[state / 64] >> state % 64 & 1) != 0; }
  size_t count() const {
    size_t n = 0;
    for (const uint64_t word : words_) n += static_cast<size_t>(__builtin_popcountll(word));
    return n;
  }
  // Returns true if a set that was made for at most as many states has no others.
  bool contains(const StateSet &part) const {
    for (size_t i = 0; i < part.words_.size(); ++i) {
      if ((part.words_[i] & ~words_[i]) != 0) return false;
    }
    return true;
  }
  // Adds the members of a set that was made for at most as many states. Returns true if it had others.
  bool add(const StateSet &more) {
    bool grows = false;
    for (size_t i = 0; i < more.words_.size(); ++i) {
      grows |= (more.words_[i] & ~words_[i]) != 0;
      words_[i] |= more.words_[i];
    }
    return grows;
  }

 private:
  std::vector<uint64_t> words_;
};

}  // namespace asr
