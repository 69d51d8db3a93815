// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search/search_flight.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "plugins/cuda/search/search_lanes.h"
#include "plugins/gpu/search/shared_rows.h"

namespace asr::gpu {

SearchFlight::SearchFlight(SearchLanes &owner, Device &device, const SearchCapacities &capacities,
                           const std::vector<ClusterSize> &cluster_sizes)
    : DeviceLanes(device),
      owner_(owner),
      device_(device),
      staging_(device.pool(), device.context()),
      capacities_(capacities),
      cluster_sizes_(cluster_sizes),
      max_tokens_(capacities.max_tokens),
      max_candidates_(capacities.max_candidates),
      busy_(device.n_multiprocessors()),
      n_ended_(1) {}

SearchFlight::~SearchFlight() {
  if (is_hung()) return;
  for (const Queue *stream : {&uploads_, &stream_, &downloads_, &urgent_}) cudaStreamSynchronize(stream->get());
}

// Returns how many of n_blocks may have scratch memory: a quarter of what is free, so that channels have the rest. If that is
// too little for clusters, it is a block for each job at most.
uint32_t SearchFlight::affordable_blocks(uint32_t n_blocks, uint32_t n_jobs) const {
  const uint64_t n_bytes = device_.free_bytes() + scratch_.size() * sizeof(uint4);
  const uint64_t n = n_bytes / 4 / (search_scratch_size(max_tokens_, max_candidates_) * sizeof(uint4));
  return n >= n_blocks ? n_blocks : static_cast<uint32_t>(std::clamp<uint64_t>(n, 1, std::min(n_jobs, n_blocks)));
}

// Reserves scratch memory, with wide tables free, for n_blocks blocks beside each other, or for fewer if memory is short.
void SearchFlight::reserve_scratch(uint32_t n_blocks, uint32_t n_jobs, Queue &stream) {
  constexpr uint32_t kLaunchesUntilMore = 1024;  // by then others may have freed memory
  const bool same = laid_out_.max_tokens == max_tokens_ && laid_out_.max_candidates == max_candidates_;
  const bool is_enough = n_blocks <= n_scratch_ || (n_blocks <= n_wanted_parts_ && ++n_short_ % kLaunchesUntilMore != 0);
  if (same && is_enough) return;
  laid_out_ = {};
  n_scratch_ = n_wanted_parts_ = 0;
  const uint32_t n_wanted = n_blocks;
  n_blocks = affordable_blocks(n_blocks, n_jobs);
  for (;; n_blocks /= 2) {
    try {
      std::optional<MemoryAccount::Modest> modest;
      if (n_blocks > 1) modest.emplace(device_.account());
      scratch_.reserve(n_blocks * search_scratch_size(max_tokens_, max_candidates_));
      break;
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY || n_blocks == 1) throw;
    }
  }
  const size_t n_bytes = n_blocks * search_scratch_size(max_tokens_, max_candidates_) * sizeof(uint4);
  check(cudaMemsetAsync(scratch_.data(), 0xff, n_bytes, stream.get()), "clearing scratch memory");
  check(cudaMemsetAsync(busy_.data(), 0, n_blocks * sizeof(uint32_t), stream.get()), "clearing scratch memory");
  laid_out_ = {capacities_.n_shared_slots,
               capacities_.n_shared_row,
               max_tokens_,
               max_candidates_,
               device_.initial_capacity_shift(),
               scratch_.data(),
               n_blocks,
               busy_.data(),
               n_ended_.data(),
               0};
  n_scratch_ = n_blocks, n_wanted_parts_ = n_wanted;
}

// Returns the number of blocks that advance a channel. Clusters are faster than single blocks even if some wait for others, up
// to twice as many as run beside each other; if some wait, the smallest clusters make up for it best. Only frames are shared by
// blocks.
uint32_t SearchFlight::cluster_size_for(const std::vector<SearchLane> &lanes) const {
  const bool has_frames = std::any_of(lanes.begin(), lanes.end(), [](const SearchLane &lane) { return lane.job.n_frames > 0; });
  if (!has_frames || cluster_sizes_.empty()) return 1;
  const size_t n_lanes = lanes.size() + n_beside_;
  for (const ClusterSize &size : cluster_sizes_) {
    if (n_lanes <= size.n_clusters) return size.n_blocks;
  }
  const ClusterSize &smallest = cluster_sizes_.back();
  return n_lanes <= size_t{2} * smallest.n_clusters ? smallest.n_blocks : 1;
}

