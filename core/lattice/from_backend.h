// SPDX-License-Identifier: Apache-2.0
// The Lattice of what a back end's search left, whole or in pieces.
#pragma once

#include <utility>

#include "core/backend/asr_backend.h"
#include "core/lattice/determinise.h"
#include "core/lattice/lattice.h"

namespace asr {

// word_insertion_cost: the search's; it becomes part of the graph costs.
Lattice lattice_from_backend(const asr_raw_lattice &raw, float word_insertion_cost);

// The settled pieces of a channel's lattice, one after the other, to action(Lattice). take_piece(asr_raw_lattice *) is
// asr_backend_api::lattice_piece.
template <typename TakePiece, typename Action>
void for_settled_pieces(TakePiece take_piece, float word_insertion_cost, Action action) {
  for (;;) {
    asr_raw_lattice piece{};
    take_piece(&piece);
    if (piece.n_states == 0) return;
    action(lattice_from_backend(piece, word_insertion_cost));
  }
}

// Gives them to `pieces`.
template <typename TakePiece>
void add_settled_pieces(TakePiece take_piece, float word_insertion_cost, PieceDeterminiser *pieces,
                        const StopToken &stop = {}) {
  for_settled_pieces(take_piece, word_insertion_cost, [&](Lattice piece) { pieces->add(std::move(piece), stop); });
}

}  // namespace asr
