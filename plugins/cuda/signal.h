// SPDX-License-Identifier: Apache-2.0
// The fused step on the GPU: samples of many signals -> cepstra (mfcc.h) -> rows (kernels/signal.cu) -> scores (acoustic.h), in
// the device's compute stream. What the host gives goes up through pinned buffers in turn; nothing comes down and nothing is
// waited for, unless memory has to grow. One for a loaded front end; used by entry.cc.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "plugins/common/signal_plan.h"
#include "plugins/common/staging.h"
#include "plugins/cuda/acoustic.h"
#include "plugins/cuda/kernels/signal.h"
#include "plugins/cuda/mfcc.h"

namespace asr::cuda {

class Signals {
 public:
  // Whether the view has dynamics: then there are Signals.
  static bool serves(const Device &, const asr_features_view &view) { return dynamics_of(view) != nullptr; }
  Signals(Device &device, Mfcc &mfcc, const asr_features_view &view);

  // Whether the tables fit a block's memory, without which no signal can begin.
  bool prepare() const;
  std::unique_ptr<SignalProgress> begin(const asr_signal_options &options);
  void end(std::unique_ptr<SignalProgress> signal) noexcept { slots_.end(std::move(signal)); }
  // progress[i]: of jobs[i], NULL where it has rows of the host.
  void step(Acoustic &acoustic, const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, uint32_t buffer);

 private:
  struct Plan;
  Plan plan(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress) const;
  void make_rows(const Plan &plan, float *rows);
  void reserve_states();

  Device &device_;
  Mfcc &mfcc_;
  SignalTables tables_{};
  const uint32_t n_warps_;
  DeviceArray<float> noise_dct_, prior_mean_, slope_, transform_;
  DeviceArray<uint32_t> tap_begin_;
  DeviceArray<SignalTap> taps_;
  SignalSlots slots_;
  DeviceArray<double> states_;
  DeviceArray<float> given_, cepstra_;  // what was uploaded for a step: tables and samples; what MFCC makes of it
  Staging<Runtime> staging_;
};

}  // namespace asr::cuda