// Returns how many jobs of the next launch have to end until the others leave frames. Where blocks wait for others to end, or
// clusters for those of the other flight, none leave any: the late ones would leave most of theirs.
uint32_t SearchFlight::enough_of(uint32_t n_jobs) const {
  const size_t n_beside = cluster_size_ > 1 ? n_beside_ : 0;
  if ((n_jobs + n_beside) * cluster_size_ > device_.n_multiprocessors()) return UINT32_MAX;
  return n_jobs - n_jobs * 3 / 8;
}

bool SearchFlight::release_scratch() {
  if (is_running_ || scratch_.size() == 0) return false;
  scratch_.release();
  laid_out_ = {};
  n_scratch_ = n_wanted_parts_ = 0;
  return true;
}

// Longer jobs begin first, so that none is left over at the end.
void SearchFlight::reserve_jobs(bool is_rest) {
  Queue &stream = is_rest ? urgent_ : stream_;
  std::vector<SearchLane> &lanes = pending_.lanes;
  const auto work = [](const SearchLane &lane) { return uint64_t{lane.job.n_tokens} * lane.job.n_frames; };
  std::stable_sort(lanes.begin(), lanes.end(), [&](const SearchLane &a, const SearchLane &b) { return work(a) > work(b); });
  const auto n_jobs = static_cast<uint32_t>(lanes.size());
  jobs_.reserve(n_jobs);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const SearchJob &job = jobs_.data()[i] = lanes[i].job;
    while (max_candidates_ <= job.max_records / 2) max_candidates_ *= 2;
    // A cluster holds more tokens than the scratch memory of a block, in which a pruning of them may have to be done.
    while (max_tokens_ < std::max(job.max_records / 128, job.max_tokens)) max_tokens_ *= 2;
  }
  cluster_size_ = cluster_size_for(lanes);
  const uint32_t n_blocks = std::min(n_jobs * cluster_size_, device_.n_multiprocessors());
  reserve_scratch(n_blocks, n_jobs, stream);
  if (n_scratch_ < n_blocks) cluster_size_ = 1;  // a cluster cannot wait for scratch memory of its blocks
}

void SearchFlight::launch_jobs(bool is_rest) {
  Queue &stream = is_rest ? urgent_ : stream_;
  const auto n_jobs = static_cast<uint32_t>(pending_.lanes.size());
  is_running_ = true;  // so that this scratch memory stays
  laid_out_.enough = enough_of(n_jobs);
  stream.clear(&n_ended_, 1);
  device_.clock().start(stream.get());
  cudaError_t status = cudaSuccess;
  do {
    if (cluster_size_ > 1) {
      status = launch_search_clusters(jobs_.data(), n_jobs, laid_out_, cluster_size_, stream.get());
    } else {
      launch_search(jobs_.data(), n_jobs, laid_out_, stream.get());
    }
  } while (!was_launched(status));
  device_.clock().stop(stream.get());
}

// Returns true if a kernel was launched, and false if it is to be launched again: the driver loads its code at the first
// launch, which takes memory of the device, and room was made for it. Other failures throw.
bool SearchFlight::was_launched(cudaError_t status) const {
  const cudaError_t last = cudaGetLastError();
  if (status == cudaSuccess) status = last;
  if (status == cudaErrorMemoryAllocation && device_.account().make_room()) return false;
  check(status, "launching a kernel");
  return true;
}

void SearchFlight::await() {
  device_.use();
  for (const Queue *stream : {&stream_, &urgent_}) gpu::await(stream->get(), "searching");
  is_running_ = false;
}

void SearchFlight::shrink_scratch() noexcept {
  max_tokens_ = capacities_.max_tokens, max_candidates_ = capacities_.max_candidates;
  if (laid_out_.max_tokens > max_tokens_ || laid_out_.max_candidates > max_candidates_) release_scratch();
}

bool SearchFlight::make_room() { return owner_.make_room(); }
void SearchFlight::run_down_others() noexcept { owner_.run_down_other(this); }

