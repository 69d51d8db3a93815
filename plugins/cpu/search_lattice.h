// SPDX-License-Identifier: Apache-2.0
// The links of a channel that makes lattices, as "The lattice" in docs/search.md defines them. Search adds those of every
// frame; what cannot be in the final lattice is removed every few frames, so memory is that of the lattice so far and of
// those few frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/common/lattice_frames.h"
#include "plugins/cpu/search_graph.h"
#include "plugins/cpu/search_tokens.h"

namespace asr::cpu {

class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : lattice_(graph, lattice_beam), pdf_mask_(graph.pdf_mask()) {}

  // Adds the frame of `tokens` with the links of scratch: emitting ones from the tokens of the frame before, for the row of
  // log-likelihoods, and epsilon ones within.
  void add_frame(const std::vector<Token> &tokens, const SearchScratch &scratch, const std::vector<float> &loglike);

  // As those of LatticeFrames.
  void output(const std::vector<float> &costs, const std::vector<float> &final_costs, asr_raw_lattice *lattice);
  void take_piece(asr_raw_lattice *piece) { lattice_.take_piece(piece); }

 private:
  using Extra = std::vector<float>;

  void prune();
  void renumber(size_t t);
  void prune_links(size_t t);

  LatticeFrames lattice_;  // in its newest frame the number of a token is its slot
  const uint32_t pdf_mask_;
  // Emitting links of the frames since the last pruning, one frame after the other, and how many each has.
  std::vector<LatticeLink> recent_;
  std::vector<size_t> n_recent_of_;
  size_t n_recent_ = 0;

  Extra extra_, extra_before_, kept_extra_;  // of the frame that is pruned, of the one before, of the tokens that stay
  std::vector<uint32_t> new_number_;
};

}  // namespace asr::cpu
