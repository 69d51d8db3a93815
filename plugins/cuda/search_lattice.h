// SPDX-License-Identifier: Apache-2.0
// The host's part of a channel's lattice: the frames that have settled on the device are kept here, and for the lattice those
// that have not are read behind them. Used by Search (search.h) and SearchLanes (search_lanes.h).
#pragma once

#include <vector>

#include "plugins/common/lattice_frames.h"
#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/search_graph.h"

namespace asr::cuda {

// Copies frames from the device: start_table, wait for the stream, start_links, wait, append_to.
class LatticeReader {
 public:
  // Frames first ... end - 1 of those on the device, and the tokens of the newest frame.
  void start_table(const SearchLinks &lattice, uint32_t first, uint32_t end, cudaStream_t stream);
  void start_tokens(const SearchToken *tokens, uint32_t n_tokens, cudaStream_t stream);
  void start_links(cudaStream_t stream);
  void append_to(std::vector<LatticeFrame> *frames) const;
  const SearchToken *tokens() const { return tokens_.data(); }

 private:
  std::vector<LatticeLink> links_of(uint32_t first, uint32_t n) const;

  SearchLinks lattice_{};
  uint32_t first_ = 0, n_frames_ = 0, n_tokens_ = 0;
  uint32_t first_link_ = 0;
  PinnedArray<SearchFrame> table_;
  PinnedArray<SearchLink> links_;
  PinnedArray<float> acoustic_costs_, extras_;
  PinnedArray<SearchToken> tokens_;
};

class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : frames_(graph, lattice_beam) {}

  // Takes what has settled since the last time, and notes that in `lattice`.
  void take_settled(SearchLinks *lattice, LatticeReader *reader, cudaStream_t stream);
  // The first of the frames on the device that the host lacks.
  uint32_t first_missing(const SearchLinks &lattice) const;
  // The lattice with the frames that `reader` has read from the first missing one on.
  void output(const LatticeReader &reader, const std::vector<float> &costs, const std::vector<float> &final_costs,
              asr_raw_lattice *lattice);
  void take_piece(asr_raw_lattice *piece) { frames_.take_piece(piece); }

 private:
  size_t n_known() const { return frames_.first_frame() + frames_.frames().size(); }

  LatticeFrames frames_;
};

}  // namespace asr::cuda
