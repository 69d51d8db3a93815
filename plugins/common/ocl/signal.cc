// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/signal.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "plugins/common/ocl/kernels.h"

namespace asr::ocl {
namespace {

constexpr uint32_t kLeastSlots = 64;
constexpr size_t kFrameItems = 64, kRowItems = 64;

template <typename T>
std::vector<T> copy_of(const T *values, size_t n) {
  return values == nullptr ? std::vector<T>() : std::vector<T>(values, values + n);
}

// Local memory of the two kernels, in their own units.
uint32_t n_bands(const DynamicsNumbers &n) { return n.removes_noise != 0 ? n.n_mel : 1; }
uint32_t n_values(const DynamicsNumbers &n) { return n.has_transform != 0 ? n.n_values : 1; }

}  // namespace

Signals::Signals(Device &device, Mfcc &mfcc, const asr_features_view &view)
    : device_(device),
      mfcc_(mfcc),
      numbers_(check_dynamics(view, device.window_frames())),
      n_warps_(view.n_warps),
      numbers_array_(device.context(), std::vector<DynamicsNumbers>{numbers_}),
      noise_dct_(device.context(), copy_of(view.dynamics->noise_dct, size_t{numbers_.n_ceps} * view.n_mel)),
      prior_mean_(device.context(), copy_of(view.dynamics->prior_mean, numbers_.n_ceps)),
      slope_(device.context(), copy_of(view.dynamics->slope, numbers_.n_slope)),
      transform_(device.context(), transposed_transform(*view.dynamics)),
      tap_begin_(device.context(), copy_of(view.dynamics->tap_begin, numbers_.n_values + 1)),
      taps_(device.context(), signal_taps(*view.dynamics)),
      states_(device.context()),
      staging_(device.pool(), device.context()) {}

bool Signals::prepare() {
  const size_t local_bytes = std::max(2 * n_bands(numbers_) * sizeof(double), n_values(numbers_) * sizeof(float));
  if (local_bytes > device_.facts().local_bytes) return false;
  if (kernels_ == nullptr) {
    const Program &program = device_.program(
        kernel_signal, "-D BANDS=" + std::to_string(n_bands(numbers_)) + " -D VALUES=" + std::to_string(n_values(numbers_)));
    kernels_ = std::make_unique<Kernels>(Kernels{program.kernel("signal_frames"), program.kernel("signal_rows")});
  }
  return true;
}

std::unique_ptr<SignalProgress> Signals::begin(const asr_signal_options &options) {
  if (!prepare()) {
    fail(ASR_UNSUPPORTED, "signal_begin: %u mel bands and rows of %u values do not fit a work-group's memory", numbers_.n_mel,
         numbers_.n_values);
  }
  return slots_.begin(numbers_, n_warps_, options);
}

void Signals::step(Acoustic &acoustic, const asr_step_job *jobs, const std::vector<SignalProgress *> &progress,
                   uint32_t buffer) {
  const uint32_t n_rows = check_step(numbers_, acoustic.n_dims(), jobs, progress, device_.max_rows());
  DeviceArray<float> &rows = acoustic.prepare(n_rows, buffer);
  make_rows(jobs, progress, rows);
  for (const HostRows &host : host_rows(jobs, progress, numbers_.n_dims)) {
    staging_.upload(host.pieces, rows, device_.compute(), size_t{host.first_row} * numbers_.n_dims);
  }
  acoustic.score_prepared(buffer);
}

void Signals::make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress,
                        const DeviceArray<float> &rows) {
  std::vector<SignalJob> taken;
  std::vector<asr_extract_job> extracts;
  uint32_t n_frames = 0, most_rows = 0;
  for (size_t i = 0; i < progress.size(); ++i) {
    if (progress[i] == nullptr) continue;
    taken.push_back(progress[i]->take(jobs[i]));
    taken.back().first_value = n_frames * numbers_.row_values;
    n_frames += jobs[i].n_frames;
    most_rows = std::max(most_rows, jobs[i].n_rows);
    if (jobs[i].n_frames == 0) continue;
    extracts.push_back({jobs[i].samples, taken.back().first_frame, jobs[i].n_frames, progress[i]->warp(), nullptr});
  }
  if (taken.empty()) return;
  reserve_states();
  const DeviceArray<float> &cepstra = mfcc_.start(extracts.data(), extracts.size());
  const DeviceArray<SignalJob> on_device(device_.context(), taken);
  kernels_->frames.set(numbers_array_, on_device, noise_dct_, prior_mean_, slope_, cepstra, states_);
  device_.launch(kernels_->frames, {taken.size()}, {kFrameItems});
  if (most_rows == 0) return;
  kernels_->rows.set(numbers_array_, on_device, tap_begin_, taps_, transform_, states_, rows);
  device_.launch(kernels_->rows, {taken.size(), most_rows}, {kRowItems});
}

// Memory for all slots that were given out; what is in it moves.
void Signals::reserve_states() {
  if (size_t{slots_.n()} * numbers_.n_state_doubles <= states_.size()) return;
  DeviceArray<double> grown(device_.context(), std::max<size_t>(2 * slots_.n(), kLeastSlots) * numbers_.n_state_doubles);
  if (states_.size() > 0) device_.compute().copy(states_.get(), 0, grown.get(), 0, states_.size() * sizeof(double));
  states_ = std::move(grown);
}

}  // namespace asr::ocl
