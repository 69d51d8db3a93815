// SPDX-License-Identifier: Apache-2.0
// The kernels of the fused step (signal.cl), for devices with double precision.
#include "plugins/gpu/signals/signals.h"

#include <algorithm>
#include <string>

#include "core/base/error.h"
#include "plugins/ocl/features/mfcc.h"
#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {
namespace {

constexpr size_t kFrameItems = 64, kRowItems = 64;

// Local memory of the two kernels, in their own units.
uint32_t n_bands(const DynamicsNumbers &n) { return n.removes_noise != 0 ? n.n_mel : 1; }
uint32_t n_values(const DynamicsNumbers &n) { return n.has_transform != 0 ? n.n_values : 1; }

}  // namespace

struct Signals::Kernels {
  struct Compiled {
    Kernel frames, rows;
  };
  Array<DynamicsNumbers> numbers;
  std::unique_ptr<Compiled> compiled;  // by prepare()
};

bool Signals::serves(const Device &device, const asr_features_view &view) {
  return dynamics_of(view) != nullptr && device.facts().has_fp64;
}

std::shared_ptr<Signals::Kernels> Signals::new_kernels() const {
  return std::make_shared<Kernels>(
      Kernels{Array<DynamicsNumbers>(device_.context(), std::vector<DynamicsNumbers>{numbers_}), nullptr});
}

bool Signals::prepare() {
  const size_t row_bytes = (n_values(numbers_) + numbers_.n_dims) * sizeof(float);
  const size_t local_bytes = std::max(2 * size_t{n_bands(numbers_)} * sizeof(double), row_bytes);
  if (local_bytes > device_.facts().local_bytes) return false;
  if (kernels_->compiled == nullptr) {
    std::string options = format("-D BANDS=%u -D VALUES=%u -D DIMS=%u", n_bands(numbers_), n_values(numbers_), numbers_.n_dims);
    if (device_.facts().is_cpu) options += " -cl-opt-disable";  // CPUs' compilers take seconds otherwise, for each front end
    const Program &program = device_.program(kernel_signal, options);
    kernels_->compiled =
        std::make_unique<Kernels::Compiled>(Kernels::Compiled{program.kernel("signal_frames"), program.kernel("signal_rows")});
  }
  return true;
}

void Signals::make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain,
                        Array<float> &rows) {
  std::vector<SignalJob> taken;
  std::vector<asr_extract_job> extracts;
  std::vector<float> new_transforms;
  bool has_transforms = false;
  uint32_t n_frames = 0, max_rows = 0;
  for (size_t i = 0; i < progress.size(); ++i) {
    if (progress[i] == nullptr) continue;
    taken.push_back(progress[i]->take(jobs[i]));
    SignalJob &job = taken.back();
    job.first_value = n_frames * numbers_.row_values;
    job.to_plain = plain.first_row(i);
    has_transforms = has_transforms || job.transforms != 0;
    if (const std::vector<float> &transform = progress[i]->new_transform(); !transform.empty()) {
      job.new_transform = static_cast<uint32_t>(new_transforms.size());
      new_transforms.insert(new_transforms.end(), transform.begin(), transform.end());
    }
    n_frames += jobs[i].n_frames;
    max_rows = std::max(max_rows, jobs[i].n_rows);
    if (jobs[i].n_frames == 0) continue;
    extracts.push_back({jobs[i].samples, job.first_frame, jobs[i].n_frames, progress[i]->warp(), nullptr});
  }
  if (taken.empty()) return;
  reserve_states();
  if (has_transforms) reserve_transforms();
  const Array<float> &cepstra = mfcc_.start(extracts.data(), extracts.size());
  const Array<SignalJob> on_device(device_.context(), taken);
  const Array<float> given(device_.context(), new_transforms);
  const Kernel &frames = kernels_->compiled->frames, &row = kernels_->compiled->rows;
  frames.set(kernels_->numbers, on_device, noise_dct_, prior_mean_, slope_, cepstra, states_, given, transforms_, wholes_);
  device_.launch(frames, {taken.size()}, {kFrameItems});
  if (max_rows == 0) return;
  row.set(kernels_->numbers, on_device, tap_begin_, taps_, transform_, transforms_, states_, wholes_, rows, plain_);
  device_.launch(row, {taken.size(), max_rows}, {kRowItems});
}

}  // namespace asr::gpu
