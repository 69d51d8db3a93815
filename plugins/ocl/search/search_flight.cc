// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/search/search_flight.h"

#include <algorithm>
#include <cstdint>
#include <new>
#include <optional>
#include <utility>

#include "core/base/error.h"
#include "plugins/gpu/search/shared_rows.h"

namespace asr::gpu {
namespace {

// Lanes with one key can share a launch.
auto key(const SearchLane &lane) { return std::pair(&lane.search->graph(), lane.rows); }

}  // namespace

SearchFlight::SearchFlight(Device &device, const SearchTuning &tuning)
    : DeviceLanes(device),
      device_(device),
      queue_(device.context()),
      program_(device, tuning),
      pool_(device.context(), queue_),
      capacities_(device.initial_capacity_shift(), tuning.local_slots(), device.max_lanes(), device.free_bytes()),
      scratch_(device.context()),
      rows_(device.context()),
      device_jobs_(device.context()),
      jobs_(device.context()),
      device_path_jobs_(device.context()),
      device_steps_(device.context()),
      device_ends_(device.context()),
      path_jobs_(device.context()),
      steps_(device.context()),
      ends_(device.context()) {
  device.account().set_make_room([this] { return make_room_for_others(); });
}

SearchFlight::~SearchFlight() {
  finish();
  device_.account().set_make_room(nullptr);
}

bool SearchFlight::release_scratch() {
  if (is_running_ || n_scratch_ == 0) return false;
  scratch_.release();
  n_scratch_ = 0;
  is_scratch_short_ = false;
  return true;
}

// Parks a channel that is not held, if there is one that can be: the host needs memory for what its buffers have.
bool SearchFlight::park_one() {
  for (Search *search : searches_) {
    if (search->is_held() || search->is_parked()) continue;
    try {
      search->park(0, true);
      return true;
    } catch (const std::bad_alloc &) {
      return false;
    }
  }
  return false;
}

// Frees memory that no running work needs, the cheapest to have again first. The array of all channels can be freed only when
// none has a piece of it.
bool SearchFlight::make_room() { return release_scratch() || park_one() || pool_.release(); }

bool SearchFlight::make_room_for_others() {
  if (make_room()) return true;
  if (is_working() || !has_jobs()) return false;
  finish();
  return true;
}

// Returns how many of n_groups may have scratch memory: a quarter of what is free, so that channels have the rest.
uint32_t SearchFlight::affordable_groups(uint32_t n_groups) const {
  const uint64_t n_of_group = scratch_layout(max_slots_, max_candidates_).end * sizeof(uint32_t[4]);
  const uint64_t n = (device_.free_bytes() + scratch_.size() * sizeof(uint32_t[4])) / 4 / n_of_group;
  return static_cast<uint32_t>(std::clamp<uint64_t>(n, 1, n_groups));
}

// Reserves scratch memory with free tables for n_groups groups, or for as many as the device has memory for.
void SearchFlight::reserve_scratch(uint32_t n_groups) {
  constexpr uint32_t kLaunchesUntilMore = 1024;  // by then others may have freed memory
  const bool same = scratch_slots_ == max_slots_ && scratch_candidates_ == max_candidates_;
  const bool is_enough = n_groups <= n_scratch_ || (is_scratch_short_ && ++n_short_ % kLaunchesUntilMore != 0);
  if (same && n_scratch_ > 0 && is_enough) return;
  const size_t n_of_group = scratch_layout(max_slots_, max_candidates_).end;
  n_scratch_ = 0;
  const uint32_t n_affordable = affordable_groups(n_groups);
  is_scratch_short_ = n_affordable < n_groups;
  n_groups = n_affordable;
  for (;; n_groups /= 2, is_scratch_short_ = true) {
    try {
      std::optional<MemoryAccount::Modest> modest;
      if (n_groups > 1) modest.emplace(device_.account());
      scratch_.reserve(n_groups * n_of_group);
      queue_.fill(scratch_.get(), 0, 0xffffffffu, n_groups * n_of_group * sizeof(uint32_t[4]));
      break;
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY || n_groups == 1) throw;
    }
  }
  scratch_slots_ = max_slots_, scratch_candidates_ = max_candidates_, n_scratch_ = n_groups;
}

