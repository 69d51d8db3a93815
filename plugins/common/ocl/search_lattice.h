// SPDX-License-Identifier: Apache-2.0
// The host's part of a channel's lattice: the frames that have settled on the device are kept here, and a lattice that was
// written there is read behind them. Used by Search (search.h) and SearchLanes (search_lanes.h).
#pragma once

#include <vector>

#include "plugins/common/lattice_frames.h"
#include "plugins/common/ocl/search_graph.h"
#include "plugins/common/ocl/search_memory.h"

namespace asr::ocl {

// A channel's frames as they were copied from the device.
struct DeviceFrames {
  std::vector<SearchFrame> frames;
  uint32_t first_link = 0;  // that `links` has
  std::vector<SearchLink> links;
  std::vector<float> extras;        // of links.size() + 1 places from there on; empty for a lattice that was written
  std::vector<SearchToken> tokens;  // of the newest frame of a lattice that was written
};

class SearchLattice {
 public:
  SearchLattice(const SearchGraph &graph, float lattice_beam) : graph_(graph), frames_(graph, lattice_beam) {}

  // What has settled since the last time, if anything has: copies it in two steps, the queue finished after each, and takes it
  // and notes that in `lattice`.
  bool start_settled_frames(ChannelPool &pool, const ChannelMemory &memory, const SearchLinks &lattice);
  void start_settled_links(ChannelPool &pool, const ChannelMemory &memory);
  void take_settled(SearchLinks *lattice);

  // A lattice that was written: copies it, and, when the queue is finished, gives it behind what has settled.
  void start_written(ChannelPool &pool, const ChannelMemory &memory, const SearchJob &job);
  void output(bool reached_final, asr_raw_lattice *lattice);

  void take_piece(asr_raw_lattice *piece) { frames_.take_piece(piece); }

 private:
  size_t n_known() const { return frames_.first_frame() + frames_.frames().size(); }

  const SearchGraph &graph_;
  LatticeFrames frames_;
  DeviceFrames copied_;
};

}  // namespace asr::ocl
