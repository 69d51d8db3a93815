// SPDX-License-Identifier: Apache-2.0
// Cuts a lattice into pieces like a back end's.
#pragma once

#include <algorithm>
#include <vector>

#include "core/lattice/lattice.h"

namespace asr::test {

// Returns, for each state, how much more than the best the best path through it costs.
inline std::vector<double> extra_costs(const Lattice &lattice, double acoustic_scale) {
  const uint32_t n = lattice.n_states();
  std::vector<double> from_start(n, kNoEnd.graph), to_end(n);
  from_start[0] = 0;
  for (uint32_t s = 0; s < n; ++s) {
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      double &next = from_start[lattice.arcs[a].next_state];
      next = std::min(next, from_start[s] + lattice.arcs[a].cost.total(acoustic_scale));
    }
  }
  for (uint32_t s = n; s-- > 0;) {
    to_end[s] = lattice.final_costs[s].total(acoustic_scale);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      to_end[s] = std::min(to_end[s], lattice.arcs[a].cost.total(acoustic_scale) + to_end[lattice.arcs[a].next_state]);
    }
  }
  std::vector<double> extra(n);
  for (uint32_t s = 0; s < n; ++s) extra[s] = from_start[s] + to_end[s] - to_end[0];
  return extra;
}

inline uint32_t first_of_frame(const Lattice &lattice, uint32_t frame) {
  return static_cast<uint32_t>(std::lower_bound(lattice.frames.begin(), lattice.frames.end(), frame) - lattice.frames.begin());
}

// Returns states of frames begin ... end; those of the last frame without their arcs, unless it is the lattice's last.
inline Lattice piece_of(const Lattice &lattice, uint32_t begin, uint32_t end) {
  const uint32_t first = first_of_frame(lattice, begin), last = first_of_frame(lattice, end + 1);
  const bool is_last = last == lattice.n_states();
  const uint32_t open = is_last ? last : first_of_frame(lattice, end);
  Lattice piece;
  for (uint32_t s = first; s < last; ++s) {
    for (uint64_t a = lattice.arc_begin[s]; s < open && a < lattice.arc_begin[s + 1]; ++a) {
      piece.arcs.push_back(lattice.arcs[a]);
      piece.arcs.back().next_state -= first;
    }
    piece.arc_begin.push_back(piece.arcs.size());
    piece.frames.push_back(lattice.frames[s]);
    piece.final_costs.push_back(is_last ? lattice.final_costs[s] : kNoEnd);
  }
  return piece;
}

// Returns all pieces, each of at most n_frames frames; extra costs are exact.
inline std::vector<Lattice> cut_lattice(const Lattice &lattice, double acoustic_scale, uint32_t n_frames) {
  const std::vector<double> extra = extra_costs(lattice, acoustic_scale);
  std::vector<Lattice> pieces;
  uint32_t begin = 0;
  for (uint32_t end = n_frames; end < lattice.frames.back(); end += n_frames) {
    pieces.push_back(piece_of(lattice, begin, end));
    Lattice &piece = pieces.back();
    const uint32_t first = first_of_frame(lattice, begin);
    for (uint32_t s = first_of_frame(piece, end); s < piece.n_states(); ++s) {
      piece.final_costs[s] = {std::min(extra[first + s], 1e6), 0};
    }
    begin = end;
  }
  pieces.push_back(piece_of(lattice, begin, lattice.frames.back()));
  return pieces;
}

}  // namespace asr::test
