// SPDX-License-Identifier: Apache-2.0
// SearchLattice holds the links of a channel that makes lattices, as "The lattice" in docs/search.md defines them. Search adds
// the links of every frame. Links that cannot be in the final lattice are removed every few frames. So memory holds the
// lattice so far and these few frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/page_allocator.h"
#include "plugins/common/lattice_frames.h"
#include "plugins/cpu/search_graph.h"
#include "plugins/cpu/search_tokens.h"

namespace asr::cpu {

class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : lattice_(graph, lattice_beam), pdf_mask_(graph.pdf_mask()) {}

  // Adds the frame of `tokens` with the links of scratch. These are emitting links from the preceding frame's tokens,
  // for the row of log-likelihoods, and epsilon links within the frame.
  void add_frame(const PagedVector<Token> &tokens, const SearchScratch &scratch, const std::vector<float> &loglike);

  // See LatticeFrames.
  void output(const std::vector<float> &costs, const std::vector<float> &final_costs, asr_raw_lattice *lattice);
  void take_piece(asr_raw_lattice *piece) { lattice_.take_piece(piece); }

 private:
  using Extra = std::vector<float>;

  void prune();
  void renumber(size_t t);
  void prune_links(size_t t);

  LatticeFrames lattice_;  // in its newest frame a token's number is its slot
  const uint32_t pdf_mask_;
  // Emitting links of the frames since the last pruning, frame after frame, and their number in each frame.
  PagedVector<LatticeLink> recent_;
  std::vector<size_t> n_recent_of_;
  size_t n_recent_ = 0;

  Extra extra_, extra_before_, kept_extra_;  // extra costs of the pruned frame, of its predecessor, of the surviving tokens
  std::vector<uint32_t> new_number_;
};

}  // namespace asr::cpu
