// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search_lanes.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "plugins/common/shared_rows.h"

namespace asr::cuda {

SearchLanes::SearchLanes(Device &device)
    : DeviceLanes(device.pool()),
      device_(device),
      staging_(device.pool()),
      rooms_(device.small_rooms(), search_shared_slots(device.shared_bytes())) {
  check(prepare_search(rooms_.n_shared_slots), "preparing the search kernel");
  const uint32_t wanted = device.cluster_blocks(), largest = wanted == 0 ? kMaxClusterSize : std::min(wanted, kMaxClusterSize);
  for (uint32_t size = largest, most = 0; size > 1 && size >= (wanted == 0 ? kMinClusterSize : largest); --size) {
    uint32_t n_clusters = 0;
    check(prepare_search_clusters(size, &n_clusters), "preparing the search kernel");
    if (n_clusters > most) clusters_.push_back({size, most = n_clusters});
  }
}

SearchLanes::~SearchLanes() {
  cudaStreamSynchronize(uploads_.get());
  cudaStreamSynchronize(stream_.get());
}

// Scratch memory for so many blocks, the wide tables free.
void SearchLanes::reserve_scratch(uint32_t n_blocks) {
  const bool same = laid_out_.max_tokens == max_tokens_ && laid_out_.max_candidates == max_candidates_;
  if (same && n_blocks <= n_scratch_) return;
  const size_t n = n_blocks * search_scratch_size(max_tokens_, max_candidates_);
  laid_out_ = {};
  scratch_.reserve(n);
  check(cudaMemsetAsync(scratch_.data(), 0xff, n * sizeof(uint4), stream_.get()), "clearing scratch memory");
  laid_out_ = {rooms_.n_shared_slots, max_tokens_, max_candidates_, device_.small_rooms(), scratch_.data()};
  n_scratch_ = n_blocks;
}

std::unique_ptr<Search> SearchLanes::begin(const SearchGraph &graph, const asr_search_options &options) {
  finish();
  const bool makes_lattice = options.lattice_beam > 0;
  std::vector<ChannelMemory> &free = free_memory_[makes_lattice ? 1 : 0];
  if (free.empty()) {
    free.emplace_back(ChannelSize{small_room(max_tokens_, device_.small_rooms(), 16), rooms_.max_records, rooms_.max_settled,
                                  makes_lattice ? rooms_.max_links : 0, makes_lattice ? rooms_.max_frames : 0});
  }
  ChannelMemory memory = std::move(free.back());
  free.pop_back();
  auto search = std::make_unique<Search>(graph, options, std::move(memory));
  if (!graph.begun().has(options)) {
    run_at_once({lane_of_begin(search.get())});
    graph.begun().note(options);
  }
  searches_.insert(search.get());
  return search;
}

void SearchLanes::end(std::unique_ptr<Search> search) {
  if (search == nullptr) return;
  finish();
  searches_.erase(search.get());
  try {
    ChannelMemory memory = search->release_memory();
    free_memory_[memory.size().max_links > 0 ? 1 : 0].push_back(std::move(memory));
  } catch (...) {  // then it is freed
  }
}

// How many blocks advance a channel: as many as leave room for all channels beside each other. Only frames are shared by
// blocks, and only where tables in shared memory are large enough.
uint32_t SearchLanes::cluster_size_for(const std::vector<SearchLane> &lanes) const {
  for (const SearchLane &lane : lanes) {
    if (lane.job.n_frames == 0) return 1;
  }
  for (const Clusters &clusters : clusters_) {
    if (lanes.size() <= clusters.n_clusters) return clusters.size;
  }
  return 1;
}

void SearchLanes::start_jobs() {
  const std::vector<SearchLane> &lanes = pending_.lanes;
  const auto n_jobs = static_cast<uint32_t>(lanes.size());
  const uint32_t cluster_size = cluster_size_for(lanes);
  const uint32_t n_blocks = cluster_size > 1 ? n_jobs * cluster_size : std::min(n_jobs, device_.n_multiprocessors());
  jobs_.reserve(n_jobs);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const SearchJob &job = jobs_.data()[i] = lanes[i].job;
    while (max_candidates_ <= job.max_records / 2) max_candidates_ *= 2;
    // A cluster has room for more tokens than the scratch memory of a block, where a pruning of them may have to be done.
    while (max_tokens_ < std::max(job.max_records / 128, job.max_tokens)) max_tokens_ *= 2;
  }
  reserve_scratch(n_blocks);
  device_.clock().time(stream_.get(), [&] {
    if (cluster_size > 1) {
      check(launch_search_clusters(jobs_.data(), n_jobs, laid_out_, cluster_size, stream_.get()), "launching a kernel");
    } else {
      launch_search(jobs_.data(), n_jobs, laid_out_, n_blocks, stream_.get());
    }
  });
}

void SearchLanes::await() {
  device_.use();
  check(cudaStreamSynchronize(stream_.get()), "searching");
}

