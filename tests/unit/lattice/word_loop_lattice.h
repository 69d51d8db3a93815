// SPDX-License-Identifier: Apache-2.0
// The state-level lattice of uninformative rows: a loop of words, in which everything costs the same.
#pragma once

#include "core/lattice/lattice.h"

namespace asr::test {

struct WordLoop {
  uint32_t n_frames = 300, n_words = 3;
  uint32_t loud_frame = 0xffffffffu;  // frame with the acoustic cost loud_cost
  double loud_cost = 0;               // acoustic cost of that frame, minus a little for each word
};

// Frames begin with state 0 of the loop, followed by one state inside each word. A word takes any number of frames.
inline Lattice word_loop_lattice(const WordLoop &shape) {
  Lattice lattice;
  const uint32_t per_frame = shape.n_words + 1;
  const auto end_state = [&](const LatticeCost &final_cost) {
    lattice.arc_begin.push_back(lattice.arcs.size());
    lattice.final_costs.push_back(final_cost);
  };
  const auto acoustic = [&](uint32_t t, uint32_t word) {
    return t == shape.loud_frame ? shape.loud_cost * (1 - 1e-7 * word) : 40.0;
  };
  // In a frame the words' states come first: they lead to the loop's state without a frame.
  const auto word_state = [&](uint32_t t, uint32_t word) { return t == 0 ? 0 : 1 + (t - 1) * per_frame + word - 1; };
  const auto loop_state = [&](uint32_t t) { return t == 0 ? 0 : t * per_frame; };
  const auto add_loop = [&](uint32_t t) {
    lattice.frames.push_back(t);
    for (uint32_t w = 1; t < shape.n_frames && w <= shape.n_words; ++w) {
      lattice.arcs.push_back({word_state(t + 1, w), 2 * w, w, {0.75, acoustic(t, w)}});
    }
    end_state(t == shape.n_frames ? LatticeCost{} : kNoEnd);
  };
  add_loop(0);
  for (uint32_t t = 1; t <= shape.n_frames; ++t) {
    for (uint32_t w = 1; w <= shape.n_words; ++w) {
      lattice.frames.push_back(t);
      if (t < shape.n_frames) lattice.arcs.push_back({word_state(t + 1, w), 2 * w + 1, 0, {0.75, acoustic(t, w)}});
      lattice.arcs.push_back({loop_state(t), 0, 0, {0.125, 0}});
      end_state(kNoEnd);
    }
    add_loop(t);
  }
  return lattice;
}

}  // namespace asr::test
