// SPDX-License-Identifier: Apache-2.0
// RightContexts manages sets of phones that may follow, and their partition into classes under which a phone has the same HMM.
#pragma once

#include <bitset>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/model/hmm_set.h"

namespace asr {

// Members are neighbours (ContextTable).
constexpr size_t kMaxNeighbours = 256;
using NeighbourSet = std::bitset<kMaxNeighbours>;

class RightContexts {
 public:
  RightContexts(const HmmSet &set, const ContextTable &table);  // both arguments must outlive it

  uint32_t silence_neighbour() const { return table_.silence_neighbour(); }
  uint32_t edge_neighbour() const { return table_.edge_neighbour(); }
  uint32_t filler_neighbour() const { return table_.n_neighbours(); }  // treated as silence, but never in a set
  uint32_t n_neighbours() const { return table_.n_neighbours(); }
  const NeighbourSet &all() const { return all_; }
  const NeighbourSet &spoken() const { return spoken_; }  // all that a phone of a word may be

  uint32_t id(const NeighbourSet &neighbours);  // id of a set; ids count from 0
  const NeighbourSet &operator[](uint32_t id) const { return sets_[id]; }

  struct Class {
    uint32_t hmm;
    uint32_t neighbours;  // set id
  };
  // Returns the HMMs of a phone after `left` and before the members of a set, each with its members.
  const std::vector<Class> &classes(uint32_t phone, WordPosition position, uint32_t left, uint32_t neighbours);

 private:
  const ContextTable &table_;
  NeighbourSet all_, spoken_;
  std::vector<NeighbourSet> sets_;
  std::unordered_map<NeighbourSet, uint32_t> id_of_;
  std::unordered_map<uint64_t, std::vector<Class>> classes_;
};

}  // namespace asr
