// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/signals/signals.h"

#include "core/base/error.h"

namespace asr::gpu {

template <typename T>
void Signals::reserve_slots(size_t n_slots, size_t n_min, size_t n_of_slot, Array<T> *array) {
  if (n_slots * n_of_slot <= array->size()) return;
  Array<T> grown(device_.context(), std::max<size_t>(2 * n_slots, n_min) * n_of_slot);
  if (array->size() > 0) device_.compute().copy(*array, &grown, array->size());
  *array = std::move(grown);
}

template <typename T>
void Signals::load(Array<T> *array, const T *values, size_t n) {
  array->reserve(n);
  if (n == 0) return;
  device_.compute().write(*array, 0, values, n);
  device_.compute().finish();
}

Signals::Signals(Device &device, Mfcc &mfcc, const asr_features_view &view)
    : device_(device),
      mfcc_(mfcc),
      numbers_(check_dynamics(view, device.window_frames())),
      n_warps_(view.n_warps),
      noise_dct_(device.context()),
      prior_mean_(device.context()),
      slope_(device.context()),
      transform_(device.context()),
      tap_begin_(device.context()),
      taps_(device.context()),
      plain_(device.context()),
      transforms_(device.context()),
      wholes_(device.context()),
      states_(device.context()),
      staging_(device.pool(), device.context()) {
  const asr_dynamics_view &d = *dynamics_of(view);
  load(&noise_dct_, d.noise_dct, d.noise_dct != nullptr ? size_t{d.n_ceps} * view.n_mel : 0);
  load(&prior_mean_, d.prior_mean, d.n_ceps);
  load(&slope_, d.slope, d.n_slope);
  load(&tap_begin_, d.tap_begin, d.n_values + size_t{1});
  const std::vector<SignalTap> taps = signal_taps(d);
  load(&taps_, taps.data(), taps.size());
  const std::vector<float> transform = transposed_transform(d);
  load(&transform_, transform.data(), transform.size());
  kernels_ = new_kernels();
}

void Signals::reserve_wholes() {
  const size_t n_of_whole = size_t{numbers_.n_whole} * numbers_.n_levels * numbers_.n_ceps;
  reserve_slots(slots_.n_wholes(), 0, n_of_whole, &wholes_);
}

void Signals::reserve_states() { reserve_slots(slots_.n(), 64, numbers_.n_state_doubles, &states_); }

void Signals::reserve_transforms() {
  reserve_slots(slots_.n(), 64, numbers_.n_dims * (numbers_.n_dims + size_t{1}), &transforms_);
}

std::unique_ptr<SignalProgress> Signals::begin(const asr_signal_options &options) {
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

void Signals::step(Acoustic &acoustic, const asr_step_job *jobs, float *const *plain_rows,
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

}  // namespace asr::gpu
