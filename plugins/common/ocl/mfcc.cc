// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/mfcc.h"

#include <algorithm>

#include "plugins/common/features_view.h"
#include "plugins/common/mfcc_batches.h"

namespace asr::ocl {
namespace {

constexpr size_t kBatchFloats = size_t{1} << 26;  // samples and cepstra on the device at once, about

const asr_features_view &checked(const asr_features_view &view) {
  check_features_view(view);
  return view;
}

}  // namespace

Mfcc::Mfcc(Device &device, const asr_features_view &view) : Mfcc(device, MfccTables(checked(view)), view.fft_samples / 2) {}

Mfcc::Mfcc(Device &device, const MfccTables &tables, uint32_t n_points)
    : device_(device),
      options_(tables.options),
      plan_(device, tables.options, n_points),
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
      staging_(device.pool(), device.context()) {}

void Mfcc::extract(const asr_extract_job *jobs, size_t n_jobs) {
  for_each_batch(MfccBatch(options_, plan_.room), kBatchFloats, jobs, n_jobs, [&](const MfccBatch &batch) {
    launch(batch);
    staging_.download(cepstra_, batch.cepstra(), device_.compute());
  });
}

const DeviceArray<float> &Mfcc::start(const asr_extract_job *jobs, size_t n_jobs) {
  MfccBatch batch(options_, plan_.room);
  for (size_t i = 0; i < n_jobs; ++i) batch.add(jobs + i, 1, 0, jobs[i].n_frames);
  if (!batch.groups().empty()) launch(batch);
  return cepstra_;
}

void Mfcc::launch(const MfccBatch &batch) {
  const DeviceArray<MfccGroup> groups(device_.context(), batch.groups());
  const DeviceArray<MfccSegment> segments(device_.context(), batch.segments());
  const DeviceArray<MfccRun> runs(device_.context(), batch.runs());
  const DeviceArray<MfccOutput> outputs(device_.context(), batch.outputs());
  samples_.reserve(batch.n_samples() + 1);
  cepstra_.reserve(batch.n_values());
  staging_.upload(batch.samples(), samples_, device_.compute());
  const auto n_groups = static_cast<uint32_t>(batch.groups().size());
  if (plan_.in_registers) {
    plan_.kernel.set(options_array_, window_, twiddles_, real_twiddles_, banks_, dct_tiles_, n_groups, groups, segments, runs,
                     outputs, samples_, cepstra_);
  } else {
    plan_.kernel.set(options_array_, pairs_, twiddles_, real_twiddles_, bands_, weights_, dct_, groups, segments, outputs,
                     samples_, cepstra_);
  }
  device_.launch(plan_.kernel, {std::min(n_groups, plan_.most_groups)}, {plan_.group_size});
}

}  // namespace asr::ocl
