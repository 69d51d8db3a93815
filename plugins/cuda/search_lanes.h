// SPDX-License-Identifier: Apache-2.0
// Advances many channels in one launch, a block or a cluster of blocks each: scratch memory of the blocks, rows of the host on
// their way to the device, and what happens when a channel's memory or the scratch is too small for a frame. One for a device;
// used by entry.cc.
#pragma once

#include <exception>
#include <memory>
#include <set>
#include <vector>

#include "plugins/common/staging.h"
#include "plugins/cuda/acoustic.h"
#include "plugins/cuda/search.h"

namespace asr::cuda {

class SearchLanes {
 public:
  explicit SearchLanes(Device &device);
  ~SearchLanes();
  SearchLanes(const SearchLanes &) = delete;
  SearchLanes &operator=(const SearchLanes &) = delete;

  // Frames of a channel, from rows of the host (if not NULL) or of a score buffer.
  struct Task {
    Search *search;
    const float *host_rows;
    uint32_t buffer, first_row, n_frames;
  };

  // A channel, which takes up the tokens of its start state when they are first needed.
  std::unique_ptr<Search> begin(const SearchGraph &graph, const asr_search_options &options);
  void end(std::unique_ptr<Search> search);
  // Starts advancing; earlier work is finished first, beside which rows of the host come to the device.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks);
  // Until all that was started is done. What failed is kept for wait().
  void finish() noexcept;
  // Also throws what failed.
  void wait();
  // Before a score buffer is written or freed.
  void release(const Acoustic *acoustic, uint32_t buffer);
  // Of many channels in one launch; threads of the pool make the arrays.
  void best_paths(const std::vector<Search *> &searches, bool use_final, asr_path *paths);
  void lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices);
  void lattice_piece(Search *search, asr_raw_lattice *piece);
  // The lanes' and the channels' part.
  void add_memory(asr_backend_memory *memory) const;

 private:
  struct Pending {
    std::vector<Search *> searches;
    const Acoustic *acoustic = nullptr;
    bool reads[2] = {false, false};  // score buffers
  };
  struct Clusters {
    uint32_t size, n_clusters;  // so many beside each other
  };
  uint32_t cluster_size_for(const std::vector<SearchJob> &jobs) const;
  void reserve_scratch(uint32_t n_blocks);
  std::vector<const float *> upload(const std::vector<Task> &tasks);
  void start_jobs(const std::vector<SearchJob> &jobs, Pending pending);
  void run_at_once(const std::vector<SearchJob> &jobs, const std::vector<Search *> &searches);
  void begin_all(const std::vector<Search *> &searches);
  void take_results();
  void keep_failure() noexcept;
  void find_paths(const std::vector<Search *> &searches, bool use_final, uint32_t max_steps);

  Device &device_;
  Stream stream_, uploads_;
  Event uploaded_;
  Staging<Runtime> staging_;
  std::vector<Clusters> clusters_;  // the largest first
  uint32_t n_shared_slots_, max_tokens_ = kMaxTokens, max_candidates_ = kMaxCandidates;
  DeviceArray<uint4> scratch_;
  SearchScratch laid_out_{};  // in scratch_, for n_scratch_ blocks
  uint32_t n_scratch_ = 0;
  DeviceArray<float> rows_[2];  // of the host, of one advance and of the next
  size_t n_uploads_ = 0;
  PinnedArray<SearchJob> jobs_;
  PinnedArray<SearchPathJob> path_jobs_;
  PinnedArray<PathStep> steps_;
  PinnedArray<SearchEnd> ends_;
  std::vector<LatticeReader> readers_{1};
  std::vector<ChannelMemory> free_memory_[2];  // of channels without lattices, with
  std::set<const Search *> searches_;          // that have begun
  Pending pending_;
  std::exception_ptr failure_;

  static constexpr uint32_t kMaxPathSteps = 2048;  // not yet settled; longer paths are found once more
  // To begin with; they double when a frame does not fit.
  static constexpr uint32_t kMaxTokens = 1u << 14, kMaxCandidates = 1u << 16, kMaxSettled = 1u << 12;
  static constexpr uint32_t kMaxRecords = 112u << 10, kMaxLinks = 80u << 10, kMaxFrames = 1u << 11;
};

}  // namespace asr::cuda
