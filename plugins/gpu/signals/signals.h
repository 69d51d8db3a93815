// SPDX-License-Identifier: Apache-2.0
// Signals runs the fused step: samples of many signals become cepstra,
// then rows, then scores, all in the device's compute queue. Only rows that are wanted without a signal's own transform come to
// the host. One for a loaded front end. Each runtime defines what launches the kernels (signal.cc in plugins/cuda/signals and
// plugins/ocl/signals).
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "plugins/gpu/runtime/memory_account.h"
#include "plugins/gpu/runtime/staging.h"
#include "plugins/gpu/scores/acoustic.h"
#include "plugins/gpu/signals/returned_rows.h"
#include "plugins/gpu/signals/signal_plan.h"
#include "runtime/device.h"

namespace asr::gpu {

class Mfcc;

class Signals {
 public:
  // Returns true if the view has dynamics that the device can compute. Defined by each runtime.
  static bool serves(const Device &device, const asr_features_view &view);

  Signals(Device &device, Mfcc &mfcc, const asr_features_view &view);
  Signals(const Signals &) = delete;
  Signals &operator=(const Signals &) = delete;

  // Makes the kernels ready, if the tables fit their memory, without which no signal can begin. Returns true if they do.
  // Defined by each runtime.
  bool prepare();
  std::unique_ptr<SignalProgress> begin(const asr_signal_options &options);
  void end(std::unique_ptr<SignalProgress> signal) noexcept { slots_.end(std::move(signal)); }

  // Runs a step. progress[i] is that of jobs[i], NULL if the job has rows of the host. plain_rows: as in step_with_rows, or
  // NULL; `returned` brings them to the host.
  void step(Acoustic &acoustic, const asr_step_job *jobs, float *const *plain_rows,
            const std::vector<SignalProgress *> &progress, uint32_t buffer, ReturnedRows<Device> *returned);

 private:
  // What each runtime has of its own: tables, arrays, kernels. Defined in its signal.cc.
  struct Kernels;
  std::shared_ptr<Kernels> new_kernels() const;
  // Puts kernels that make the rows of signals into the compute queue. Wanted plain rows go to plain_, too. Defined by each
  // runtime.
  void make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain,
                 Array<float> &rows);

  // Enlarges the memory for all frames of signals when one begins: memory may be exhausted.
  void reserve_wholes();
  // Enlarge the memory of signals, and that of their own transforms, to all slots that were given out.
  void reserve_states();
  void reserve_transforms();
  template <typename T>
  void reserve_slots(size_t n_slots, size_t n_min, size_t n_of_slot, Array<T> *array);
  // Copies a table to the device, complete on return.
  template <typename T>
  void load(Array<T> *array, const T *values, size_t n);

  Device &device_;
  Mfcc &mfcc_;
  const DynamicsNumbers numbers_;
  const uint32_t n_warps_;
  Array<float> noise_dct_, prior_mean_, slope_, transform_;
  Array<uint32_t> tap_begin_;
  Array<SignalTap> taps_;
  Array<float> plain_;       // a step's rows without the signals' own transforms
  Array<float> transforms_;  // [slots][n_dims + 1][n_dims]; empty until a signal has one
  Array<float> wholes_;      // [slots][n_whole][n_levels * n_ceps]
  SignalSlots slots_;
  Array<double> states_;
  Staging<> staging_;
  std::shared_ptr<Kernels> kernels_;  // not shared, but may be destroyed where its type is unknown
};

}  // namespace asr::gpu
