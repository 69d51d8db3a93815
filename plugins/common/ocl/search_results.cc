// SPDX-License-Identifier: Apache-2.0
// Best paths and lattices of many channels in one launch; the rest of SearchLanes is in search_lanes.cc.
#include <algorithm>
#include <cstdint>

#include "plugins/common/ocl/search_lanes.h"

namespace asr::ocl {

// Fills ends_ and steps_ for path_jobs_, with up to so many steps each.
void SearchLanes::find_paths(const std::vector<Search *> &searches, bool use_final, uint32_t max_steps) {
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
  queue_.write(device_path_jobs_, 0, path_jobs_.data(), n);
  for (size_t first = 0, end = 0; first < n; first = end) {
    const SearchGraph &graph = searches[first]->graph();
    while (end < n && &searches[end]->graph() == &graph) ++end;
    program_.best_path.set(device_path_jobs_, static_cast<uint32_t>(first), graph.final_costs(), pool_.memory(),
                           use_final ? 1u : 0u, device_ends_, device_steps_);
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
}

void SearchLanes::lattices(const std::vector<Search *> &searches, bool use_final, asr_raw_lattice *lattices) {
  finish();
  std::vector<SearchLane> lanes;
  for (Search *search : searches) lanes.push_back({search, &rows_, search->lattice_job(use_final)});
  run_at_once(std::move(lanes));
  for (Search *search : searches) search->start_written();
  queue_.finish();
  device_.pool().run(searches.size(), [&](size_t i) { searches[i]->lattice(&lattices[i]); });
}

}  // namespace asr::ocl
