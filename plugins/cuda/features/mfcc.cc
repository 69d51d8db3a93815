// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/features/mfcc.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/base/error.h"
#include "plugins/common/features_view.h"
#include "plugins/gpu/features/mfcc_batches.h"
#include "plugins/gpu/features/mfcc_tiles.h"
#include "plugins/gpu/features/sample_lines.h"

namespace asr::gpu {
namespace {

const double kPi = std::acos(-1.0);
constexpr uint32_t kRadix = 16;
constexpr uint32_t kBlockPoints = 8192;           // complex numbers of all frames of a block
constexpr size_t kBatchFloats = size_t{1} << 28;  // samples and cepstra on the device at once, about

float2 root(double turns) {  // exp(-2 pi i turns)
  return {static_cast<float>(std::cos(2 * kPi * turns)), static_cast<float>(-std::sin(2 * kPi * turns))};
}

// Returns the roots of the passes over lengths n_points, n_points / 16 ... above 16, then those that make one real transform of
// a complex one.
std::vector<float2> make_twiddles(uint32_t n_points) {
  std::vector<float2> roots;
  for (uint32_t n = n_points; n > kRadix; n /= kRadix) {
    for (uint32_t j = 0; j < n / kRadix; ++j) {
      for (uint32_t power = 0; power < kRadix; ++power) roots.push_back(root(double(j) * power / n));
    }
  }
  return roots;
}

std::vector<float2> make_real_twiddles(uint32_t n_points) {
  std::vector<float2> roots;
  for (uint32_t k = 0; k <= n_points / 2; ++k) roots.push_back(root(double(k) / (2 * n_points)));
  return roots;
}

// A pass sends the frequencies with k mod 16 = r to part r of its block; the last pass leaves them in order.
uint32_t position_of(uint32_t k, uint32_t n_points) {
  if (n_points <= kRadix) return k;
  return k % kRadix * (n_points / kRadix) + position_of(k / kRadix, n_points / kRadix);
}

// Returns the bands, and their weights in fours.
std::vector<MfccBand> make_bands(const asr_features_view &view, std::vector<float4> *weights) {
  std::vector<MfccBand> bands;
  for (uint32_t i = 0; i < view.n_warps * view.n_mel; ++i) {
    const asr_mel_band &band = view.mel_bands[i];
    const auto n_fours = (band.n_bins + 3) / 4;
    bands.push_back({band.first_bin, n_fours, static_cast<uint32_t>(weights->size())});
    for (uint32_t four = 0; four < n_fours; ++four) {
      float w[4] = {0, 0, 0, 0};
      const uint32_t n = std::min(4u, band.n_bins - 4 * four);
      std::copy_n(view.mel_weights + band.first_weight + size_t{4} * four, n, w);
      weights->push_back({w[0], w[1], w[2], w[3]});
    }
  }
  return bands;
}

std::vector<float4> make_dct(const asr_features_view &view) {
  std::vector<float4> dct;
  for (uint32_t i = 0; i < view.n_ceps; ++i) {
    const float *const row = view.dct + size_t{i} * view.n_mel;
    const auto at = [&](uint32_t m) { return m < view.n_mel ? row[m] : 0.0f; };
    for (uint32_t m = 0; m < view.n_mel; m += 4) dct.push_back({at(m), at(m + 1), at(m + 2), at(m + 3)});
  }
  return dct;
}

const asr_features_view &checked(const asr_features_view &view) {
  check_features_view(view);
  return view;
}

std::vector<uint4> packed(const std::vector<MfccFour> &fours) {
  std::vector<uint4> result;
  for (const MfccFour &four : fours) result.push_back({four[0], four[1], four[2], four[3]});
  return result;
}

}  // namespace

// Frames that are computed by one launch, as for_each_batch() adds them.
struct Mfcc::Batch {
  Batch(const MfccTables &tables, uint32_t n_ceps) : tables(&tables), n_ceps(n_ceps) {}

  const MfccTables *tables;
  uint32_t n_ceps;  // cepstra of the jobs' frames; tables->n_ceps is the kernel's number
  uint32_t n_lanes = 0;
  size_t n_samples = 0, n_values = 0;
  std::vector<MfccFrames> frames;
  std::vector<MfccOutput> outputs;
  std::vector<Piece<const float>> samples;
  std::vector<Piece<float>> cepstra;

