// SPDX-License-Identifier: Apache-2.0
// The fused step: samples of many signals -> cepstra (mfcc.h) -> rows (kernels/signal.cl) -> scores (acoustic.h), in the
// device's compute queue; nothing comes to the host. One for a loaded front end whose dynamics are described, on devices with
// double precision; used by backend.cc.
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include "plugins/common/ocl/acoustic.h"
#include "plugins/common/ocl/mfcc.h"
#include "plugins/common/signal_plan.h"
#include "plugins/common/staging.h"

namespace asr::ocl {

class Signals {
 public:
  // Whether the view has dynamics, and the device double precision: then there are Signals.
  static bool serves(const Device &device, const asr_features_view &view) {
    return dynamics_of(view) != nullptr && device.facts().has_fp64;
  }
  Signals(Device &device, Mfcc &mfcc, const asr_features_view &view);

  // Compiles the kernels, if the tables fit a work-group's memory, without which no signal can begin. Returns whether they do.
  bool prepare();
  std::unique_ptr<SignalProgress> begin(const asr_signal_options &options);
  void end(std::unique_ptr<SignalProgress> signal) noexcept { slots_.end(std::move(signal)); }
  // progress[i]: of jobs[i], NULL where it has rows of the host.
  void step(Acoustic &acoustic, const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, uint32_t buffer);

 private:
  struct Kernels {
    Kernel frames, rows;
  };
  void make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const DeviceArray<float> &rows);
  void reserve_states();

  Device &device_;
  Mfcc &mfcc_;
  const DynamicsNumbers numbers_;
  const uint32_t n_warps_;
  DeviceArray<DynamicsNumbers> numbers_array_;
  DeviceArray<float> noise_dct_, prior_mean_, slope_, transform_;
  DeviceArray<uint32_t> tap_begin_;
  DeviceArray<SignalTap> taps_;
  std::unique_ptr<Kernels> kernels_;
  SignalSlots slots_;
  DeviceArray<double> states_;
  Staging<Runtime> staging_;
};

}  // namespace asr::ocl
