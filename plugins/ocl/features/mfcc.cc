// SPDX-License-Identifier: Apache-2.0
#include "plugins/ocl/features/mfcc.h"

#include <algorithm>

#include "plugins/common/features_view.h"
#include "plugins/gpu/features/mfcc_batches.h"
#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {
namespace {

constexpr size_t kBatchFloats = size_t{1} << 26;  // samples and cepstra on the device at once, about
constexpr uint32_t kPlpItems = 64;

const asr_features_view &checked(const asr_features_view &view) {
  check_features_view(view);
  return view;
}

}  // namespace

Mfcc::Plp::Plp(Device &device, const PlpTables &tables)
    : kernel(device.program(kernel_mfcc_plp).kernel("mfcc_plp")),
      numbers(device.context(), std::vector<PlpNumbers>{tables.numbers}),
      loudness(device.context(), tables.loudness),
      autocorrelation(device.context(), tables.autocorrelation),
      weights(device.context(), tables.weights),
      levels(device.context()) {}

Mfcc::Mfcc(Device &device, const asr_features_view &view) : Mfcc(device, PlpTables(checked(view))) {}

Mfcc::Mfcc(Device &device, const PlpTables &plp) : Mfcc(device, plp, MfccTables(plp.levels)) {}

Mfcc::Mfcc(Device &device, const PlpTables &plp, const MfccTables &tables)
    : device_(device),
      options_(tables.options),
      n_ceps_(plp.numbers.n_ceps),
      plan_(device, tables.options, plp.levels.fft_samples / 2, plp.is_plp),
      options_array_(device.context(), std::vector<MfccOptions>{tables.options}),
      pairs_(device.context(), tables.pairs),
      window_(device.context(), tables.window),
      twiddles_(device.context(), tables.twiddles),
      real_twiddles_(device.context(), tables.real_twiddles),
      bands_(device.context(), tables.bands),
      weights_(device.context(), tables.weights),
      dct_(device.context(), tables.dct),
      banks_(device.context(), tables.banks),
      dct_tiles_(device.context(), tables.dct_tiles),
      samples_(device.context()),
      cepstra_(device.context()),
      plp_(plp.is_plp ? std::make_unique<Plp>(device, plp) : nullptr),
      sums_(plan_.in_registers ? MfccSumsKernel::make(device, plp.levels, tables) : nullptr),
      staging_(device.pool(), device.context()) {}

void Mfcc::extract(const asr_extract_job *jobs, size_t n_jobs) {
  for_each_batch(MfccBatch(options_, n_ceps_, plan_.room), kBatchFloats, jobs, n_jobs, [&](const MfccBatch &batch) {
    launch(batch);
    staging_.download(cepstra_, batch.cepstra(), device_.compute());
  });
}

const Array<float> &Mfcc::start(const asr_extract_job *jobs, size_t n_jobs) {
  MfccBatch batch(options_, n_ceps_, plan_.room);
  for (size_t i = 0; i < n_jobs; ++i) batch.add(jobs + i, 1, 0, jobs[i].n_frames);
  if (!batch.groups().empty()) launch(batch);
  return cepstra_;
}

void Mfcc::launch(const MfccBatch &batch) {
  const Array<MfccOutput> outputs(device_.context(), batch.outputs());
  samples_.reserve(batch.n_samples() + 1);
  cepstra_.reserve(batch.n_rows() * n_ceps_);
  staging_.upload(batch.samples(), samples_, device_.compute());
  if (sums_ != nullptr) return sums_->launch(batch, outputs, samples_, cepstra_);
  const Array<MfccGroup> groups(device_.context(), batch.groups());
  const Array<MfccSegment> segments(device_.context(), batch.segments());
  const Array<MfccRun> runs(device_.context(), batch.runs());
  if (plp_ != nullptr) plp_->levels.reserve(batch.n_values());
  const Array<float> &values = plp_ != nullptr ? plp_->levels : cepstra_;
  const auto n_groups = static_cast<uint32_t>(batch.groups().size());
  if (plan_.in_registers) {
    plan_.kernel.set(options_array_, window_, twiddles_, real_twiddles_, banks_, dct_tiles_, n_groups, groups, segments, runs,
                     outputs, samples_, values);
  } else {
    plan_.kernel.set(options_array_, pairs_, twiddles_, real_twiddles_, bands_, weights_, dct_, groups, segments, outputs,
                     samples_, values);
  }
  device_.launch(plan_.kernel, {std::min(n_groups, plan_.max_groups)}, {plan_.group_size});
  if (plp_ != nullptr) launch_plp(batch, outputs);
}

void Mfcc::launch_plp(const MfccBatch &batch, const Array<MfccOutput> &outputs) {
  const auto n_rows = static_cast<uint32_t>(batch.n_rows()), n_outputs = static_cast<uint32_t>(batch.outputs().size());
  plp_->kernel.set(plp_->numbers, n_rows, n_outputs, outputs, plp_->loudness, plp_->autocorrelation, plp_->weights,
                   plp_->levels, cepstra_);
  device_.launch(plp_->kernel, {(n_rows + kPlpItems - 1) / kPlpItems}, {kPlpItems});
}

}  // namespace asr::gpu
