// SPDX-License-Identifier: Apache-2.0
// SearchFlight advances channels in one launch, a block or a cluster of blocks each. It owns the blocks' scratch memory and
// uploads rows of the host. If a frame does not fit, it enlarges the channel's memory or the scratch memory. SearchLanes
// (search_lanes.h) has two flights, so that the device always has the next one.
#pragma once

#include <memory>
#include <vector>

#include "core/backend/asr_backend_bench.h"
#include "plugins/cuda/search/search.h"
#include "plugins/gpu/runtime/staging.h"
#include "plugins/gpu/scores/acoustic.h"
#include "plugins/gpu/search/lanes.h"

namespace asr::gpu {

// ClusterSize is a size of clusters, and the number of such clusters that run beside each other.
struct ClusterSize {
  uint32_t n_blocks, n_clusters;
};

class SearchLanes;

class SearchFlight final : public DeviceLanes {
 public:
  // `owner` is asked for room, and to run down the other flight.
  SearchFlight(SearchLanes &owner, Device &device, const SearchCapacities &capacities,
               const std::vector<ClusterSize> &cluster_sizes);
  ~SearchFlight();

  // Starts an advance when the advance before is finished, and `other` if it has some of these channels. Rows of the host are
  // uploaded while both run.
  void start(Acoustic *acoustic, const std::vector<Task> &tasks, SearchFlight *other);
  // Runs a channel's beginning at once: it takes up the tokens of its start state.
  void begin(Search *search) { run_at_once({lane_of(search, search->begin_job())}); }
  using DeviceLanes::is_pending;
  // Frees the scratch memory, which the next launch takes anew. Returns false if there is none, or if a launch uses it.
  bool release_scratch();
  bool shares(const std::vector<Task> &tasks) const;
  // Adds the memory of the lanes.
  void add_memory(asr_backend_memory *memory) const;

  // The steps of DeviceLanes.
  // Reserve memory for a launch of the pending jobs, launch them, wait for the launch and return job i as it ended. With
  // is_rest, they launch the unfinished rest of jobs, which precedes other work.
  void reserve_jobs(bool is_rest);
  void launch_jobs(bool is_rest);
  void await();
  const SearchJob &done_job(size_t i) { return jobs_.data()[i]; }
  SearchLane lane_of(Search *search, const SearchJob &job) { return {search, job}; }
  // Takes the results of a job. Returns true if the job is not done.
  bool take_result(const SearchLane &lane, const SearchJob &done);
  // Enlarge a channel's buffers, or the launches' scratch memory, after overflows.
  void grow(Search *search, uint32_t overflow);
  void grow_scratch(uint32_t overflow);
  // Takes back what grow_scratch() added, so that a channel with large frames takes no memory from those after it.
  void shrink_scratch() noexcept;
  // Frees some device memory that no running work needs, such as idle caches and the buffers of a channel that is not held.
  // Returns false if there is none.
  bool make_room();
  // Runs down the other lanes of the device, if any, so that their channels can be parked.
  void run_down_others() noexcept;
  // Park a channel as parked_size() says, and bring a parked one back.
  void park(Search *search, uint32_t overflow, bool may_shrink) { search->park(overflow, may_shrink, stream_.get()); }
  void bring_back(Search *search);
  // Copy from a channel's buffers to pinned memory; read() only starts that.
  void read(uint64_t address, void *to, size_t n_bytes);
  void finish_reads() { downloads_.finish(); }
  // Ends the copying of rows that jobs have left.
  void finish_keeping();
  // Finds up to max_steps steps of each path, on the host on return. is_path_whole() says if path i is whole; give_path()
  // fills it.
  void find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps);
  bool is_path_whole(size_t i) { return ends_.data()[i].n_steps <= path_jobs_.data()[i].output.max_steps; }
  void give_path(size_t i, Search *search, asr_path *path) { search->best_path(path_jobs_.data()[i], path); }

 private:
  uint32_t cluster_size_for(const std::vector<SearchLane> &lanes) const;
  uint32_t affordable_blocks(uint32_t n_blocks, uint32_t n_jobs) const;
  void reserve_scratch(uint32_t n_blocks, uint32_t n_jobs, Queue &stream);
  std::vector<const float *> upload(const std::vector<Task> &tasks);
  void start_uploaded(Acoustic *acoustic, const std::vector<Task> &tasks, const std::vector<const float *> &host_rows,
                      SearchFlight *other);
  PathOutput next_path_output();
  uint32_t enough_of(uint32_t n_jobs) const;
  void let_leave(Search *search, SearchJob *job);
  void prepare(Search *search, bool few_channels);
  bool was_launched(cudaError_t status) const;

  SearchLanes &owner_;
  Device &device_;
  Queue stream_, uploads_, downloads_;
  Queue urgent_{Queue::kUrgent};  // for jobs done again: their blocks precede the other flight's
  Event uploaded_;
  Staging<> staging_;
  const SearchCapacities &capacities_;
  const std::vector<ClusterSize> &cluster_sizes_;  // the largest first
  uint32_t max_tokens_, max_candidates_;           // capacities of scratch memory
  Array<uint4> scratch_;
  Array<uint32_t> busy_;                         // SearchScratch::busy
  SearchScratch laid_out_{};                     // in scratch_, for n_scratch_ blocks
  uint32_t n_scratch_ = 0, n_wanted_parts_ = 0;  // fewer where there is little memory
  uint32_t n_short_ = 0;                         // launches that had fewer
  uint32_t cluster_size_ = 1;                    // of the next launch
  Array<uint32_t> n_ended_;                      // SearchScratch::n_ended
  bool keeps_rows_ = false;                      // copies of rows that jobs have left are under way
  bool is_running_ = false;                      // a launch may use scratch memory
  Array<float> rows_[2];                         // rows of the host, for one advance and for the next
  size_t n_uploads_ = 0;
  Pinned<SearchJob> jobs_;
  Pinned<SearchPathJob> path_jobs_;
  Pinned<PathStep> steps_;
  Pinned<SearchEnd> ends_;
  Pinned<PathStep> wanted_steps_;  // steps of the jobs under way, kWantedSteps and then kMaxSettled of each
  Pinned<SearchEnd> wanted_ends_;
  size_t n_wanted_ = 0;
  size_t n_beside_ = 0;  // channels under way in the other flight

  static constexpr uint32_t kWantedSteps = 2048;  // longer paths are found once more
};

}  // namespace asr::gpu
