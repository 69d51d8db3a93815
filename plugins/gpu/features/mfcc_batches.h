// SPDX-License-Identifier: Apache-2.0
// Cuts the jobs of `extract` into batches of frames that are computed together, for back ends whose device has its own memory.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/backend/asr_backend.h"

namespace asr {

// Adds all frames to copies of `empty`. Calls compute(batch) for each copy when its samples and cepstra reach about
// max_floats, and for the last one. Neighbouring jobs for the same frames under several warps share the frames. A Batch has
// n_floats() and frame_floats(n_jobs), the floats that a frame of n_jobs such jobs adds. add(jobs, n_jobs, first, n) adds n
// frames from `first` on.
template <typename Batch, typename Compute>
void for_each_batch(const Batch &empty, size_t max_floats, const asr_extract_job *jobs, size_t n_jobs, const Compute &compute) {
  const auto same_frames = [](const asr_extract_job &a, const asr_extract_job &b) {
    return a.samples == b.samples && a.n_frames == b.n_frames && a.first_frame == b.first_frame;
  };
  Batch batch = empty;
  for (size_t i = 0; i < n_jobs;) {
    const size_t group = i++;
    while (i < n_jobs && same_frames(jobs[group], jobs[i])) ++i;
    for (uint32_t first = 0; first < jobs[group].n_frames;) {
      if (batch.n_floats() >= max_floats) {
        compute(batch);
        batch = empty;
      }
      const size_t room = (max_floats - batch.n_floats()) / batch.frame_floats(i - group) + 1;
      const auto n = static_cast<uint32_t>(std::min<size_t>(room, jobs[group].n_frames - first));
      batch.add(jobs + group, i - group, first, n);
      first += n;
    }
  }
  if (batch.n_floats() > 0) compute(batch);
}

}  // namespace asr