void SearchFlight::bring_back(Search *search) {
  const MemoryAccount::Modest modest(device_.account());  // DeviceLanes makes room
  search->bring_back(stream_.get());
}

void SearchFlight::grow(Search *search, uint32_t overflow) {
  const MemoryAccount::Modest modest(device_.account());  // the same
  search->grow(overflow, stream_.get());
}

// Uploads the rows of the host, while the last advance still reads its own. Returns the address of each task's rows.
std::vector<const float *> SearchFlight::upload(const std::vector<Task> &tasks) {
  const SharedRows shared = share_rows(tasks);
  std::vector<const float *> begins(tasks.size(), nullptr);
  if (shared.uploads.empty()) return begins;
  std::vector<Piece<const float>> pieces;
  for (const size_t i : shared.uploads) {
    pieces.push_back({tasks[i].host_rows, size_t{tasks[i].n_frames} * tasks[i].search->n_pdfs()});
  }
  Array<float> &rows = rows_[n_uploads_ % 2];
  rows.reserve(shared.n_floats);
  staging_.upload(pieces, rows, uploads_);
  uploads_.mark(&uploaded_);
  stream_.wait_for(uploaded_);
  for (size_t i = 0; i < tasks.size(); ++i) begins[i] = rows.data() + shared.begins[i];
  ++n_uploads_;
  return begins;
}

// Returns the buffers for the path of a job of the next launch.
PathOutput SearchFlight::next_path_output() {
  const size_t i = n_wanted_++;
  PathStep *const steps = wanted_steps_.data() + i * (kWantedSteps + capacities_.max_settled);
  return {wanted_ends_.data() + i, steps, steps + kWantedSteps, kWantedSteps};
}

bool SearchFlight::shares(const std::vector<Task> &tasks) const {
  std::unordered_set<const Search *> under_way;
  for_each_pending([&](const Search *search) { under_way.insert(search); });
  return std::any_of(tasks.begin(), tasks.end(), [&](const Task &task) { return under_way.count(task.search) > 0; });
}

// Uploads the rows of the host, and starts. If there is no memory for the rows of all tasks, starts one half after the other.
void SearchFlight::start(Acoustic *acoustic, const std::vector<Task> &tasks, SearchFlight *other) {
  std::vector<const float *> host_rows;
  bool fits = true;
  try {
    host_rows = upload(tasks);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY || tasks.size() < 2) throw;
    fits = false;
  }
  if (fits) return start_uploaded(acoustic, tasks, host_rows, other);
  const auto middle = tasks.begin() + static_cast<ptrdiff_t>(tasks.size() / 2);
  start(acoustic, std::vector<Task>(tasks.begin(), middle), other);
  start(acoustic, std::vector<Task>(middle, tasks.end()), other);
}

void SearchFlight::start_uploaded(Acoustic *acoustic, const std::vector<Task> &tasks,
                                  const std::vector<const float *> &host_rows, SearchFlight *other) {
  finish();
  if (other->shares(tasks)) other->finish();
  n_beside_ = other->pending_.lanes.size();
  const bool few_channels =
      !cluster_sizes_.empty() && tasks.size() + n_beside_ <= size_t{2} * cluster_sizes_.front().n_clusters;
  Pending pending;
  n_wanted_ = 0;
  wanted_ends_.reserve(tasks.size());
  const auto n_paths = static_cast<size_t>(
      std::count_if(tasks.begin(), tasks.end(), [](const Task &task) { return (task.wants & ASR_WANTS_PATH) != 0; }));
  wanted_steps_.reserve(n_paths * (kWantedSteps + capacities_.max_settled));
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task &task = tasks[i];
    const float *rows = host_rows[i];
    size_t stride = task.search->n_pdfs();
    if (task.host_rows == nullptr && task.n_frames > 0) {
      stride = acoustic->n_states();
      rows = acoustic->device_rows(task.buffer, task.first_row, task.n_frames).data() + task.first_row * stride;
      if (!pending.reads[task.buffer]) acoustic->wait_for_scores(task.buffer, &stream_);
      pending.acoustic = acoustic;
      pending.reads[task.buffer] = true;
    }
    if (!task.has_frames() && (task.wants & ~uint32_t{ASR_MAY_LEAVE}) == 0) continue;
    try {
      prepare(task.search, few_channels);
    } catch (...) {
      give_up(task.search);
      continue;
    }
    SearchJob job = task.search->job(rows, stride, task.n_frames);
    job.use_final = (task.wants & ASR_WANTS_FINAL) != 0;
    job.wants_common = (task.wants & ASR_WANTS_COMMON) != 0;
    job.output = (task.wants & ASR_WANTS_LATTICE) != 0 && job.lattice.lattice_beam > 0;
    if ((task.wants & ASR_WANTS_PATH) != 0) job.path = next_path_output();
    if (task.wants == ASR_MAY_LEAVE) let_leave(task.search, &job);
    pending.lanes.push_back({task.search, job});
  }
  start_pending(std::move(pending));
}

