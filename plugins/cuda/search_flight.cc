// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/search_flight.h"

#include <algorithm>
#include <cstdint>
#include <unordered_set>
#include <utility>

#include "core/base/error.h"
#include "plugins/common/shared_rows.h"

namespace asr::cuda {

SearchFlight::SearchFlight(Device &device, const SearchRooms &rooms, const std::vector<ClusterSize> &cluster_sizes)
    : DeviceLanes(device.pool()),
      device_(device),
      staging_(device.pool()),
      rooms_(rooms),
      cluster_sizes_(cluster_sizes),
      max_tokens_(rooms.max_tokens),
      max_candidates_(rooms.max_candidates) {}

SearchFlight::~SearchFlight() {
  if (is_hung()) return;
  for (const Stream *stream : {&uploads_, &stream_, &downloads_, &urgent_}) cudaStreamSynchronize(stream->get());
}

// Scratch memory for so many blocks beside each other, the wide tables free; for fewer where there is not enough.
void SearchFlight::reserve_scratch(uint32_t n_blocks, Stream &stream) {
  const bool same = laid_out_.max_tokens == max_tokens_ && laid_out_.max_candidates == max_candidates_;
  if (same && n_blocks <= n_wanted_parts_) return;
  const SearchScratch before = laid_out_;
  laid_out_ = {};
  n_scratch_ = n_wanted_parts_ = 0;
  const uint32_t n_wanted = n_blocks;
  for (;; n_blocks /= 2) {
    const size_t n = n_blocks * search_scratch_size(max_tokens_, max_candidates_);
    try {
      scratch_.reserve(n);
    } catch (const Error &error) {
      if (error.code() == ASR_OUT_OF_MEMORY && n_blocks > 1) continue;
      if (before.max_tokens > 0) max_tokens_ = before.max_tokens, max_candidates_ = before.max_candidates;
      throw;
    }
    busy_.reserve(n_blocks);
    check(cudaMemsetAsync(scratch_.data(), 0xff, n * sizeof(uint4), stream.get()), "clearing scratch memory");
    check(cudaMemsetAsync(busy_.data(), 0, n_blocks * sizeof(uint32_t), stream.get()), "clearing scratch memory");
    break;
  }
  laid_out_ = {rooms_.n_shared_slots, max_tokens_, max_candidates_, device_.small_rooms(),
               scratch_.data(),       n_blocks,    busy_.data()};
  n_scratch_ = n_blocks, n_wanted_parts_ = n_wanted;
}

// How many blocks advance a channel. Clusters are faster than blocks by themselves even where some wait for others, up to twice
// as many as run beside each other. Only frames are shared by blocks.
uint32_t SearchFlight::cluster_size_for(const std::vector<SearchLane> &lanes) const {
  const bool has_frames = std::any_of(lanes.begin(), lanes.end(), [](const SearchLane &lane) { return lane.job.n_frames > 0; });
  if (!has_frames || cluster_sizes_.empty()) return 1;
  const size_t n_lanes = lanes.size() + n_beside_;
  for (const ClusterSize &size : cluster_sizes_) {
    if (n_lanes <= size.n_clusters) return size.n_blocks;
  }
  return n_lanes <= 2 * cluster_sizes_.front().n_clusters ? cluster_sizes_.front().n_blocks : 1;
}

// Longer jobs begin first, so that none is left over at the end.
void SearchFlight::launch_jobs(Stream &stream) {
  std::vector<SearchLane> &lanes = pending_.lanes;
  const auto work = [](const SearchLane &lane) { return uint64_t{lane.job.n_tokens} * lane.job.n_frames; };
  std::stable_sort(lanes.begin(), lanes.end(), [&](const SearchLane &a, const SearchLane &b) { return work(a) > work(b); });
  const auto n_jobs = static_cast<uint32_t>(lanes.size());
  jobs_.reserve(n_jobs);
  for (size_t i = 0; i < lanes.size(); ++i) {
    const SearchJob &job = jobs_.data()[i] = lanes[i].job;
    while (max_candidates_ <= job.max_records / 2) max_candidates_ *= 2;
    // A cluster has room for more tokens than the scratch memory of a block, where a pruning of them may have to be done.
    while (max_tokens_ < std::max(job.max_records / 128, job.max_tokens)) max_tokens_ *= 2;
  }
  uint32_t cluster_size = cluster_size_for(lanes);
  const uint32_t n_blocks = std::min(n_jobs * cluster_size, device_.n_multiprocessors());
  reserve_scratch(n_blocks, stream);
  if (n_scratch_ < n_blocks) cluster_size = 1;  // a cluster cannot wait for scratch memory of its blocks
  device_.clock().time(stream.get(), [&] {
    if (cluster_size > 1) {
      check(launch_search_clusters(jobs_.data(), n_jobs, laid_out_, cluster_size, stream.get()), "launching a kernel");
    } else {
      launch_search(jobs_.data(), n_jobs, laid_out_, stream.get());
    }
  });
}

void SearchFlight::await() {
  device_.use();
  for (const Stream *stream : {&stream_, &urgent_}) cuda::await(stream->get(), "searching");
}

// Puts the rows of the host on the device, while the last advance still reads its own; returns where each task's begin.
std::vector<const float *> SearchFlight::upload(const std::vector<Task> &tasks) {
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

// Where a job of the next launch writes the path that is wanted.
SearchPathPlace SearchFlight::next_path_place() {
  const size_t i = n_wanted_++;
  PathStep *const steps = wanted_steps_.data() + i * (kWantedSteps + rooms_.max_settled);
  return {wanted_ends_.data() + i, steps, steps + kWantedSteps, kWantedSteps};
}

bool SearchFlight::shares(const std::vector<Task> &tasks) const {
  std::unordered_set<const Search *> under_way;
  for (const SearchLane &lane : pending_.lanes) under_way.insert(lane.search);
  return std::any_of(tasks.begin(), tasks.end(), [&](const Task &task) { return under_way.count(task.search) > 0; });
}

void SearchFlight::start(Acoustic *acoustic, const std::vector<Task> &tasks, SearchFlight *other) {
  const std::vector<const float *> host_rows = upload(tasks);
  finish();
  if (other->shares(tasks)) other->finish();
  n_beside_ = other->pending_.lanes.size();
  const bool few_channels = !cluster_sizes_.empty() && tasks.size() + n_beside_ <= 2 * cluster_sizes_.front().n_clusters;
  Pending pending;
  n_wanted_ = 0;
  wanted_ends_.reserve(tasks.size());
  const auto n_paths = static_cast<size_t>(
      std::count_if(tasks.begin(), tasks.end(), [](const Task &task) { return (task.wants & ASR_WANTS_PATH) != 0; }));
  wanted_steps_.reserve(n_paths * (kWantedSteps + rooms_.max_settled));
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task &task = tasks[i];
    const float *rows = host_rows[i];
    size_t stride = task.search->n_pdfs();
    if (task.host_rows == nullptr && task.n_frames > 0) {
      rows = acoustic->device_rows(task.buffer, task.first_row, task.n_frames, stream_);
      stride = acoustic->n_states();
      pending.acoustic = acoustic;
      pending.reads[task.buffer] = true;
    }
    if ((task.search->died() || task.n_frames == 0) && task.wants == 0) continue;
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
    if ((task.wants & ASR_WANTS_PATH) != 0) job.path = next_path_place();
    pending.lanes.push_back({task.search, job});
  }
  start_pending(std::move(pending));
}

// More room ahead of need, if there is memory for it.
void SearchFlight::prepare(Search *search, bool few_channels) {
  try {
    search->prepare(few_channels ? &rooms_ : nullptr, stream_.get());
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY) throw;
  }
}

