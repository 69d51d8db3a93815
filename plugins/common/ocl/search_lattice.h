// SPDX-License-Identifier: Apache-2.0
// The host's part of a channel's lattice: the frames that have settled on the device are kept here, and for the lattice those
// that have not are read behind them. Used by Search (search.h) and SearchLanes (search_lanes.h).
#pragma once

#include <vector>

#include "plugins/common/lattice_frames.h"
#include "plugins/common/ocl/search_graph.h"
#include "plugins/common/ocl/search_memory.h"

namespace asr::ocl {

// Copies frames from the device: start_table, finish the queue, start_links, finish it, append_to.
class LatticeReader {
 public:
  // Frames first ... end - 1 of those on the device, and the tokens of the newest frame.
  void start_table(ChannelPool &pool, const ChannelMemory &memory, const SearchLinks &lattice, uint32_t first, uint32_t end);
  void start_tokens(ChannelPool &pool, const ChannelMemory &memory, uint32_t current, uint32_t n_tokens);
  void start_links(ChannelPool &pool, const ChannelMemory &memory);
  void append_to(std::vector<LatticeFrame> *frames) const;
  const std::vector<SearchToken> &tokens() const { return tokens_; }

 private:
  std::vector<LatticeLink> links_of(uint32_t first, uint32_t n) const;

  uint32_t first_number_ = 0;  // of the first frame that is read
  uint32_t first_link_ = 0;
  std::vector<SearchFrame> table_;
  std::vector<SearchLink> links_;
  std::vector<float> extras_;
  std::vector<SearchToken> tokens_;
};

class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : frames_(graph, lattice_beam) {}

  // Takes what has settled since the last time, and notes that in `lattice`.
  void take_settled(ChannelPool &pool, const ChannelMemory &memory, SearchLinks *lattice);
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

}  // namespace asr::ocl
