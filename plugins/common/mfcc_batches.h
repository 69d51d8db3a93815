// SPDX-License-Identifier: Apache-2.0
// Cuts the jobs of `extract` into batches of frames that are computed together, for back ends whose device has memory of its
// own.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "core/backend/asr_backend.h"

namespace asr {

// Calls compute(batch) for copies of `empty` to which all frames were added, each until its samples and cepstra are about
// most_floats. Jobs next to each other that want the same frames under several warps share them. A Batch tells n_floats() and
// what a frame of n_jobs such jobs adds to them, frame_floats(n_jobs); add(jobs, n_jobs, first, n) adds n frames from `first`
// on.
template <typename Batch, typename Compute>
void for_each_batch(const Batch &empty, size_t most_floats, const asr_extract_job *jobs, size_t n_jobs,
                    const Compute &compute) {
  const auto same_frames = [](const asr_extract_job &a, const asr_extract_job &b) {
    return a.samples == b.samples && a.n_frames == b.n_frames && a.first_frame == b.first_frame;
  };
  Batch batch = empty;
  for (size_t i = 0; i < n_jobs;) {
    const size_t group = i++;
    while (i < n_jobs && same_frames(jobs[group], jobs[i])) ++i;
    for (uint32_t first = 0; first < jobs[group].n_frames;) {
      if (batch.n_floats() >= most_floats) {
        compute(batch);
        batch = empty;
      }
      const size_t room = (most_floats - batch.n_floats()) / batch.frame_floats(i - group) + 1;
      const auto n = static_cast<uint32_t>(std::min<size_t>(room, jobs[group].n_frames - first));
      batch.add(jobs + group, i - group, first, n);
      first += n;
    }
  }
  if (batch.n_floats() > 0) compute(batch);
}

}  // namespace asr