// What a channel's job came to. Returns whether there is more to do of it.
bool SearchFlight::take_result(const SearchLane &lane, const SearchJob &done) {
  Search &search = *lane.search;
  if (!lane.is_rest) search.forget_results();
  const bool goes_on = search.take(done);
  if (done.has_path && done.path.end->n_steps <= done.path.max_steps) {
    search.keep_path(path_job_of(done));
  } else if (done.has_path) {
    find_paths({&search}, (done.use_final ? ASR_WANTS_FINAL : 0) | (done.wants_common ? ASR_WANTS_COMMON : 0), UINT32_MAX);
    search.keep_path(path_jobs_.data()[0]);
  }
  return goes_on;
}

void SearchFlight::take_results() {
  const std::vector<SearchLane> &lanes = pending_.lanes;
  std::vector<SearchLane> again;
  uint32_t overflow = 0;
  std::vector<bool> goes_on(lanes.size(), false);
  for (size_t i = 0; i < lanes.size(); ++i) {
    try {
      goes_on[i] = take_result(lanes[i], jobs_.data()[i]);
    } catch (...) {
      give_up(lanes[i].search);
    }
  }
  read_lattices(lanes);
  for (size_t i = 0; i < lanes.size(); ++i) {
    if (!goes_on[i]) continue;
    Search *const search = lanes[i].search;
    const SearchJob done = jobs_.data()[i];
    try {
      search->grow(done.overflow, stream_.get());
    } catch (...) {
      give_up(search);
      continue;
    }
    overflow |= done.overflow;
    again.push_back({search, search->rest_of(done), true});
  }
  pending_.lanes = std::move(again);
  if (pending_.lanes.empty()) return;
  if ((overflow & kTableFull) != 0) max_tokens_ *= 2;
  if ((overflow & kCandidatesFull) != 0) max_candidates_ *= 2;
  launch_jobs(urgent_);
  await();
}

