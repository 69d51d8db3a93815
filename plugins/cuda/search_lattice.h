// SPDX-License-Identifier: Apache-2.0
// The host's part of a channel's lattice: the frames that have settled on the device are kept here, and for the lattice those
// that have not are read behind them. Used by Search (search.h) and SearchLanes (search_lanes.h).
#pragma once

#include <mutex>
#include <vector>

#include "plugins/common/lattice_frames.h"
#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/search_graph.h"

namespace asr::cuda {

// Copies frames and what belongs to them from the device into pinned memory, where they are after wait().
class LatticeReader {
 public:
  // Settled frames of a channel's lattice, from number `first` of its table on, with extra costs.
  void start_settled(const SearchLinks &lattice, uint32_t first, uint32_t n_frames, cudaStream_t stream);
  // All of a written lattice.
  void start(const SearchLinks &lattice, const SearchOutput &written, const SearchToken *tokens, cudaStream_t stream);
  void wait() const { arrived_.wait(); }

  // Appends the frames to those of the host, with extra costs; of a written lattice in the other order and without.
  void append_settled(std::vector<LatticeFrame> *frames) const;
  void append_written(std::vector<LatticeFrame> *frames) const;
  const SearchToken *tokens() const { return tokens_.data(); }  // of a written lattice
  size_t n_tokens() const { return n_tokens_; }

 private:
  void start_frames(const SearchLinks &lattice, uint32_t first, uint32_t n_frames, cudaStream_t stream);
  void start_links(const SearchLinks &lattice, uint32_t first, uint32_t n, cudaStream_t stream);
  void mark(cudaStream_t stream);
  std::vector<LatticeLink> links_of(uint32_t first, uint32_t n) const;
  LatticeFrame frame(uint32_t i) const;

  uint32_t n_frames_ = 0, n_tokens_ = 0;
  uint32_t first_link_ = 0;  // that links_ has
  PinnedArray<SearchFrame> frames_;
  PinnedArray<SearchLink> links_;
  PinnedArray<float> acoustic_costs_, extras_;
  PinnedArray<SearchToken> tokens_;
  Event arrived_;
};

// Pieces are taken on any thread while the device advances the channel.
class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : frames_(graph, lattice_beam) {}

  // Starts reading what has settled since the last time, and notes in `lattice` that it is taken; false if there is nothing. Then
  // what the reader has is appended.
  bool start_settled(SearchLinks *lattice, LatticeReader *reader, cudaStream_t stream);
  void deliver_settled(const LatticeReader &reader);
  // The lattice with what `reader` has of a written one behind what has settled.
  void output(const LatticeReader &reader, const std::vector<float> &costs, const std::vector<float> &final_costs,
              asr_raw_lattice *lattice);
  void take_piece(asr_raw_lattice *piece);

 private:
  size_t n_known_ = 0;  // frames that were read or are being read
  std::mutex mutex_;    // of what follows
  LatticeFrames frames_;
};

}  // namespace asr::cuda
