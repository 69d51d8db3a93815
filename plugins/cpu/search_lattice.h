// SPDX-License-Identifier: Apache-2.0
// The links of a channel that makes lattices, as "The lattice" in docs/search.md defines them. Search adds those of every
// frame; what cannot be in the final lattice is removed every few frames, so memory is that of the lattice so far and of
// those few frames.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/cpu/search_graph.h"
#include "plugins/cpu/search_tokens.h"

namespace asr::cpu {

class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : graph_(graph), lattice_beam_(lattice_beam) {}

  // Adds the frame of `tokens` with the links of scratch: emitting ones from the tokens of the frame before, for the row of
  // log-likelihoods, and epsilon ones within.
  void add_frame(const std::vector<Token> &tokens, const SearchScratch &scratch, const std::vector<float> &loglike);

  // Fills the states and arcs of a lattice. Final costs of the newest frame's tokens are [n_tokens], +infinity where no path
  // ends. The arrays are valid until the next call.
  void output(const std::vector<Token> &tokens, const std::vector<float> &final_costs, asr_raw_lattice *lattice);

  // Fills the next settled piece and forgets it; leaves the lattice as it is if there is none.
  void take_piece(asr_raw_lattice *piece);

 private:
  // A frame's tokens have the numbers 0 ... n_tokens - 1. In the newest frame that is their slot; in others only those that
  // pruning left are numbered.
  struct Frame {
    std::vector<Link> emitting, epsilon;  // that lead to its tokens
    uint32_t n_tokens;
    size_t n_recent = 0;  // emitting links that are in recent_ so far: those of the frames since the last pruning, in order
    std::vector<float> extra;  // [n_tokens] when it was pruned last: at most the final extra costs; empty before
  };
  using Extra = std::vector<float>;

  // A piece that has not been taken.
  struct Piece {
    size_t last;      // its last frame
    Extra end_extra;  // of that frame's tokens, when the piece was settled
  };

  static void follow_back(const std::vector<Link> &epsilon, Extra &extra);
  void settle_piece();
  void prune();
  void renumber(size_t t);
  void prune_links(Frame &frame);
  std::vector<Extra> extra_costs(size_t n_frames, const Extra &end_extra) const;
  void make_arrays(const std::vector<Extra> &extra, size_t n_closed);
  void number_states(const std::vector<Extra> &extra);
  void output_arcs(const std::vector<Extra> &extra, size_t n_closed);
  void point_to_arrays(asr_raw_lattice *lattice) const;

  const SearchGraph &graph_;
  const float lattice_beam_;
  std::vector<Frame> frames_;  // from the last frame of the piece taken last on
  size_t first_frame_ = 0;     // is the number of the first of them
  size_t n_settled_ = 0;       // frames after the first that are pruned no more
  std::vector<Piece> pieces_;
  size_t n_added_ = 0;  // frames since the last pruning
  std::vector<Link> recent_;
  size_t n_recent_ = 0;

  Extra extra_, extra_before_, kept_extra_;  // of the frame that is pruned, of the one before, of the tokens that stay
  std::vector<uint32_t> new_number_;

  std::vector<std::vector<uint32_t>> state_of_;  // the last output: of each frame's tokens, kNoState where they are left out
  std::vector<uint32_t> frame_of_;
  std::vector<float> final_costs_;
  std::vector<uint64_t> arc_begin_;
  std::vector<asr_raw_arc> arcs_;
};

}  // namespace asr::cpu
