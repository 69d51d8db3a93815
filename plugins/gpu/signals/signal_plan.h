// SPDX-License-Identifier: Apache-2.0
// SignalProgress counts a signal's frames and rows on the host in the fused step, and makes the job that the kernels get. Used
// by the GPU back ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend/asr_backend_signals.h"
#include "plugins/gpu/runtime/piece.h"
#include "plugins/gpu/signals/signal_types.h"

namespace asr {

// Returns the view's dynamics; NULL if it has none or is older than them.
const asr_dynamics_view *dynamics_of(const asr_features_view &view);
// Returns whether a signal is normalised as a whole; older callers do not know of that.
bool is_whole(const asr_signal_options &options);

constexpr uint32_t kMaxWholeFrames = 4096;   // 41 s at 100 frames a second
constexpr uint32_t kMaxWholeSignals = 1024;  // at a time: 213 MB for 13 cepstra
// Throws if the tables contradict each other.
DynamicsNumbers check_dynamics(const asr_features_view &view, uint32_t window_frames);

// Return tables in the kernels' layout: taps, and the transform as [transform_cols][n_dims], so that neighbouring threads read
// neighbouring values.
std::vector<SignalTap> signal_taps(const asr_dynamics_view &dynamics);
std::vector<float> transposed_transform(const asr_dynamics_view &dynamics);

class SignalProgress {
 public:
  SignalProgress(const DynamicsNumbers &numbers, uint32_t n_warps, const asr_signal_options &options, uint32_t slot,
                 uint32_t whole_slot = 0);

  uint32_t slot() const { return slot_; }
  bool is_whole() const { return is_whole_; }  // normalised as a whole, with a slot for all frames
  uint32_t whole_slot() const { return whole_slot_; }
  uint32_t warp() const { return warp_; }
  // Throws if the signal cannot do the job.
  void check(const asr_step_job &job) const;
  // Counts a checked job. The caller sets first_value, new_transform and to_plain.
  SignalJob take(const asr_step_job &job);

  // Sets the transform of later rows [n_dims][n_dims + 1], or none if NULL. The device gets it with the next job.
  void set_transform(const float *transform);
  // Returns the transform that the device has not got, in the kernels' layout; empty: none.
  const std::vector<float> &new_transform() const { return new_transform_; }
  void forget_new_transform() noexcept { new_transform_.clear(); }

 private:
  const DynamicsNumbers &numbers_;
  const uint32_t slot_, warp_;
  const bool live_, is_whole_;
  const uint32_t whole_slot_;
  bool ended_ = false, has_transform_ = false;
  std::vector<float> new_transform_;
  uint32_t n_frames_ = 0, n_rows_ = 0;
};

// Assigns slots of a device's memory to signals. New signals get the slots of ended ones.
class SignalSlots {
 public:
  std::unique_ptr<SignalProgress> begin(const DynamicsNumbers &numbers, uint32_t n_warps, const asr_signal_options &options);
  void end(std::unique_ptr<SignalProgress> signal) noexcept;
  // Slots ever given out: for all signals, and for signals that are normalised as a whole.
  uint32_t n() const { return all_.n; }
  uint32_t n_wholes() const { return wholes_.n; }

 private:
  struct Slots {
    std::vector<uint32_t> free;
    uint32_t n = 0;
    uint32_t next();  // stays free until it is taken
  };
  Slots all_, wholes_;
};

// Returns the number of the jobs' rows. Throws unless they follow each other from row 0 on and fit.
uint32_t check_step_rows(const asr_step_job *jobs, size_t n_jobs, uint32_t max_rows);
// Throws as check_step_rows() does. Throws also unless the rows suit an acoustic model of n_model_dims and the signals can do
// the jobs. progress[i] is that of jobs[i], NULL if the job has rows of the host. plain_rows: as in step_with_rows, or NULL.
uint32_t check_step(const DynamicsNumbers &numbers, uint32_t n_model_dims, const asr_step_job *jobs, float *const *plain_rows,
                    const std::vector<SignalProgress *> &progress, uint32_t max_rows);

// PlainRows is the rows that a step returns to the host, without the signals' own transforms.
struct PlainRows {
  std::vector<uint32_t> first_rows;  // first row of each job, or kNowhere; empty: no job's rows are wanted
  std::vector<Piece<float>> pieces;  // on the host, in the order of the rows
  size_t n_floats = 0;

  uint32_t first_row(size_t job) const { return first_rows.empty() ? kNowhere : first_rows[job]; }
};
// plain_rows: as in step_with_rows, or NULL.
PlainRows wanted_rows(const asr_step_job *jobs, float *const *plain_rows, size_t n_jobs, uint32_t n_dims);

// HostRows is rows of the host that a step copies to the features; neighbouring jobs' rows are copied together.
struct HostRows {
  uint32_t first_row;
  std::vector<Piece<const float>> pieces;
};
std::vector<HostRows> host_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, uint32_t n_dims);

}  // namespace asr