// Reads what has settled of lattices and what was written of them, before the next jobs move it. Threads of the pool bring it
// into the host's order.
void SearchFlight::read_lattices(const std::vector<SearchLane> &lanes) {
  struct Reading {
    Search *search;
    LatticeReader reader;
    bool is_settled;
  };
  std::vector<Reading> readings;
  for (size_t i = 0; i < lanes.size(); ++i) {
    Search *const search = lanes[i].search;
    if (auto reader = search->settled()) readings.push_back({search, *reader, true});
    if (jobs_.data()[i].has_written) readings.push_back({search, search->written(), false});
  }
  if (readings.empty()) return;
  size_t n_bytes = 0;
  for (const Reading &reading : readings) n_bytes += reading.reader.n_bytes();
  lattices_.begin(n_bytes);
  for (Reading &reading : readings) reading.reader.start(&lattices_, downloads_.get());
  downloads_.finish();
  std::vector<std::exception_ptr> failures(readings.size());
  device_.pool().run(readings.size(), [&](size_t i) {
    const Reading &reading = readings[i];
    try {
      reading.is_settled ? reading.search->take_settled(reading.reader) : reading.search->take_written(reading.reader);
    } catch (...) {
      failures[i] = std::current_exception();
    }
  });
  for (size_t i = 0; i < readings.size(); ++i) {
    if (failures[i]) readings[i].search->give_up(failures[i]);
  }
}

// Fills path_jobs_ and what they write to, with so many steps for each.
void SearchFlight::find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps) {
  const size_t n = searches.size();
  size_t n_steps = 0;
  path_jobs_.reserve(n);
  ends_.reserve(n);
  for (size_t i = 0; i < n; ++i) {
    SearchPathJob &job = path_jobs_.data()[i];
    job = searches[i]->path_job(wants);
    job.place.max_steps = std::min(max_steps, searches[i]->max_path_steps());
    job.place.end = ends_.data() + i;
    n_steps += job.place.max_steps + job.n_settled;
  }
  steps_.reserve(n_steps);
  PathStep *steps = steps_.data();
  for (size_t i = 0; i < n; ++i) {
    SearchPathJob &job = path_jobs_.data()[i];
    job.place.steps = steps;
    job.place.settled_steps = steps + job.place.max_steps;
    steps = job.place.settled_steps + job.n_settled;
  }
  launch_search_paths(path_jobs_.data(), static_cast<uint32_t>(n), stream_.get());
  check(cudaGetLastError(), "launching a kernel");
  cuda::await(stream_.get(), "reading paths");
}

void SearchFlight::lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
  std::vector<SearchLane> lanes;
  for (Search *search : searches) {
    if (search->has_wanted_lattice(use_final)) continue;
    finish();
    lanes.push_back({search, search->lattice_job(use_final)});
  }
  if (!lanes.empty()) {
    run_at_once(lanes);
    for (const SearchLane &lane : lanes) lane.search->check_outcome();
  }
  device_.pool().run(searches.size(), [&](size_t i) { searches[i]->lattice(&lattices[i]); });
}

void SearchFlight::add_memory(asr_backend_memory *memory) const {
  memory->lane_bytes += scratch_.size() * sizeof(uint4);
  memory->n_lanes += n_scratch_;
}

}  // namespace asr::cuda
