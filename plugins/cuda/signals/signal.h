// SPDX-License-Identifier: Apache-2.0
// The fused step on the GPU: samples of many signals -> cepstra (mfcc.h) -> rows (signal.cu) -> scores (acoustic.h).
// Tables and samples go up through pinned buffers in turn. Nothing is waited for, unless memory has to grow. One for a loaded
// front end; used by entry.cc.
#pragma once

#include <vector>

#include "plugins/cuda/features/mfcc.h"
#include "plugins/cuda/scores/acoustic.h"
#include "plugins/cuda/signals/signal_launch.h"
#include "plugins/gpu/signals/signals.h"

namespace asr::cuda {

class Signals : public DeviceSignals<Device, Acoustic> {
 public:
  // Returns true if the view has dynamics.
  static bool serves(const Device &, const asr_features_view &view) { return dynamics_of(view) != nullptr; }
  Signals(Device &device, Mfcc &mfcc, const asr_features_view &view);

  bool prepare() override;

 private:
  void reserve_wholes() override { reserve_wholes_of(); }
  struct Plan;
  Plan plan(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain) const;
  void make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain,
                 DeviceArray<float> &rows) override;

  Mfcc &mfcc_;
  const SignalTables tables_;
  DeviceArray<float> given_, cepstra_;  // a step's uploaded tables and samples, and its cepstra
};

}  // namespace asr::cuda
