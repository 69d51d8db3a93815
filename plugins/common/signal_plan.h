// SPDX-License-Identifier: Apache-2.0
// What a back end with the fused step keeps count of on the host: which frames of a signal are there, which rows can be made,
// and the job that its kernels get. Used by the GPU back ends; a signal's memory is a slot of `n_state_doubles` doubles:
//
//   live normalisation: mean[n_ceps] sum[n_ceps] count[n_ceps]
//   noise removal, if any: power[n_mel] noise[n_mel] floor[n_mel] peak[n_mel]
//   floats: levels[n_ring][n_levels * n_ceps], frame t in row t % n_ring
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/backend/asr_backend.h"

namespace asr {

// The numbers of an asr_dynamics_view, and of a signal's memory.
struct DynamicsNumbers {
  double prior_frames, window_frames;
  float log_add, log_floor;
  uint32_t n_ceps, n_mel;
  uint32_t row_values;  // of a frame that MFCC gives: n_ceps, or n_mel with noise removal
  uint32_t removes_noise;
  int32_t counted_cepstrum;
  uint32_t n_levels, n_slope, n_values, n_dims, transform_cols, has_transform;
  uint32_t lookahead, n_ring, n_state_doubles;
  uint32_t max_waiting;  // most frames of which no row is made

  uint32_t n_columns() const { return n_levels * n_ceps; }
};

// NULL where the view has none, or is older than them.
const asr_dynamics_view *dynamics_of(const asr_features_view &view);
// Throws where the tables contradict each other.
DynamicsNumbers check_dynamics(const asr_features_view &view, uint32_t window_frames);

// A signal's part of a step, as kernels read it. Frames and rows are counted from the signal's first.
struct SignalJob {
  uint32_t slot;
  uint32_t begins, live;  // no frame was there before; its cepstra are normalised
  uint32_t first_frame, n_frames;
  uint32_t ends, ended;  // now; before
  uint32_t first_value;  // of its first frame, in the cepstra of the step
  uint32_t first_row, n_rows;
  uint32_t to_row;  // in the score buffer
};

class SignalProgress {
 public:
  SignalProgress(const DynamicsNumbers &numbers, uint32_t n_warps, const asr_signal_options &options, uint32_t slot);

  uint32_t slot() const { return slot_; }
  uint32_t warp() const { return warp_; }
  // Throws where the signal cannot do what a job wants.
  void check(const asr_step_job &job) const;
  // Counts a job that was checked; first_value is left to the caller.
  SignalJob take(const asr_step_job &job);

 private:
  const DynamicsNumbers &numbers_;
  const uint32_t slot_, warp_;
  const bool live_;
  bool ended_ = false;
  uint32_t n_frames_ = 0, n_rows_ = 0;
};

// Throws unless the jobs' rows follow each other from row 0 on and fit; gives their number.
uint32_t check_step_rows(const asr_step_job *jobs, size_t n_jobs, uint32_t max_rows);

}  // namespace asr
