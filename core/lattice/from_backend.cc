// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/from_backend.h"

namespace asr {

Lattice lattice_from_backend(const asr_raw_lattice &raw, float word_insertion_cost) {
  Lattice lattice;
  if (raw.n_states == 0) return lattice;
  lattice.arc_begin.assign(raw.arc_begin, raw.arc_begin + raw.n_states + 1);
  lattice.frames.assign(raw.frames, raw.frames + raw.n_states);
  lattice.final_costs.reserve(raw.n_states);
  for (uint32_t state = 0; state < raw.n_states; ++state) lattice.final_costs.push_back({double{raw.final_costs[state]}, 0});
  lattice.arcs.reserve(raw.n_arcs);
  for (uint64_t a = 0; a < raw.n_arcs; ++a) {
    const asr_raw_arc &arc = raw.arcs[a];
    const double insertion = arc.word != 0 ? double{word_insertion_cost} : 0.0;
    lattice.arcs.push_back(
        {arc.next_state, arc.transition_id, arc.word, {double{arc.graph_cost} + insertion, double{arc.acoustic_cost}}});
  }
  return lattice;
}

}  // namespace asr