// Puts the rows of the host on the device, while the last advance still reads its own; returns where each task's begin.
std::vector<const float *> SearchLanes::upload(const std::vector<Task> &tasks) {
  const SharedRows shared = share_rows(tasks);
  std::vector<const float *> begins(tasks.size(), nullptr);
  if (shared.uploads.empty()) return begins;
  std::vector<Piece<const float>> pieces;
  for (const size_t i : shared.uploads) {
    pieces.push_back({tasks[i].host_rows, size_t{tasks[i].n_frames} * tasks[i].search->n_pdfs()});
  }
  DeviceArray<float> &rows = rows_[n_uploads_ % 2];
  rows.reserve(shared.n_floats);
  staging_.upload(pieces, rows, uploads_);
  uploads_.mark(&uploaded_);
  stream_.wait_for(uploaded_);
  for (size_t i = 0; i < tasks.size(); ++i) begins[i] = rows.data() + shared.begins[i];
  ++n_uploads_;
  return begins;
}

void SearchLanes::start(Acoustic *acoustic, const std::vector<Task> &tasks) {
  const std::vector<const float *> host_rows = upload(tasks);
  finish();
  Pending pending;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task &task = tasks[i];
    const float *rows = host_rows[i];
    size_t stride = task.search->n_pdfs();
    if (task.host_rows == nullptr) {
      rows = acoustic->device_rows(task.buffer, task.first_row, task.n_frames, stream_);
      stride = acoustic->n_states();
      pending.acoustic = acoustic;
      pending.reads[task.buffer] = true;
    }
    if (task.search->died() || task.n_frames == 0) continue;
    const bool few_channels = !clusters_.empty() && tasks.size() <= clusters_.front().n_clusters;
    task.search->prepare(few_channels ? &rooms_ : nullptr, stream_.get());
    pending.lanes.push_back({task.search, task.search->job(rows, stride, task.n_frames)});
  }
  if (pending.lanes.empty()) return;
  pending_ = std::move(pending);
  try {
    start_jobs();
  } catch (...) {
    pending_ = {};
    throw;
  }
}

void SearchLanes::take_results() {
  const std::vector<SearchLane> lanes = std::exchange(pending_.lanes, {});
  std::vector<SearchLane> again;
  uint32_t overflow = 0;
  for (size_t i = 0; i < lanes.size(); ++i) {
    Search *const search = lanes[i].search;
    const SearchJob done = jobs_.data()[i];
    try {
      const bool goes_on = search->take(done);
      search->take_settled(readers_.data(), stream_.get());
      if (!goes_on) continue;
      search->grow(done.overflow, stream_.get());
    } catch (...) {
      search->give_up();
      keep_failure();
      continue;
    }
    overflow |= done.overflow;
    again.push_back({search, search->rest_of(done)});
  }
  if (again.empty()) return;
  if ((overflow & kEntriesFull) != 0) max_tokens_ *= 2;
  if ((overflow & kCandidatesFull) != 0) max_candidates_ *= 2;
  pending_.lanes = std::move(again);
  start_jobs();
  await();
}

// Fills path_jobs_ and what they write to, with so many steps for each.
void SearchLanes::find_paths(const std::vector<Search *> &searches, bool use_final, uint32_t max_steps) {
  const size_t n = searches.size();
  size_t n_steps = 0;
  path_jobs_.reserve(n);
  ends_.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    SearchPathJob &job = path_jobs_.data()[i];
    job = searches[i]->path_job(use_final);
    job.max_steps = std::min(max_steps, searches[i]->max_path_steps());
    job.end = ends_.data() + i;
    n_steps += job.max_steps + job.n_settled;
  }
  steps_.reserve(n_steps);
  PathStep *steps = steps_.data();
  for (size_t i = 0; i < n; ++i) {
    SearchPathJob &job = path_jobs_.data()[i];
    job.steps = steps;
    job.settled_steps = steps + job.max_steps;
    steps = job.settled_steps + job.n_settled;
  }
  launch_search_paths(path_jobs_.data(), static_cast<uint32_t>(n), stream_.get());
  check(cudaGetLastError(), "launching a kernel");
  check(cudaStreamSynchronize(stream_.get()), "reading paths");
}

void SearchLanes::lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
  finish();
  std::vector<SearchLane> lanes;
  for (Search *search : searches) lanes.push_back({search, search->lattice_job(use_final)});
  run_at_once(std::move(lanes));
  if (readers_.size() < searches.size()) readers_.resize(searches.size());
  for (size_t i = 0; i < searches.size(); ++i) searches[i]->start_reading(&readers_[i], stream_.get());
  check(cudaStreamSynchronize(stream_.get()), "reading lattices");
  device_.pool().run(searches.size(), [&](size_t i) { searches[i]->lattice(readers_[i], &lattices[i]); });
}

void SearchLanes::add_memory(asr_backend_memory *memory) const {
  memory->lane_bytes = scratch_.size() * sizeof(uint4);
  memory->n_lanes = n_scratch_;
  for (const Search *search : searches_) memory->channel_bytes += search->memory().n_bytes();
  memory->n_channels = static_cast<uint32_t>(searches_.size());
  for (const auto &free : free_memory_) {
    for (const ChannelMemory &channel : free) memory->channel_bytes += channel.n_bytes();
    memory->n_channels += static_cast<uint32_t>(free.size());
  }
}

}  // namespace asr::cuda
