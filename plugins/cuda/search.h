// SPDX-License-Identifier: Apache-2.0
// Viterbi beam search of one channel on the GPU: its tokens, trace and links in device memory, and on the host the parts of its
// path and of its lattice that are settled. entry.cc makes one for each channel; SearchLanes (search_lanes.h) advances many
// together.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <vector>

#include "plugins/common/channel_outcome.h"
#include "plugins/common/search_path.h"
#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/search_graph.h"
#include "plugins/cuda/search_lattice.h"
#include "plugins/cuda/search_rooms.h"

namespace asr::cuda {

// How many of each a channel has room for; links are 0 in channels without lattices.
struct ChannelSize {
  uint32_t max_tokens, max_records, max_settled, max_links, max_frames;
};

// Device memory of a channel, in one piece. Channels that ended leave theirs to those that begin.
class ChannelMemory {
 public:
  explicit ChannelMemory(const ChannelSize &size);
  ChannelMemory(ChannelMemory &&) = default;
  ChannelMemory &operator=(ChannelMemory &&) = default;
  // Puts where its parts are into a job.
  void give(SearchJob *job);
  const ChannelSize &size() const { return size_; }
  size_t n_bytes() const { return memory_.size() * sizeof(uint4); }

 private:
  ChannelSize size_;
  DeviceArray<uint4> memory_;
};

// What no channel has: that of ended ones, for those that begin, and what channels had before they grew. The latter is freed
// when the device has nothing to do, since freeing waits for all that it does; all of it where there is no memory left.
struct IdleMemory {
  std::vector<ChannelMemory> free[2];  // of channels without lattices, with
  std::vector<ChannelMemory> outgrown;

  // New memory, in exchange for what is idle where there is no other.
  ChannelMemory make(const ChannelSize &size);
  uint64_t n_bytes() const;
};

class Search : public ChannelOutcome {
 public:
  Search(const SearchGraph &graph, const asr_search_options &options, ChannelMemory memory, IdleMemory *idle);

  uint32_t n_pdfs() const { return graph_.view().n_pdfs; }

  // The job of consuming rows, which first begins if the channel has not begun, and what came of it. Returns whether there is
  // more to do.
  SearchJob job(const float *rows, size_t stride, uint32_t n_frames) const;
  SearchJob begin_job() const { return job(nullptr, 0, 0); }
  bool has_begun() const { return !job_.begin; }
  bool take(const SearchJob &job);
  // Those of the job before; what was found of a job stays while the rest of it is done.
  void forget_results();
  // What is left to do of a job.
  SearchJob rest_of(const SearchJob &done) const;
  // What has settled of the lattice since the last time, if anything, and what was read of it. A failure to read it ends the
  // channel.
  std::optional<LatticeReader> settled() { return lattice_ ? lattice_->settled(&job_.lattice) : std::nullopt; }
  void take_settled(const LatticeReader &reader) { lattice_->take_settled(reader); }

  // Before a job: makes room where little is left, and, where few channels share the memory, for links that wait to be pruned:
  // `of_few`, else nullptr. Must not run beside a job of the channel.
  void prepare(const SearchRooms *of_few, cudaStream_t stream);
  // Room for what did not fit, as far as it is the channel's.
  void grow(uint32_t overflow, cudaStream_t stream);
  const ChannelMemory &memory() const { return memory_; }
  ChannelMemory release_memory() { return std::move(memory_); }

  // See asr_backend_api::best_paths: the job, without the places it writes to, and the path when it is done. The arcs are valid
  // until the next call.
  SearchPathJob path_job(uint32_t wants) const;
  uint32_t max_path_steps() const { return job_.n_records; }
  void best_path(const SearchPathJob &done, asr_path *path);

  // The path that a job wanted: takes it from where the job put it, before the channel's next job, and gives it later, once.
  // Without one of this kind give_wanted_path() returns false.
  void keep_path(const SearchPathJob &done);
  bool give_wanted_path(uint32_t wants, asr_path *path);

  // See asr_backend_api::lattices: the job that writes it, what it has written, what was read of that, and then the arrays, on
  // any thread. They are valid until the next call.
  void check_lattices() const;  // throws where the channel makes none
  SearchJob lattice_job(bool use_final) const;
  LatticeReader written() const { return LatticeReader::of_written(job_.lattice, job_.written, job_.tokens[job_.current ^ 1]); }
  void take_written(const LatticeReader &reader);
  bool has_wanted_lattice(bool use_final) const { return written_ && written_->use_final == use_final; }
  void lattice(asr_raw_lattice *lattice);
  void lattice_piece(asr_raw_lattice *piece);

 private:
  // Brings what was settled on the device to the host.
  void drain_settled(cudaStream_t stream);
  void settle_kept();
  void resize(const ChannelSize &size, cudaStream_t stream);

  const SearchGraph &graph_;
  ChannelMemory memory_;
  IdleMemory *const idle_;
  SearchJob job_{};  // as it was when the channel was advanced last
  SearchPath path_;
  const float lattice_beam_;
  std::optional<SearchLattice> lattice_;
  std::atomic<uint32_t> n_frames_{0};  // also read while a lattice is made on another thread

  struct WantedPath {
    std::vector<PathStep> steps;
    PathEnd end;
    bool use_final, has_common;
  };
  std::vector<PathStep> kept_settled_;  // to be settled before the next path is given
  std::optional<WantedPath> wanted_path_;
  struct WrittenLattice {
    std::vector<LatticeFrame> frames;
    std::vector<float> costs, final_costs;  // of the newest tokens
    bool reached_final, use_final;
  };
  std::optional<WrittenLattice> written_;
};

}  // namespace asr::cuda
