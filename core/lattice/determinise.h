// SPDX-License-Identifier: Apache-2.0
// From the state-level lattice of a search to the lattice that users get: one path for each word sequence, with its best
// alignment. Called by the engine for final results and by the lattice tools for files. docs/lattices.md has the definition.
#pragma once

#include <memory>

#include "core/base/limits.h"
#include "core/base/stop.h"
#include "core/lattice/lattice.h"

namespace asr {

struct DeterminiseOptions {
  double acoustic_scale = 1;
  double lattice_beam = 8;
  uint64_t max_work = kMostDeterminiseWork;  // arcs followed and ids handled: bounds time
  size_t max_bytes = kMostDeterminiseBytes;  // bounds memory: 256 MB
};

struct Determinised {
  CompactLattice lattice;
  double beam = 0;  // how wide the lattice is: lattice_beam, or less if max_work or max_bytes was reached
};

// Every word sequence whose best path costs at most lattice_beam more than the best of all is a path of the result, the only
// one with these words, with the costs and transition-ids of that best path. Every arc of the result lies on such a path. Of
// paths of equal total cost the best is the one with the lower graph cost, then the one with the lower transition-id where
// the two alignments first differ. Costs are exact but for one rounding of each arc, to 2^-50 of the largest sum on a path.
//
// Word sequences are found from the best on, so a search that reaches max_work or max_bytes still gives all those within a
// narrower beam (`beam`), the best among them always. If it reaches them before the best is complete, that is all it gives.
// max_bytes bounds all memory but the lattice given and a few arrays of its size. Throws ASR_INVALID_ARGUMENT if the lattice
// breaks the rules of lattice.h, ASR_CANCELLED if it is stopped.
Determinised determinise(Lattice lattice, const DeterminiseOptions &options, const StopToken &stop = {});

// The same of a lattice whose pieces come one after another (asr_backend_api::lattice_piece), in memory that does not grow with
// its length but for the result. The paths are those of determinise(); costs are rounded once to 2^-24, and a state may be
// there twice where a piece ends. A piece may take a 16th of max_work. max_bytes bounds all memory but one piece and, once it
// is reached, the best path: a quarter is for the pieces that are still needed, the rest for the result. What is
// left out of a piece is told by the costs that its last states had when it settled, so the best path is kept as far as it was
// known then. After an error or a stop only destruction is allowed.
class PieceDeterminiser {
 public:
  explicit PieceDeterminiser(const DeterminiseOptions &options);
  ~PieceDeterminiser();

  void add(Lattice piece, const StopToken &stop = {});            // not the last
  Determinised finish(Lattice last, const StopToken &stop = {});  // without pieces before: determinise(last)

 private:
  struct State;
  const DeterminiseOptions options_;
  std::unique_ptr<State> state_;  // from the first piece on
};

}  // namespace asr
