// SPDX-License-Identifier: Apache-2.0
// The fused step: samples of many signals -> cepstra (mfcc.h) -> rows (signal.cl) -> scores (acoustic.h). One for a
// loaded front end whose dynamics are described, on devices with double precision; used by backend.cc.
#pragma once

#include <memory>
#include <vector>

#include "plugins/gpu/signals/signals.h"
#include "plugins/ocl/features/mfcc.h"
#include "plugins/ocl/scores/acoustic.h"

namespace asr::ocl {

class Signals : public DeviceSignals<Device, Acoustic> {
 public:
  // Returns true if the view has dynamics, and the device double precision.
  static bool serves(const Device &device, const asr_features_view &view) {
    return dynamics_of(view) != nullptr && device.facts().has_fp64;
  }
  Signals(Device &device, Mfcc &mfcc, const asr_features_view &view);

  bool prepare() override;  // compiles the kernels

 private:
  struct Kernels {
    Kernel frames, rows;
  };
  void reserve_wholes() override { reserve_wholes_of(device_.context()); }
  void make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain,
                 DeviceArray<float> &rows) override;

  Mfcc &mfcc_;
  DeviceArray<DynamicsNumbers> numbers_array_;
  std::unique_ptr<Kernels> kernels_;
};

}  // namespace asr::ocl
