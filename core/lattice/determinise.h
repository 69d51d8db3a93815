// SPDX-License-Identifier: Apache-2.0
// determinise() converts the state-level lattice of a search to the lattice that users get: one path for each word sequence,
// with its best alignment. The engine calls it for final results, and the lattice tools for files. docs/lattices.md has the
// definition.
#pragma once

#include <memory>

#include "core/base/limits.h"
#include "core/base/stop.h"
#include "core/lattice/lattice.h"

namespace asr {

constexpr double kWidthStep = 0.25;  // beams that are tried if the one asked for takes too much are multiples of it

struct DeterminiseOptions {
  double acoustic_scale = 1;
  double lattice_beam = 8;
  uint64_t max_work = kMaxDeterminiseWork;  // limit on arcs followed and ids handled; bounds time
  size_t max_bytes = kMaxDeterminiseBytes;  // limit on memory: 256 MB
};

struct Determinised {
  CompactLattice lattice;
  double beam = 0;  // beam of the result: lattice_beam, or less if max_work or max_bytes was reached
};

// The result has one path for every word sequence whose best path costs at most lattice_beam more than the overall best. It has
// the costs and transition-ids of that best path. Every arc of the result lies on such a path. Among paths of equal
// total cost, the one with the lower graph cost is best. Then the lower transition-id at the first difference of the
// alignments decides. Costs are exact except for one rounding of each arc, to 2^-50 of the largest sum on a path.
//
// Word sequences are found in the order of their costs. A search that reaches max_work or max_bytes is repeated with narrower
// beams, and returns all sequences within the widest for which they suffice (`beam`), always including the best. Each
// repetition has the same limits; there are about log2(lattice_beam / kWidthStep) of them. If no beam is narrow enough, the
// result is the best path alone. max_bytes bounds all memory except the input lattice and a few arrays of its size. Throws
// ASR_INVALID_ARGUMENT if the lattice breaks the rules of lattice.h, ASR_CANCELLED if it is stopped.
Determinised determinise(Lattice lattice, const DeterminiseOptions &options, const StopToken &stop = {});

// PieceDeterminiser does the same for a lattice that arrives in pieces (ASR_WANTS_PIECE of back ends). Apart from the result,
// its memory does not grow with the length. The paths are those of determinise(), unless a word sequence goes on without a word
// for over 56 s of 10 ms frames: then it either goes on without one up to the point where the search has decided, or with the
// words before, whichever is better, and all paths pass the best path's state there ("Pieces" in docs/search.md). Costs are
// rounded once to 2^-24, and a state may occur twice where a piece ends. A piece may use a 16th of max_work, the last one an
// eighth. max_bytes bounds all memory except one piece and, once the limit is reached, the best path. A quarter of it is for
// the pieces that are still needed, the rest for the result. Where it does not suffice, the beam is narrowed from there on, and
// what was found before loses what lies outside it. A limit drops paths by the costs that the last states of a piece had when
// it settled. So the best path is kept as far as it was known then. After an error or a stop the object may only be destroyed.
class PieceDeterminiser {
 public:
  explicit PieceDeterminiser(const DeterminiseOptions &options);
  ~PieceDeterminiser();

  void add(Lattice piece, const StopToken &stop = {});            // not for the last piece
  Determinised finish(Lattice last, const StopToken &stop = {});  // without earlier pieces: determinise(last)

 private:
  struct State;
  const DeterminiseOptions options_;
  std::unique_ptr<State> state_;  // empty before the first piece
};

}  // namespace asr
