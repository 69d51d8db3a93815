// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/features/mfcc_batch.h"

#include <algorithm>

#include "plugins/gpu/features/sample_lines.h"

namespace asr::gpu {

// Counts the sample before the first, the samples with their padding, and a zero behind them.
size_t MfccBatch::local_floats(const MfccOptions &options, uint32_t n_frames) {
  const size_t n = size_t{n_frames - 1} * options.shift_samples + options.window_samples;
  return 1 + options.padding + n + n / options.shift_samples * options.padding + 1;
}

// Returns how many of n frames still fit the last work-group.
uint32_t MfccBatch::frames_that_fit(uint32_t n) const {
  if (groups_.empty()) return 0;
  n = std::min(n, room_.n_frames - groups_.back().n_lanes);
  while (n > 0 && local_used_ + local_floats(options_, n) > room_.sample_floats) --n;
  return n;
}

// Adds lanes to the last work-group's last run, or begins a run if the banks differ. The group does not count these lanes yet.
void MfccBatch::add_to_run(uint32_t n_lanes, uint32_t first_output, uint32_t n_outputs) {
  MfccGroup &group = groups_.back();
  const auto same_banks = [&](const MfccRun &run) {
    const auto first = outputs_.begin() + run.first_output;
    return std::equal(first, first + run.n_outputs, outputs_.begin() + first_output,
                      outputs_.begin() + first_output + n_outputs,
                      [](const MfccOutput &a, const MfccOutput &b) { return a.warp == b.warp; });
  };
  if (group.n_runs == 0 || !same_banks(runs_.back())) {
    runs_.push_back({group.n_lanes, 0, first_output, n_outputs});
    ++group.n_runs;
  }
  runs_.back().n_lanes += n_lanes;
}

void MfccBatch::add(const asr_extract_job *jobs, size_t n_jobs, uint32_t first, uint32_t n) {
  const uint32_t shift = options_.shift_samples;
  samples_.push_back(line_filler(n_samples_));
  n_samples_ += samples_.back().n;
  const auto first_output = static_cast<uint32_t>(outputs_.size()), n_outputs = static_cast<uint32_t>(n_jobs);
  for (size_t j = 0; j < n_jobs; ++j) {
    outputs_.push_back({n_values(), jobs[j].warp, 0});
    cepstra_.push_back({jobs[j].cepstra + size_t{first} * n_ceps_, size_t{n} * n_ceps_});
    n_rows_ += n;
  }
  frames_.push_back({n_samples_ + 1, jobs[0].first_frame + first, n_lanes_, first_output, n_outputs});
  n_lanes_ += n;
  for (uint32_t done = 0; done < n;) {
    uint32_t n_now = frames_that_fit(n - done);
    if (n_now == 0) {
      groups_.push_back({static_cast<uint32_t>(segments_.size()), 0, 0, 0, static_cast<uint32_t>(runs_.size()), 0, {}});
      local_used_ = 0;
      n_now = frames_that_fit(n - done);
    }
    add_to_run(n_now, first_output, n_outputs);
    MfccGroup &group = groups_.back();
    segments_.push_back({n_samples_ + 1 + uint64_t{done} * shift, jobs[0].first_frame + first + done, group.n_lanes, n_now,
                         static_cast<uint32_t>(local_used_), done, first_output, n_outputs, 0});
    local_used_ += local_floats(options_, n_now);
    ++group.n_segments;
    group.n_lanes += n_now;
    group.n_outputs = std::max(group.n_outputs, n_outputs);
    done += n_now;
  }
  const size_t n_piece = size_t{n - 1} * shift + options_.window_samples + 1;
  samples_.push_back({jobs[0].samples + size_t{first} * shift - 1, n_piece});
  n_samples_ += n_piece;
}

}  // namespace asr::gpu
