// SPDX-License-Identifier: Apache-2.0
// The host's counts of a signal in the fused step: the frames that exist, the rows that can be made, and the job that the
// kernels get. Used by the GPU back ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend/asr_backend_signals.h"
#include "plugins/common/kernels/signal_types.h"
#include "plugins/common/staging.h"

namespace asr {

// NULL where the view has none, or is older than them.
const asr_dynamics_view *dynamics_of(const asr_features_view &view);
// Throws where the tables contradict each other.
DynamicsNumbers check_dynamics(const asr_features_view &view, uint32_t window_frames);

// The tables that kernels read in another form than the view has them: taps, and the transform as [transform_cols][n_dims], so
// that threads beside each other read values beside each other.
std::vector<SignalTap> signal_taps(const asr_dynamics_view &dynamics);
std::vector<float> transposed_transform(const asr_dynamics_view &dynamics);

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

// Assigns slots of a device's memory to signals. Signals that end leave theirs to those that begin.
class SignalSlots {
 public:
  std::unique_ptr<SignalProgress> begin(const DynamicsNumbers &numbers, uint32_t n_warps, const asr_signal_options &options);
  void end(std::unique_ptr<SignalProgress> signal) noexcept;
  uint32_t n() const { return n_; }  // that were ever given out

 private:
  std::vector<uint32_t> free_;
  uint32_t n_ = 0;
};

// Throws unless the jobs' rows follow each other from row 0 on and fit; gives their number.
uint32_t check_step_rows(const asr_step_job *jobs, size_t n_jobs, uint32_t max_rows);
// Throws as check_step_rows() does, or unless the rows suit an acoustic model of n_model_dims and the signals can do what the
// jobs want. progress[i]: of jobs[i], NULL where it has rows of the host.
uint32_t check_step(const DynamicsNumbers &numbers, uint32_t n_model_dims, const asr_step_job *jobs,
                    const std::vector<SignalProgress *> &progress, uint32_t max_rows);

// Rows of the host that a step brings to its features: those of jobs next to each other together.
struct HostRows {
  uint32_t first_row;
  std::vector<Piece<const float>> pieces;
};
std::vector<HostRows> host_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, uint32_t n_dims);

}  // namespace asr
