// SPDX-License-Identifier: Apache-2.0
// RightContexts manages sets of phones that may follow, and their partition into classes under which a phone has the same HMM.
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr {

// Members are neighbours: a base phone's number, or silence_neighbour() for fillers and the end of the utterance.
constexpr size_t kMaxNeighbours = 256;
using NeighbourSet = std::bitset<kMaxNeighbours>;

class RightContexts {
 public:
  RightContexts(const HmmSet &set, const ContextTable &table);  // both arguments must outlive it

  uint32_t silence_neighbour() const { return silence_neighbour_; }
  uint32_t neighbour_of(uint32_t phone) const { return set_.phones[phone].filler ? silence_neighbour_ : phone; }
  uint32_t filler_neighbour() const { return silence_neighbour_ + 1; }  // treated as silence, but never in a set
  const NeighbourSet &all() const { return all_; }                      // the silence neighbour and all phones but fillers

  uint32_t id(const NeighbourSet &neighbours);  // id of a set; ids count from 0
  const NeighbourSet &operator[](uint32_t id) const { return sets_[id]; }

  struct Class {
    uint32_t hmm;
    uint32_t neighbours;  // set id
  };
  // Returns the HMMs of a phone after `left` and before the members of a set, each with its members.
  const std::vector<Class> &classes(uint32_t phone, WordPosition position, uint32_t left, uint32_t neighbours);

 private:
  const HmmSet &set_;
  const ContextTable &table_;
  uint32_t silence_neighbour_;
  NeighbourSet all_;
  std::vector<NeighbourSet> sets_;
  std::unordered_map<NeighbourSet, uint32_t> id_of_;
  std::unordered_map<uint64_t, std::vector<Class>> classes_;

  uint32_t phone_of(uint32_t neighbour) const { return neighbour >= silence_neighbour_ ? set_.silence : neighbour; }
};

}  // namespace asr