  size_t n_floats() const { return n_samples + n_values; }
  size_t frame_floats(size_t n_jobs) const { return tables->shift_samples + n_ceps * n_jobs; }

  void add(const asr_extract_job *jobs, size_t n_jobs, uint32_t first, uint32_t n) {
    samples.push_back(line_filler(n_samples));
    n_samples += samples.back().n;
    const size_t n_piece = size_t{n - 1} * tables->shift_samples + tables->window_samples + 1;
    frames.push_back({n_samples + 1, jobs[0].first_frame + first, n_lanes, static_cast<uint32_t>(outputs.size()),
                      static_cast<uint32_t>(n_jobs)});
    samples.push_back({jobs[0].samples + size_t{first} * tables->shift_samples - 1, n_piece});
    for (size_t j = 0; j < n_jobs; ++j) {
      outputs.push_back({n_values, jobs[j].warp});
      cepstra.push_back({jobs[j].cepstra + size_t{first} * n_ceps, size_t{n} * n_ceps});
      n_values += size_t{n} * n_ceps;
    }
    n_samples += n_piece;
    n_lanes += n;
  }
};

Mfcc::Plp::Plp(const PlpTables &tables)
    : numbers(tables.numbers),
      loudness(to_device(tables.loudness)),
      autocorrelation(to_device(tables.autocorrelation)),
      weights(to_device(tables.weights)) {}

Mfcc::Sums::Sums(const MfccSums &sums)
    : positions(to_device(sums.positions)),
      edges(to_device(sums.edges)),
      gains(to_device(sums.gains)),
      dct(to_device(packed(sums.dct))),
      tables{positions.data(), edges.data(), sums.gains.empty() ? nullptr : gains.data(),
             dct.data(),       sums.n_steps, sums.first_bin} {}

Mfcc::Mfcc(Device &device, const asr_features_view &view) : Mfcc(device, PlpTables(checked(view))) {}

Mfcc::Mfcc(Device &device, const PlpTables &plp)
    : device_(device),
      n_ceps_(plp.numbers.n_ceps),
      plp_(plp.is_plp ? std::make_unique<Plp>(plp) : nullptr),
      staging_(device.pool(), device.context()) {
  const asr_features_view &view = plp.levels;
  MfccTables &t = tables_;
  t.window_samples = view.window_samples, t.shift_samples = view.shift_samples, t.n_points = view.fft_samples / 2;
  t.n_warps = view.n_warps, t.n_mel = view.n_mel, t.n_ceps = view.n_ceps, t.n_mel_padded = (view.n_mel + 3) / 4 * 4;
  t.preemphasis = view.preemphasis, t.preemphasis_in_frame = view.preemphasis_in_frame;
  t.dc_removal = view.dc_removal, t.magnitude = view.magnitude, t.log_add = view.log_add, t.log_floor = view.log_floor;
  t.energy_row = view.energy_row, t.energy_windowed = view.energy_windowed;
  t.dither = view.dither, t.dither_seed = view.dither_seed;

  std::vector<float4> weights;
  const std::vector<MfccBand> bands = make_bands(view, &weights);
  banks_ = to_device(packed(make_mfcc_banks(view, &t.bank_fours)));
  usual_ = !plp.is_plp && device.has_tensor_cores() && mfcc_n_tiles(t.n_mel) / 2 < kMfcc512HeadFours &&
           t.n_points == kUsualPoints && t.shift_samples % 2 == 0 && t.dither == 0 &&
           t.log_floor + t.log_add >= std::numeric_limits<float>::min() &&
           mfcc_512_shared_bytes(t) + kMfcc512FixedBytes <= device.shared_bytes();
  if (usual_) check(mfcc_512_prepare(mfcc_512_shared_bytes(t)), "preparing the MFCC kernel");
  if (usual_ && device.has_fast_doubles()) {
    if (const std::optional<MfccSums> sums = make_mfcc_sums(view)) sums_ = std::make_unique<Sums>(*sums);
  }
  t.block_frames = std::min(32u, kBlockPoints / t.n_points);
  const size_t shared_bytes = device.shared_bytes() - kMfccFixedBytes;
  while (t.block_frames > 1 && mfcc_shared_bytes(t) > shared_bytes) t.block_frames /= 2;
  if (mfcc_shared_bytes(t) > shared_bytes) {
    fail(ASR_UNSUPPORTED, "features: %u mel bands and %u cepstra do not fit the GPU's shared memory; use the CPU", t.n_mel,
         t.n_ceps);
  }
  check(mfcc_prepare(shared_bytes), "preparing the MFCC kernel");

  std::vector<uint32_t> position;
  for (uint32_t k = 0; k < t.n_points; ++k) position.push_back(position_of(k, t.n_points));
  std::vector<float2> twiddles = make_twiddles(t.n_points);
  const size_t n_pass_twiddles = twiddles.size();
  const std::vector<float2> real_twiddles = make_real_twiddles(t.n_points);
  twiddles.insert(twiddles.end(), real_twiddles.begin(), real_twiddles.end());
  bands_ = to_device(bands);
  weights_ = to_device(weights);
  twiddles_ = to_device(twiddles);
  position_ = to_device(position);
  window_ = to_device(std::vector<float>(view.window, view.window + view.window_samples));
  dct_ = to_device(make_dct(view));
  dct_fragments_ = to_device(packed(make_mfcc_dct(view)));
  t.window = window_.data(), t.position = position_.data(), t.bands = bands_.data(), t.weights = weights_.data();
  t.banks = banks_.data(), t.dct = dct_.data(), t.dct_fragments = dct_fragments_.data(), t.twiddles = twiddles_.data(),
  t.real_twiddles = twiddles_.data() + n_pass_twiddles;
  if (sums_ != nullptr) {
    uint32_t n_blocks = 0;
    check(mfcc_512_sums_blocks(t, sums_->tables, &n_blocks), "preparing the MFCC kernel for many filter banks");
    sums_->n_at_once = n_blocks * device.n_multiprocessors();
  }
}

void Mfcc::extract(const asr_extract_job *jobs, size_t n_jobs) {
  for_each_batch(Batch(tables_, n_ceps_), kBatchFloats, jobs, n_jobs, [&](const Batch &batch) { compute(batch); });
}

void Mfcc::compute(const Batch &batch) {
  Queue &stream = device_.compute();
  samples_.reserve(batch.n_samples + 1);
  cepstra_.reserve(batch.n_values);
  assign(batch.frames, &frames_, stream.get());
  assign(batch.outputs, &outputs_, stream.get());
  staging_.upload(batch.samples, samples_, stream);
  launch({batch.n_lanes, static_cast<uint32_t>(batch.frames.size()), samples_.data(), frames_.data(), outputs_.data(),
          cepstra_.data()},
         static_cast<uint32_t>(batch.n_values / n_ceps_), static_cast<uint32_t>(batch.outputs.size()));
  staging_.download(cepstra_, batch.cepstra, stream);
}

void Mfcc::launch(const MfccBatch &batch, uint32_t n_rows, uint32_t n_outputs) {
  if (plp_ != nullptr) {
    launch_plp(batch, n_rows, n_outputs);
  } else {
    launch_levels(batch);
  }
}

void Mfcc::launch_levels(const MfccBatch &batch) {
  const cudaStream_t stream = device_.compute().get();
  device_.clock().start(stream);
  if (sums_ != nullptr)
    launch_mfcc_512_sums(tables_, sums_->tables, batch, sums_->n_at_once, stream);
  else if (usual_)
    launch_mfcc_512(tables_, batch, device_.n_multiprocessors(), stream);
  else
    launch_mfcc(tables_, batch, stream);
  device_.clock().stop(stream);
}

void Mfcc::launch_plp(const MfccBatch &batch, uint32_t n_rows, uint32_t n_outputs) {
  const cudaStream_t stream = device_.compute().get();
  reserve_amply(n_outputs, &plp_->level_outputs);
  reserve_amply(size_t{n_rows} * plp_->numbers.n_levels, &plp_->levels);
  const PlpBatch rows = {plp_->numbers,
                         n_rows,
                         n_outputs,
                         plp_->loudness.data(),
                         plp_->autocorrelation.data(),
                         plp_->weights.data(),
                         batch.outputs,
                         plp_->level_outputs.data(),
                         plp_->levels.data(),
                         batch.cepstra};
  MfccBatch frames = batch;
  frames.outputs = rows.level_outputs, frames.cepstra = rows.levels;
  device_.clock().start(stream);
  launch_plp_outputs(rows, stream);
  device_.clock().stop(stream);
  launch_levels(frames);
  device_.clock().start(stream);
  gpu::launch_plp(rows, stream);
  device_.clock().stop(stream);
}

}  // namespace asr::gpu