// A channel begins with the usual size, or where memory is short with half of it, a quarter and so on, or parked, without any.
std::unique_ptr<Search> SearchFlight::new_channel(const SearchGraph &graph, const asr_search_options &options) {
  for (ChannelSize size = capacities_.channel_size(options.lattice_beam > 0);;) {
    try {
      return std::make_unique<Search>(graph, options, pool_, ChannelMemory(pool_, size), size);
    } catch (const Error &error) {
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
    }
    if (release_scratch()) continue;
    if (!halve(&size)) return std::make_unique<Search>(graph, options, pool_, ChannelMemory(), size);
  }
}

std::unique_ptr<Search> SearchFlight::begin(const SearchGraph &graph, const asr_search_options &options) {
  finish();
  std::unique_ptr<Search> search = new_channel(graph, options);
  if (!graph.begun().has(options)) {
    run_at_once({lane_of(search.get(), search->begin_job())});
    graph.begun().note(options);
  }
  searches_.insert(search.get());
  max_channels_ = std::max(max_channels_, static_cast<uint32_t>(searches_.size()));
  return search;
}

void SearchFlight::end(std::unique_ptr<Search> search) {
  if (search == nullptr) return;
  finish();
  searches_.erase(search.get());
  capacities_.max_links = std::max(capacities_.max_links, search->max_links());
}

// Launches the pending jobs; jobs of one graph with rows in one array share a launch.
void SearchFlight::reserve_jobs(bool) {
  std::vector<SearchLane> &lanes = pending_.lanes;
  std::stable_sort(lanes.begin(), lanes.end(), [&](const SearchLane &a, const SearchLane &b) { return key(a) < key(b); });
  jobs_.reserve(lanes.size());
  device_jobs_.reserve(lanes.size());
  for (size_t i = 0; i < lanes.size(); ++i) {
    const SearchJob &job = jobs_.data()[i] = lanes[i].job;
    while (max_candidates_ <= job.max_records / 2) max_candidates_ *= 2;  // records move through the buffer of the candidates
    while (max_slots_ < job.max_records / 128) max_slots_ *= 2;
  }
  reserve_scratch(std::min(static_cast<uint32_t>(lanes.size()), program_.n_groups));
}

void SearchFlight::launch_jobs(bool) {
  const std::vector<SearchLane> &lanes = pending_.lanes;
  is_running_ = true;
  finishing_if_it_fails([&] {
    queue_.write(device_jobs_, 0, jobs_.data(), lanes.size());
    for (size_t first = 0, end = 0; first < lanes.size(); first = end) {
      while (end < lanes.size() && key(lanes[end]) == key(lanes[first])) ++end;
      launch(first, end);
    }
    queue_.read(device_jobs_, 0, jobs_.data(), lanes.size());
    queue_.flush();
  });
}

void SearchFlight::launch(size_t first, size_t end) {
  const SearchLane &lane = pending_.lanes[first];
  const SearchGraph &graph = lane.search->graph();
  program_.search.set(device_jobs_, static_cast<uint32_t>(first), static_cast<uint32_t>(end), graph.arcs(), graph.begins(),
                      graph.final_costs(), *lane.rows, pool_.memory(), scratch_, max_slots_, max_candidates_);
  queue_.launch(program_.search, {std::min<size_t>(end - first, n_scratch_)}, {program_.group_size});
}

// Uploads the rows of the host; returns the offset of each task's rows.
std::vector<uint64_t> SearchFlight::upload(const std::vector<Task> &tasks) {
  SharedRows shared = share_rows(tasks);
  for (const size_t i : shared.uploads) {
    queue_.write(rows_, shared.begins[i], tasks[i].host_rows, size_t{tasks[i].n_frames} * tasks[i].search->n_pdfs());
  }
  return std::move(shared.begins);
}

// Starts, or if there is no memory for the rows of all tasks, starts one half after the other.
void SearchFlight::start(Acoustic *acoustic, const std::vector<Task> &tasks) {
  finish();
  bool fits = true;
  try {
    rows_.reserve(share_rows(tasks).n_floats);
  } catch (const Error &error) {
    if (error.code() != ASR_OUT_OF_MEMORY || tasks.size() < 2) throw;
    fits = false;
  }
  if (fits) return finishing_if_it_fails([&] { start_tasks(acoustic, tasks); });
  const auto middle = tasks.begin() + static_cast<ptrdiff_t>(tasks.size() / 2);
  start(acoustic, std::vector<Task>(tasks.begin(), middle));
  start(acoustic, std::vector<Task>(middle, tasks.end()));
}

