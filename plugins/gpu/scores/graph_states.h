// SPDX-License-Identifier: Apache-2.0
// GraphStates has the states of a model that graphs ask for, and decides when a device packs them as a part of the model
// (docs/cuda.md, "Scores of the graphs' states"). Used by acoustic.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "plugins/common/state_set.h"

namespace asr {

class GraphStates {
 public:
  explicit GraphStates(uint32_t n_states) : n_states_(n_states), states_(n_states) {}

  // Adds the pdfs of a graph whose channels read scores of the model.
  void add(const StateSet &pdfs) { grows_ |= states_.add(pdfs); }

  // Returns the states to pack before the next rows are scored; nullptr: the part that is there, or none, stays. Packing takes
  // time, in all that of two whole models at most.
  std::shared_ptr<const StateSet> next_part() {
    if (!grows_ || !has_part_) return nullptr;
    grows_ = false;
    const size_t n = states_.count();
    n_packed_ += n;
    if (2 * n >= n_states_ || n_packed_ > kMaxPacked * n_states_) has_part_ = false;
    return has_part_ ? std::make_shared<const StateSet>(states_) : nullptr;
  }

  // Returns false if rows are to be scored for all states: the graphs have half of them, packing took its time, or give_up()
  // was called.
  bool has_part() const { return has_part_; }
  void give_up() { has_part_ = false; }

 private:
  static constexpr size_t kMaxPacked = 2;

  const size_t n_states_;
  StateSet states_;
  size_t n_packed_ = 0;  // states, over all packings
  bool grows_ = false, has_part_ = true;
};

}  // namespace asr
