// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/ocl/mfcc.h"

#include <algorithm>

#include "core/base/error.h"
#include "plugins/common/features_view.h"
#include "plugins/common/ocl/kernels.h"

namespace asr::ocl {
namespace {

constexpr uint32_t kPointsAnItem = 16, kMostFrames = 64;
constexpr size_t kBatchFloats = size_t{1} << 26;  // samples and cepstra on the device at once, about

const asr_features_view &checked(const asr_features_view &view) {
  check_features_view(view);
  return view;
}

// Local memory holds samples and a sum an item, then transforms, then spectra with what is made of them.
MfccRoom room_of(const Device &device, const MfccOptions &options, uint32_t n_points) {
  const uint32_t n_frames = std::clamp(device.variant().mfcc_points / n_points, 1u, kMostFrames);
  const size_t rows = size_t{2} * n_points * n_frames, n_items = size_t{n_points} * n_frames / kPointsAnItem;
  const size_t spectra = size_t{n_points + 4 + options.n_mel_padded + options.n_ceps} * n_frames;
  const size_t n_floats = (std::max({rows, spectra, MfccBatch::local_floats(options, 1) + n_items}) + 1) / 2 * 2;
  if (n_floats * sizeof(float) > device.facts().local_bytes) {
    fail(ASR_UNSUPPORTED, "features: %u mel bands and %u cepstra do not fit the device's local memory; use the CPU",
         options.n_mel, options.n_ceps);
  }
  return {n_frames, n_floats - n_items};
}

// Compilers of CPUs take very long over the unrolled transforms, so that there a program serves all front ends of its sizes.
const Program &program(Device &device, const MfccOptions &o, uint32_t n_points, MfccRoom room) {
  std::string options = format("-DN_POINTS=%u -DFRAMES=%u -DDITHER=%d -DLOCAL_FLOATS=%zu", n_points, room.n_frames,
                               o.dither > 0 ? 1 : 0, room.sample_floats + size_t{n_points} * room.n_frames / kPointsAnItem);
  if (device.facts().is_gpu) {
    options +=
        format(" -DWINDOW_SAMPLES=%uu -DSHIFT_SAMPLES=%uu -DN_MEL=%uu -DN_CEPS=%uu -DDC_REMOVAL=%u -DENERGY=%u -DMAGNITUDE=%u",
               o.window_samples, o.shift_samples, o.n_mel, o.n_ceps, o.dc_removal, o.energy, o.magnitude);
  }
  if (device.facts().is_cpu) options += " -cl-opt-disable";
  return device.program(kernel_mfcc, options);
}

bool same_frames(const asr_extract_job &a, const asr_extract_job &b) {
  return a.samples == b.samples && a.n_frames == b.n_frames && a.first_frame == b.first_frame;
}

}  // namespace

Mfcc::Mfcc(Device &device, const asr_features_view &view) : Mfcc(device, MfccTables(checked(view)), view.fft_samples / 2) {}

Mfcc::Mfcc(Device &device, const MfccTables &tables, uint32_t n_points)
    : device_(device),
      options_(tables.options),
      n_points_(n_points),
      room_(room_of(device, tables.options, n_points)),
      kernel_(program(device, tables.options, n_points, room_).kernel("mfcc")),
      options_array_(device.context(), std::vector<MfccOptions>{tables.options}),
      pairs_(device.context(), tables.pairs),
      twiddles_(device.context(), tables.twiddles),
      real_twiddles_(device.context(), tables.real_twiddles),
      bands_(device.context(), tables.bands),
      weights_(device.context(), tables.weights),
      dct_(device.context(), tables.dct),
      samples_(device.context()),
      cepstra_(device.context()),
      staging_(device.context(), device.pool()) {}

void Mfcc::extract(const asr_extract_job *jobs, size_t n_jobs) {
  MfccBatch batch(options_, room_);
  for (size_t i = 0; i < n_jobs;) {
    const size_t group = i++;
    while (i < n_jobs && same_frames(jobs[group], jobs[i])) ++i;
    const size_t floats_a_frame = options_.shift_samples + size_t{options_.n_ceps} * (i - group);
    for (uint32_t first = 0; first < jobs[group].n_frames;) {
      if (batch.n_floats() >= kBatchFloats) {
        compute(batch);
        batch = MfccBatch(options_, room_);
      }
      const size_t room = (kBatchFloats - batch.n_floats()) / floats_a_frame + 1;
      const auto n = static_cast<uint32_t>(std::min<size_t>(room, jobs[group].n_frames - first));
      batch.add(jobs + group, i - group, first, n);
      first += n;
    }
  }
  if (!batch.groups().empty()) compute(batch);
}

void Mfcc::compute(const MfccBatch &batch) {
  const DeviceArray<MfccGroup> groups(device_.context(), batch.groups());
  const DeviceArray<MfccSegment> segments(device_.context(), batch.segments());
  const DeviceArray<MfccOutput> outputs(device_.context(), batch.outputs());
  samples_.reserve(batch.n_samples());
  cepstra_.reserve(batch.n_values());
  staging_.upload(batch.samples(), samples_, device_.compute());
  const size_t group_size = size_t{n_points_} * room_.n_frames / kPointsAnItem;
  kernel_.set(options_array_, pairs_, twiddles_, real_twiddles_, bands_, weights_, dct_, groups, segments, outputs, samples_,
              cepstra_);
  device_.launch(kernel_, {batch.groups().size()}, {group_size});
  staging_.download(cepstra_, batch.cepstra(), device_.compute());
}

}  // namespace asr::ocl
