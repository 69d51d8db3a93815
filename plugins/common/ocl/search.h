// SPDX-License-Identifier: Apache-2.0
// Viterbi beam search of one channel on the device: its tokens, trace and links in device memory, and on the host the parts of
// its path and of its lattice that are settled. backend.cc makes one for each channel; SearchLanes (search_lanes.h) advances
// many together.
#pragma once

#include <optional>

#include "plugins/common/ocl/search_graph.h"
#include "plugins/common/ocl/search_lattice.h"
#include "plugins/common/ocl/search_memory.h"
#include "plugins/common/search_path.h"

namespace asr::ocl {

class Search {
 public:
  Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool);

  const SearchGraph &graph() const { return graph_; }
  uint32_t n_pdfs() const { return graph_.view().n_pdfs; }
  bool died() const { return died_; }

  // The job of consuming rows, from their place in an array on, or of beginning, and what came of it. Returns whether there is
  // more to do.
  SearchJob job(uint64_t rows, uint32_t stride, uint32_t n_frames) const;
  SearchJob begin_job() const;
  bool take(const SearchJob &job);
  // Brings what has settled of the lattice to the host.
  void take_settled();

  // Before a job: makes room where little is left. Must not run beside a job of any channel.
  void prepare();
  // Room for what did not fit, as far as it is the channel's.
  void grow(uint32_t overflow);
  // Nothing can be consumed any more.
  void give_up() { died_ = true; }

  // See asr_backend_api::best_path. The arcs are valid until the next call. `steps` is memory to use.
  void best_path(const Kernel &kernel, uint32_t group_size, bool use_final, DeviceArray<SearchStep> *steps,
                 const DeviceArray<SearchEnd> &end, asr_path *path);

  // See asr_backend_api::lattice: the job that prunes what is on the device, then reading in three steps, the queue finished
  // between them. The arrays are valid until the next call.
  SearchJob lattice_job() const;
  void start_reading_table(LatticeReader *reader) const;
  void start_reading_links(LatticeReader *reader) const { reader->start_links(pool_, memory_); }
  void lattice(const LatticeReader &reader, bool use_final, asr_raw_lattice *lattice);
  void lattice_piece(asr_raw_lattice *piece);

 private:
  // Throws unless the channel makes lattices.
  void check_lattice() const;
  // Brings what was settled on the device to the host.
  void drain_settled();

  const SearchGraph &graph_;
  ChannelPool &pool_;
  ChannelMemory memory_;
  SearchJob job_{};  // as it was when the channel was advanced last
  SearchPath path_;
  const float lattice_beam_;
  std::optional<SearchLattice> lattice_;
  uint32_t n_frames_ = 0;
  bool died_ = false;

  // To begin with; they double when a frame does not fit.
  static constexpr uint32_t kMaxTokens = 1u << 13, kMaxRecords = 112u << 10, kMaxSettled = 1u << 12;
  static constexpr uint32_t kMaxLinks = 3u << 16, kMaxFrames = 768;
};

}  // namespace asr::ocl
