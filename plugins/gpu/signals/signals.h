// SPDX-License-Identifier: Apache-2.0
// DeviceSignals runs the fused step of a back end whose device has memory of its own. Samples of many signals become cepstra,
// then rows, then scores, all in the device's compute queue. Only rows that are wanted without a signal's own transform come to
// the host. A back end's Signals is derived from it and launches the kernels.
#pragma once

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "plugins/gpu/runtime/memory_account.h"
#include "plugins/gpu/runtime/staging.h"
#include "plugins/gpu/signals/returned_rows.h"
#include "plugins/gpu/signals/signal_plan.h"

namespace asr {

template <typename Device, typename Acoustic>
class DeviceSignals {
 public:
  using Runtime = typename Device::Runtime;
  template <typename T>
  using Array = typename Runtime::template DeviceArray<T>;

  virtual ~DeviceSignals() = default;

  // Makes the kernels ready, if the tables fit their memory, without which no signal can begin. Returns true if they do.
  virtual bool prepare() = 0;
  std::unique_ptr<SignalProgress> begin(const asr_signal_options &options) {
    if (!prepare()) {
      fail(ASR_UNSUPPORTED, "signal_begin: %u mel bands and rows of %u values do not fit the memory of a block of threads",
           numbers_.n_mel, numbers_.n_values);
    }
    std::unique_ptr<SignalProgress> signal = slots_.begin(numbers_, n_warps_, options);
    if (!signal->is_whole()) return signal;
    try {
      const MemoryAccount::Modest modest(device_.account());  // else the host makes the rows
      reserve_wholes();
    } catch (...) {
      end(std::move(signal));
      throw;
    }
    return signal;
  }
  void end(std::unique_ptr<SignalProgress> signal) noexcept { slots_.end(std::move(signal)); }

  // Runs a step. progress[i] is that of jobs[i], NULL if the job has rows of the host. plain_rows: as in step_with_rows, or
  // NULL; `returned` brings them to the host.
  void step(Acoustic &acoustic, const asr_step_job *jobs, float *const *plain_rows,
            const std::vector<SignalProgress *> &progress, uint32_t buffer, ReturnedRows<Device> *returned) {
    const uint32_t n_rows = check_step(numbers_, acoustic.n_dims(), jobs, plain_rows, progress, device_.max_rows());
    Array<float> &rows = acoustic.prepare(n_rows, buffer);
    const PlainRows plain = wanted_rows(jobs, plain_rows, progress.size(), numbers_.n_dims);
    if (plain.n_floats > plain_.size()) plain_.reserve(plain.n_floats + plain.n_floats / 2);
    make_rows(jobs, progress, plain, rows);
    for (SignalProgress *signal : progress) {
      if (signal != nullptr) signal->forget_new_transform();
    }
    returned->start(plain_, plain.pieces, plain.n_floats);
    for (const HostRows &host : host_rows(jobs, progress, numbers_.n_dims)) {
      staging_.upload(host.pieces, rows, device_.compute(), size_t{host.first_row} * numbers_.n_dims);
    }
    acoustic.score_prepared(buffer);
  }

 protected:
  // The view has dynamics. `context`: arguments of the Runtime's arrays.
  template <typename... Context>
  DeviceSignals(Device &device, const asr_features_view &view, const Context &...context)
      : device_(device),
        numbers_(check_dynamics(view, device.window_frames())),
        n_warps_(view.n_warps),
        noise_dct_(context...),
        prior_mean_(context...),
        slope_(context...),
        transform_(context...),
        tap_begin_(context...),
        taps_(context...),
        plain_(context...),
        transforms_(context...),
        wholes_(context...),
        states_(context...),
        staging_(device.pool(), context...) {
    const asr_dynamics_view &d = *dynamics_of(view);
    load(&noise_dct_, d.noise_dct, d.noise_dct != nullptr ? size_t{d.n_ceps} * view.n_mel : 0);
    load(&prior_mean_, d.prior_mean, d.n_ceps);
    load(&slope_, d.slope, d.n_slope);
    load(&tap_begin_, d.tap_begin, d.n_values + size_t{1});
    const std::vector<SignalTap> taps = signal_taps(d);
    load(&taps_, taps.data(), taps.size());
    const std::vector<float> transform = transposed_transform(d);
    load(&transform_, transform.data(), transform.size());
  }

  // Puts kernels that make the rows of signals into the compute queue. Wanted plain rows go to plain_, too.
  virtual void make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain,
                         Array<float> &rows) = 0;

  // Enlarges the memory for all frames of signals by the function below, when one begins: memory may be exhausted.
  virtual void reserve_wholes() = 0;
  template <typename... Context>
  void reserve_wholes_of(const Context &...context) {
    const size_t n_of_whole = size_t{numbers_.n_whole} * numbers_.n_levels * numbers_.n_ceps;
    reserve_slots(slots_.n_wholes(), 0, n_of_whole, &wholes_, context...);
  }

  // Enlarge the memory of signals, and that of their own transforms, to all slots that were given out.
  template <typename... Context>
  void reserve_states(const Context &...context) {
    reserve_slots(slots_.n(), 64, numbers_.n_state_doubles, &states_, context...);
  }
  template <typename... Context>
  void reserve_transforms(const Context &...context) {
    reserve_slots(slots_.n(), 64, numbers_.n_dims * (numbers_.n_dims + size_t{1}), &transforms_, context...);
  }

  Device &device_;
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
  Staging<Runtime> staging_;

 private:
  template <typename T, typename... Context>
  void reserve_slots(size_t n_slots, size_t n_min, size_t n_of_slot, Array<T> *array, const Context &...context) {
    if (n_slots * n_of_slot <= array->size()) return;
    Array<T> grown(context..., std::max<size_t>(2 * n_slots, n_min) * n_of_slot);
    if (array->size() > 0) device_.compute().copy(*array, &grown, array->size());
    *array = std::move(grown);
  }

  // Copies a table to the device, complete on return.
  template <typename T>
  void load(Array<T> *array, const T *values, size_t n) {
    array->reserve(n);
    if (n == 0) return;
    device_.compute().write(*array, 0, values, n);
    device_.compute().finish();
  }
};

}  // namespace asr