void SearchFlight::start_tasks(Acoustic *acoustic, const std::vector<Task> &tasks) {
  const std::vector<uint64_t> host_rows = upload(tasks);
  Pending pending;
  for (size_t i = 0; i < tasks.size(); ++i) {
    const Task &task = tasks[i];
    const Array<float> *rows = &rows_;
    uint64_t first = host_rows[i];
    uint32_t stride = task.search->n_pdfs();
    if (task.host_rows == nullptr && task.n_frames > 0) {
      rows = &acoustic->device_rows(task.buffer, task.first_row, task.n_frames);
      stride = acoustic->n_states();
      first = uint64_t{task.first_row} * stride;
      pending.acoustic = acoustic;
      pending.reads[task.buffer] = true;
    }
    if (task.search->died() || task.n_frames == 0) continue;
    try {
      const MemoryAccount::Modest modest(device_.account());
      task.search->prepare();
    } catch (const Error &error) {  // it may get by without; if not, it alone fails when its frame does not fit
      if (error.code() != ASR_OUT_OF_MEMORY) throw;
    }
    pending.lanes.push_back({task.search, rows, task.search->job(first, stride, task.n_frames)});
  }
  if (pending.lanes.empty()) return queue_.finish();
  for (const uint32_t buffer : {0u, 1u}) {
    // NOLINTNEXTLINE(clang-analyzer-core.CallAndMessage): a buffer that is read belongs to the model
    if (pending.reads[buffer]) pending.acoustic->wait_for_scores(buffer, &queue_);
  }
  start_pending(std::move(pending));
}

void SearchFlight::grow_scratch(uint32_t overflow) {
  if ((overflow & kTableFull) != 0) max_slots_ *= 2;
  if ((overflow & kCandidatesFull) != 0) max_candidates_ *= 2;
}

void SearchFlight::shrink_scratch() noexcept {
  max_slots_ = capacities_.max_slots, max_candidates_ = capacities_.max_candidates;
  if (scratch_slots_ > max_slots_ || scratch_candidates_ > max_candidates_) release_scratch();
}

// Fills ends_ and steps_ for path_jobs_, with at most max_steps steps each.
void SearchFlight::find_paths(const std::vector<Search *> &searches, uint32_t wants, uint32_t max_steps) {
  const size_t n = searches.size();
  path_jobs_.reserve(n);
  ends_.reserve(n);
  uint64_t n_steps = 0;
  for (size_t i = 0; i < n; ++i) {
    SearchPathJob &job = path_jobs_.data()[i] = searches[i]->path_job();
    job.max_steps = std::min(job.max_steps, max_steps);
    job.steps = n_steps;
    n_steps += job.max_steps;
  }
  device_path_jobs_.reserve(n);
  device_ends_.reserve(n);
  device_steps_.reserve(n_steps);
  steps_.reserve(n_steps);
  finishing_if_it_fails([&] {
    queue_.write(device_path_jobs_, 0, path_jobs_.data(), n);
    for (size_t first = 0, end = 0; first < n; first = end) {
      const SearchGraph &graph = searches[first]->graph();
      while (end < n && &searches[end]->graph() == &graph) ++end;
      program_.best_path.set(device_path_jobs_, static_cast<uint32_t>(first), graph.final_costs(), pool_.memory(),
                             (wants & ASR_WANTS_FINAL) != 0 ? 1u : 0u, (wants & ASR_WANTS_COMMON) != 0 ? 1u : 0u, device_ends_,
                             device_steps_);
      queue_.launch(program_.best_path, {end - first}, {program_.group_size});
    }
    queue_.read(device_ends_, 0, ends_.data(), n);
    for (Search *search : searches) search->start_draining();
    queue_.finish();
    for (size_t i = 0; i < n; ++i) {
      const SearchPathJob &job = path_jobs_.data()[i];
      queue_.read(device_steps_, job.steps, steps_.data() + job.steps, std::min(ends_.data()[i].n_steps, job.max_steps));
    }
    queue_.finish();
  });
}

void SearchFlight::add_memory(asr_backend_memory *memory) const {
  memory->lane_bytes = scratch_.size() * sizeof(uint32_t[4]);
  memory->n_lanes = n_scratch_;
  memory->channel_bytes = pool_.memory().size() * sizeof(uint32_t);
  memory->n_channels = max_channels_;
}

}  // namespace asr::gpu
