// SPDX-License-Identifier: Apache-2.0
// Converts the raw lattice of a back end's search to a Lattice, whole or in pieces.
#pragma once

#include <utility>

#include "core/backend/asr_backend.h"
#include "core/lattice/determinise.h"
#include "core/lattice/lattice.h"

namespace asr {

// word_insertion_cost: value used in the search; it is included in the graph costs.
Lattice lattice_from_backend(const asr_raw_lattice &raw, float word_insertion_cost);

// Passes the settled pieces of a channel's lattice to action(Lattice), one after the other. take_piece(asr_raw_lattice *) is
// asr_backend_api::lattices with ASR_WANTS_PIECE.
template <typename TakePiece, typename Action>
void for_settled_pieces(TakePiece take_piece, float word_insertion_cost, Action action) {
  for (;;) {
    asr_raw_lattice piece{};
    take_piece(&piece);
    if (piece.n_states == 0) return;
    action(lattice_from_backend(piece, word_insertion_cost));
  }
}

// Adds the pieces to `pieces`.
template <typename TakePiece>
void add_settled_pieces(TakePiece take_piece, float word_insertion_cost, PieceDeterminiser *pieces,
                        const StopToken &stop = {}) {
  for_settled_pieces(take_piece, word_insertion_cost, [&](Lattice piece) { pieces->add(std::move(piece), stop); });
}

}  // namespace asr
