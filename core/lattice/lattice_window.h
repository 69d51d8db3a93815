// SPDX-License-Identifier: Apache-2.0
// The end of a lattice that comes in pieces, from the first state that is still needed. PieceDeterminiser works on it.
#pragma once

#include <cstddef>

#include "core/lattice/prepared_lattice.h"

namespace asr {

// Costs are multiples of 2^-24, fine enough for those of a search and exact for days of audio.
class LatticeWindow {
 public:
  explicit LatticeWindow(double acoustic_scale) : acoustic_scale_(acoustic_scale) {}

  // Adds a piece, as asr_backend_api::lattice_piece defines it. Throws ASR_INVALID_ARGUMENT if it breaks the rules of lattice.h
  // or does not begin with the states that ended the one before.
  void add(Lattice piece, bool is_last);

  // Takes out what lies on no path within the beam, as far as is known by now.
  void prepare(double lattice_beam);

  // Forgets the first states; the numbers of the others fall.
  void drop(uint32_t n_states);

  const PreparedLattice &prepared() const { return prepared_; }  // since prepare()
  uint32_t n_states() const { return prepared_.lattice.n_states(); }
  size_t bytes() const;  // at most, with what following its paths takes for each state
  bool has_paths() const { return prepared_.best < kNoEnd.graph; }
  uint32_t open_begin() const { return open_begin_; }  // from this state on they end the piece, unless it is the last

 private:
  void join(Lattice piece);
  void find_open_costs();

  const double acoustic_scale_;
  PreparedLattice prepared_;
  uint32_t open_begin_ = 0;
};

}  // namespace asr
