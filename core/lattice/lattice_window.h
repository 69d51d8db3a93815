// SPDX-License-Identifier: Apache-2.0
// LatticeWindow holds the end of a lattice that arrives in pieces, from the first state still needed. PieceDeterminiser works
// on it.
#pragma once

#include <cstddef>
#include <functional>

#include "core/lattice/determinise.h"
#include "core/lattice/prepared_lattice.h"

namespace asr {

// Costs are multiples of 2^-24: fine enough for a search, and exact for days of audio.
class LatticeWindow {
 public:
  explicit LatticeWindow(double acoustic_scale) : acoustic_scale_(acoustic_scale) {}

  // Adds a piece, as ASR_WANTS_PIECE defines it. Throws ASR_INVALID_ARGUMENT if the piece breaks the rules of
  // lattice.h or does not begin with the last states of the preceding piece.
  void add(Lattice piece, bool is_last);

  // Removes paths that are outside the beam by current knowledge.
  void prepare(double lattice_beam);

  // Keeps only the paths that enter a frame in the same state as the best path does, and removes others as prepare() does.
  // Returns the first of the frame's states.
  uint32_t commit(uint32_t frame, double lattice_beam);

  // Returns lattice_beam or the widest multiple of kWidthStep below it for which the states and arcs that are needed take at
  // most max_bytes; 0 if there is none. They are those on paths within the limit from first_needed(limit) on, which is kOutside
  // if nothing is. Needs prepare(lattice_beam).
  double width_within(size_t max_bytes, double lattice_beam, const std::function<uint32_t(double limit)> &first_needed) const;
  double limit_of(double lattice_beam) const { return prepared_.best + lattice_beam + prepared_.slack; }

  // Removes paths and states outside a narrower beam. Returns the new numbers of the states, kOutside for removed ones.
  static constexpr uint32_t kOutside = 0xffffffffu;
  std::vector<uint32_t> narrow(double lattice_beam);

  // Removes the first n_states states and renumbers the others.
  void drop(uint32_t n_states);

  PreparedLattice &prepared() { return prepared_; }  // valid after prepare()
  uint32_t n_states() const { return prepared_.lattice.n_states(); }
  // Returns an upper bound, including the per-state memory for following paths.
  size_t bytes() const { return bytes_of(n_states(), prepared_.lattice.arcs.size()); }
  bool has_paths() const { return prepared_.best < kNoEnd.graph; }
  uint32_t first_frame() const { return prepared_.lattice.frames.front(); }
  uint32_t last_frame() const { return prepared_.lattice.frames.back(); }
  uint32_t open_begin() const { return open_begin_; }  // first of the states that end the piece, unless it is the last piece

 private:
  static size_t bytes_of(size_t n_states, size_t n_arcs);
  bool stays(uint32_t s, double limit) const {  // the next piece begins with all open states
    return s >= open_begin_ || prepared_.from_start[s] + prepared_.total_to_end[s] <= limit;
  }
  void join(Lattice piece);
  void find_costs_from_start(uint32_t first);
  void find_open_costs();

  const double acoustic_scale_;
  PreparedLattice prepared_;
  uint32_t open_begin_ = 0;
};

}  // namespace asr
