// SPDX-License-Identifier: Apache-2.0
// Viterbi beam search of one channel on the device: its tokens, trace and links in device memory, and on the host the parts of
// its path and of its lattice that are settled. backend.cc makes one for each channel; SearchLanes (search_lanes.h) advances
// many together.
#pragma once

#include <optional>

#include "plugins/common/channel_outcome.h"
#include "plugins/common/ocl/search_graph.h"
#include "plugins/common/ocl/search_lattice.h"
#include "plugins/common/ocl/search_memory.h"
#include "plugins/common/ocl/search_rooms.h"
#include "plugins/common/search_path.h"

namespace asr::ocl {

class Search : public ChannelOutcome {
 public:
  // `rooms`: what it begins with, those for links only if it makes lattices.
  Search(const SearchGraph &graph, const asr_search_options &options, ChannelPool &pool, const SearchRooms &rooms);

  const SearchGraph &graph() const { return graph_; }
  uint32_t n_pdfs() const { return graph_.view().n_pdfs; }
  uint32_t max_links() const { return job_.lattice.max_links; }

  // The job of consuming rows, from their place in an array on; the first one begins, too. And what came of it: take() returns
  // whether there is more to do.
  SearchJob job(uint64_t rows, uint32_t stride, uint32_t n_frames) const;
  SearchJob rest_of(const SearchJob &done) const;
  bool take(const SearchJob &job);
  bool has_begun() const { return job_.begin == 0; }
  // Brings what has settled of the lattice to the host, the queue finished after each step but the last. The first says whether
  // there is anything.
  bool start_settled_frames() { return lattice_ && lattice_->start_settled_frames(pool_, memory_, job_.lattice); }
  void start_settled_links() { lattice_->start_settled_links(pool_, memory_); }
  void take_settled() { lattice_->take_settled(&job_.lattice); }

  // Before a job: makes room where little is left. Must not run beside a job of any channel.
  void prepare();
  // Room for what did not fit, as far as it is the channel's.
  void grow(uint32_t overflow);

  // See asr_backend_api::best_paths: the job, without the place of its steps; what has settled, there when the queue is
  // finished; and the path by what was found, the last step first. The arcs are valid until the next call.
  SearchPathJob path_job() const;
  void start_draining();
  void best_path(const SearchEnd &end, const PathStep *steps, asr_path *path);

  // See asr_backend_api::lattices: the job that writes it, the copy, and, when the queue is finished, the arrays. They are
  // valid until the next call.
  SearchJob lattice_job(bool use_final) const;
  void start_written() { lattice_->start_written(pool_, memory_, job_); }
  void lattice(asr_raw_lattice *lattice);
  void lattice_piece(asr_raw_lattice *piece);

 private:
  // Brings the steps that were settled on the device to the host.
  void drain();
  void end_draining();

  const SearchGraph &graph_;
  ChannelPool &pool_;
  ChannelMemory memory_;
  SearchJob job_{};  // as it was when the channel was advanced last
  SearchPath path_;
  std::vector<PathStep> drained_;  // on their way
  const float lattice_beam_;
  std::optional<SearchLattice> lattice_;
  uint32_t n_frames_ = 0;
};

}  // namespace asr::ocl
