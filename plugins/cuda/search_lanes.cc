// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search_lanes.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "plugins/common/shared_rows.h"

namespace asr::cuda {

SearchLanes::SearchLanes(Device &device)
    : device_(device), staging_(device.pool()), n_shared_slots_(search_shared_slots(device.shared_bytes())) {
  check(prepare_search(n_shared_slots_), "preparing the search kernel");
  for (uint32_t size = kMaxClusterSize, most = 0; size >= kMinClusterSize; --size) {
    uint32_t n_clusters = 0;
    check(prepare_search_clusters(size, &n_clusters), "preparing the search kernel");
    if (n_clusters > most) clusters_.push_back({size, most = n_clusters});
  }
  max_tokens_ = std::max(max_tokens_, n_shared_slots_);
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
  laid_out_ = {n_shared_slots_, max_tokens_, max_candidates_, scratch_.data()};
  n_scratch_ = n_blocks;
}

// Jobs of which the caller waits for the end; what earlier ones failed with is kept.
void SearchLanes::run_at_once(const std::vector<SearchJob> &jobs, const std::vector<Search *> &searches) {
  const std::exception_ptr before = std::exchange(failure_, nullptr);
  try {
    start_jobs(jobs, {searches, nullptr, {false, false}});
  } catch (...) {
    keep_failure();
  }
  finish();
  const std::exception_ptr failure = std::exchange(failure_, before);
  if (failure) std::rethrow_exception(failure);
}

std::unique_ptr<Search> SearchLanes::begin(const SearchGraph &graph, const asr_search_options &options) {
  finish();
  const bool makes_lattice = options.lattice_beam > 0;
  std::vector<ChannelMemory> &free = free_memory_[makes_lattice ? 1 : 0];
  if (free.empty()) {
    free.emplace_back(
        ChannelSize{max_tokens_, kMaxRecords, kMaxSettled, makes_lattice ? kMaxLinks : 0, makes_lattice ? kMaxFrames : 0});
  }
  ChannelMemory memory = std::move(free.back());
  free.pop_back();
  auto search = std::make_unique<Search>(graph, options, std::move(memory));
  if (!graph.begun().has(options)) {
    run_at_once({search->begin_job()}, {search.get()});
    graph.begun().note(options);
  }
  searches_.insert(search.get());
  return search;
}

// Channels of which nothing was wanted yet.
void SearchLanes::begin_all(const std::vector<Search *> &searches) {
  std::vector<SearchJob> jobs;
  std::vector<Search *> beginning;
  for (Search *search : searches) {
    if (search->has_begun()) continue;
    jobs.push_back(search->begin_job());
    beginning.push_back(search);
  }
  if (!jobs.empty()) run_at_once(jobs, beginning);
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
uint32_t SearchLanes::cluster_size_for(const std::vector<SearchJob> &jobs) const {
  for (const SearchJob &job : jobs) {
    if (job.n_frames == 0) return 1;
  }
  for (const Clusters &clusters : clusters_) {
    if (jobs.size() <= clusters.n_clusters) return clusters.size;
  }
  return 1;
}

// What the jobs were is known from then on as pending.
void SearchLanes::start_jobs(const std::vector<SearchJob> &jobs, Pending pending) {
  const auto n_jobs = static_cast<uint32_t>(jobs.size());
  jobs_.reserve(n_jobs);
  std::copy(jobs.begin(), jobs.end(), jobs_.data());
  const uint32_t cluster_size = cluster_size_for(jobs);
  const uint32_t n_blocks = cluster_size > 1 ? n_jobs * cluster_size : std::min(n_jobs, device_.n_multiprocessors());
  for (const SearchJob &job : jobs) {
    while (max_candidates_ <= job.max_records / 2) max_candidates_ *= 2;
    while (max_tokens_ < job.max_records / 128) max_tokens_ *= 2;
  }
  reserve_scratch(n_blocks);
  device_.clock().time(stream_.get(), [&] {
    if (cluster_size > 1) {
      check(launch_search_clusters(jobs_.data(), n_jobs, laid_out_, cluster_size, stream_.get()), "launching a kernel");
    } else {
      launch_search(jobs_.data(), n_jobs, laid_out_, n_blocks, stream_.get());
    }
  });
  pending_ = std::move(pending);
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
  std::vector<SearchJob> jobs;
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
    task.search->prepare(!clusters_.empty() && tasks.size() <= clusters_.front().n_clusters, stream_.get());
    jobs.push_back(task.search->job(rows, stride, task.n_frames));
    pending.searches.push_back(task.search);
  }
  if (!jobs.empty()) start_jobs(jobs, std::move(pending));
}

// After a launch: what the channels did. Those that ran out of memory get more and go on, and are then what is pending.
void SearchLanes::take_results() {
  std::vector<Search *> again;
  std::vector<SearchJob> jobs;
  uint32_t overflow = 0;
  const std::vector<Search *> searches = std::move(pending_.searches);
  pending_.searches.clear();
  for (size_t i = 0; i < searches.size(); ++i) {
    const SearchJob done = jobs_.data()[i];
    try {
      const bool goes_on = searches[i]->take(done);
      searches[i]->take_settled(readers_.data(), stream_.get());
      if (!goes_on) continue;
      searches[i]->grow(done.overflow, stream_.get());
    } catch (...) {
      searches[i]->give_up();
      keep_failure();
      continue;
    }
    overflow |= done.overflow;
    again.push_back(searches[i]);
    jobs.push_back(searches[i]->rest_of(done));
  }
  if (again.empty()) return;
  if ((overflow & kEntriesFull) != 0) max_tokens_ *= 2;
  if ((overflow & kCandidatesFull) != 0) max_candidates_ *= 2;
  try {
    start_jobs(jobs, {again, pending_.acoustic, {pending_.reads[0], pending_.reads[1]}});
    check(cudaStreamSynchronize(stream_.get()), "searching");
  } catch (...) {
    for (Search *search : again) search->give_up();
    throw;
  }
}

void SearchLanes::keep_failure() noexcept {
  if (!failure_) failure_ = std::current_exception();
}

void SearchLanes::finish() noexcept {
  try {
    if (pending_.searches.empty()) return;
    device_.use();
    check(cudaStreamSynchronize(stream_.get()), "searching");
    while (!pending_.searches.empty()) take_results();
  } catch (...) {
    for (Search *search : pending_.searches) search->give_up();
    keep_failure();
  }
  pending_ = {};
}

void SearchLanes::wait() {
  finish();
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void SearchLanes::release(const Acoustic *acoustic, uint32_t buffer) {
  if (pending_.acoustic == acoustic && buffer < 2 && pending_.reads[buffer]) finish();
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

void SearchLanes::best_paths(const std::vector<Search *> &searches, bool use_final, asr_path *paths) {
  if (searches.empty()) return;
  finish();
  begin_all(searches);
  find_paths(searches, use_final, kMaxPathSteps);
  std::vector<size_t> longer;
  for (size_t i = 0; i < searches.size(); ++i) {
    if (ends_.data()[i].n_steps > path_jobs_.data()[i].max_steps) longer.push_back(i);
  }
  device_.pool().run(searches.size(), [&](size_t i) {
    const SearchPathJob &job = path_jobs_.data()[i];
    if (job.end->n_steps <= job.max_steps) searches[i]->best_path(job, &paths[i]);
  });
  for (const size_t i : longer) {
    find_paths({searches[i]}, use_final, searches[i]->max_path_steps());
    searches[i]->best_path(*path_jobs_.data(), &paths[i]);
  }
}

void SearchLanes::lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
  finish();
  std::vector<SearchJob> jobs;
  for (const Search *search : searches) jobs.push_back(search->lattice_job(use_final));
  run_at_once(jobs, searches);
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

void SearchLanes::lattice_piece(Search *search, asr_raw_lattice *piece) {
  finish();
  search->lattice_piece(piece);
}

}  // namespace asr::cuda