// Enlarges the channel's buffers ahead of need, if there is memory for it.
void SearchFlight::prepare(Search *search, bool few_channels) {
  const MemoryAccount::Modest modest(device_.account());
  try {
    search->prepare(few_channels && !owner_.was_short() ? &capacities_ : nullptr, stream_.get());
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
  }
}

// Takes the results of a channel's job, the path included. Returns true if the job is not done.
bool SearchFlight::take_result(const SearchLane &lane, const SearchJob &done) {
  Search &search = *lane.search;
  const bool goes_on = DeviceLanes::take_result(lane, done);
  if (done.has_left && !goes_on) {
    search.keep_left(done, stream_.get());
    keeps_rows_ = true;
  }
  if (done.has_path && done.path.end->n_steps <= done.path.max_steps) {
    search.keep_path(path_job_of(done));
  } else if (done.has_path) {
    find_paths({&search}, (done.use_final ? ASR_WANTS_FINAL : 0) | (done.wants_common ? ASR_WANTS_COMMON : 0), UINT32_MAX);
    search.keep_path(path_jobs_.data()[0]);
  }
  return goes_on;
}

void SearchFlight::let_leave(Search *search, SearchJob *job) {
  const MemoryAccount::Modest modest(device_.account());
  search->let_leave(device_.max_rows() / device_.max_lanes(), job);
}

void SearchFlight::finish_keeping() {
  if (std::exchange(keeps_rows_, false)) gpu::await(stream_.get(), "keeping rows");
}

void SearchFlight::grow_scratch(uint32_t overflow) {
  if ((overflow & kTableFull) != 0) max_tokens_ *= 2;
  if ((overflow & kCandidatesFull) != 0) max_candidates_ *= 2;
}

void SearchFlight::read(uint64_t address, void *to, size_t n_bytes) {
  const void *const from = reinterpret_cast<const void *>(address);  // NOLINT(performance-no-int-to-ptr): of the device
  check(cudaMemcpyAsync(to, from, n_bytes, cudaMemcpyDeviceToHost, downloads_.get()), "reading a lattice");
}

// Fills path_jobs_ and their outputs, with at most max_steps steps each.
void SearchFlight::find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps) {
  const size_t n = searches.size();
  size_t n_steps = 0;
  path_jobs_.reserve(n);
  ends_.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    SearchPathJob &job = path_jobs_.data()[i];
    job = searches[i]->path_job(wants);
    job.output.max_steps = std::min(max_steps, searches[i]->max_path_steps());
    job.output.end = ends_.data() + i;
    n_steps += job.output.max_steps + job.n_settled;
  }
  steps_.reserve(n_steps);
  PathStep *steps = steps_.data();
  for (size_t i = 0; i < n; ++i) {
    SearchPathJob &job = path_jobs_.data()[i];
    job.output.steps = steps;
    job.output.settled_steps = steps + job.output.max_steps;
    steps = job.output.settled_steps + job.n_settled;
  }
  do {
    launch_search_paths(path_jobs_.data(), static_cast<uint32_t>(n), stream_.get());
  } while (!was_launched(cudaSuccess));
  gpu::await(stream_.get(), "reading paths");
}

void SearchFlight::add_memory(asr_backend_memory *memory) const {
  memory->lane_bytes += scratch_.size() * sizeof(uint4);
  memory->n_lanes += n_scratch_;
}

}  // namespace asr::gpu
