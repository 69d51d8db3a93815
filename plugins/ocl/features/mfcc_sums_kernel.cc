// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/features/mfcc_sums_kernel.h"

#include <algorithm>

namespace asr::gpu {
namespace {

constexpr uint32_t kCapability = 9;  // Hopper's, for which alone the kernels are compiled
constexpr uint32_t kGroupSize = 128, kGroupsAtOnce = 4;
constexpr uint32_t kUsualLeast = 384, kUsualMost = 416;  // samples of a window of the kernel for usual ones

const char *kernel_name(uint32_t window_samples) {
  return window_samples >= kUsualLeast && window_samples <= kUsualMost ? "mfcc_512_sums_usual" : "mfcc_512_sums_any";
}

const KernelSource *source_of(const Device &device, const MfccSums &sums) {
  return device.variant().mfcc_sums[(sums.n_steps < kSumsMostSteps ? 0 : 1) + (sums.gains.empty() ? 0 : 2)];
}

}  // namespace

std::unique_ptr<MfccSumsKernel> MfccSumsKernel::make(Device &device, const asr_features_view &view, const MfccTables &tables) {
  if (device.facts().nvidia_capability != kCapability) return nullptr;
  const std::optional<MfccSums> sums = make_mfcc_sums(view);
  if (!sums) return nullptr;
  const KernelSource *const source = source_of(device, *sums);
  const char *const name = kernel_name(view.window_samples);
  if (source == nullptr || device.optional_kernel(*source, "", name, "filter banks are multiplied one by one") == nullptr)
    return nullptr;
  return std::unique_ptr<MfccSumsKernel>(new MfccSumsKernel(device, view, tables, *sums, device.program(*source)));
}

MfccSumsKernel::MfccSumsKernel(Device &device, const asr_features_view &view, const MfccTables &tables, const MfccSums &sums,
                               const Program &program)
    : device_(device),
      window_(device.context(), std::vector<float>(view.window, view.window + view.window_samples)),
      twiddles_(device.context(), tables.twiddles),
      real_twiddles_(device.context(), tables.real_twiddles),
      positions_(device.context(), sums.positions),
      edges_(device.context(), sums.edges),
      gains_(device.context(), sums.gains.empty() ? std::vector<float>{1} : sums.gains),
      dct_(device.context(), sums.dct),
      kernel_(program.kernel(kernel_name(view.window_samples))) {
  MfccSumsOptions &o = options_;
  o.window_samples = view.window_samples, o.shift_samples = view.shift_samples, o.n_ceps = view.n_ceps;
  o.preemphasis = view.preemphasis, o.log_add = view.log_add, o.log_floor = view.log_floor;
  o.preemphasis_in_frame = view.preemphasis_in_frame, o.dc_removal = view.dc_removal, o.magnitude = view.magnitude;
  o.energy_windowed = view.energy_windowed, o.energy_row = view.energy_row;
  o.first_bin = sums.first_bin;
}

void MfccSumsKernel::launch(const MfccBatch &batch, const Array<MfccOutput> &outputs, const Array<float> &samples,
                            const Array<float> &cepstra) const {
  MfccSumsOptions options = options_;
  options.n_lanes = batch.n_lanes(), options.n_frames_entries = static_cast<uint32_t>(batch.frames().size());
  const Array<MfccFrames> frames(device_.context(), batch.frames());
  kernel_.set(options, window_, twiddles_, real_twiddles_, positions_, edges_, gains_, dct_, frames, outputs, samples, cepstra);
  const uint32_t n_groups = (options.n_lanes + kSumsFrames - 1) / kSumsFrames;
  device_.launch(kernel_, {std::min(n_groups, kGroupsAtOnce * device_.facts().n_compute_units)}, {kGroupSize});
}

}  // namespace asr::gpu
