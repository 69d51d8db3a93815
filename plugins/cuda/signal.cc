// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/signal.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kLeastSlots = 64;
constexpr uint32_t kLineFloats = 32;  // frame 0 of a job begins with a line of 128 bytes
constexpr float kFiller[kLineFloats] = {};

template <typename T>
DeviceArray<T> to_device(const T *values, size_t n) {
  return asr::cuda::to_device(std::vector<T>(values, values + n));
}

// Room for n elements and then some, so that a load that rises seldom frees memory that is in use.
template <typename T>
void reserve_amply(size_t n, DeviceArray<T> *array) {
  if (n > array->size()) array->reserve(n + n / 2);
}

}  // namespace

// What a step's kernels get. Pieces are uploaded one after the other: the jobs, MFCC's tables, then the samples.
struct Signals::Plan {
  std::vector<MfccFrames> frames;
  std::vector<MfccOutput> outputs;
  std::vector<SignalJob> jobs;
  std::vector<Piece<const float>> pieces;
  size_t frames_at = 0, outputs_at = 0, n_floats = 0, n_values = 0;
  uint32_t n_lanes = 0, most_rows = 0;

  template <typename T>
  size_t add(const std::vector<T> &table) {
    const size_t at = n_floats;
    pieces.push_back({reinterpret_cast<const float *>(table.data()), table.size() * sizeof(T) / sizeof(float)});
    n_floats += pieces.back().n;
    return at;
  }
  // Samples from the one before frame 0; gives the place of frame 0.
  size_t add_samples(const float *samples, size_t n) {
    const size_t n_filler = kLineFloats - 1 - n_floats % kLineFloats;
    pieces.push_back({kFiller, n_filler});
    pieces.push_back({samples - 1, n + 1});
    n_floats += n_filler + 1 + n;
    return n_floats - n;
  }
};

Signals::Signals(Device &device, Mfcc &mfcc, const asr_features_view &view)
    : device_(device), mfcc_(mfcc), n_warps_(view.n_warps), staging_(device.pool()) {
  const asr_dynamics_view &d = *dynamics_of(view);
  tables_.n = check_dynamics(view, device.window_frames());
  if (d.noise_dct != nullptr) noise_dct_ = to_device(d.noise_dct, size_t{d.n_ceps} * view.n_mel);
  prior_mean_ = to_device(d.prior_mean, d.n_ceps);
  slope_ = to_device(d.slope, d.n_slope);
  tap_begin_ = to_device(d.tap_begin, d.n_values + 1);
  taps_ = asr::cuda::to_device(signal_taps(d));
  transform_ = asr::cuda::to_device(transposed_transform(d));
  tables_.noise_dct = noise_dct_.data(), tables_.prior_mean = prior_mean_.data(), tables_.slope = slope_.data();
  tables_.tap_begin = tap_begin_.data(), tables_.taps = taps_.data(), tables_.transform = transform_.data();
}

bool Signals::prepare() const {
  return std::max(signal_frames_shared_bytes(tables_.n), signal_rows_shared_bytes(tables_.n)) <= kMaxSignalSharedBytes;
}

std::unique_ptr<SignalProgress> Signals::begin(const asr_signal_options &options) {
  if (!prepare()) {
    fail(ASR_UNSUPPORTED, "signal_begin: %u mel bands and rows of %u values do not fit a block's memory", tables_.n.n_mel,
         tables_.n.n_values);
  }
  return slots_.begin(tables_.n, n_warps_, options);
}

void Signals::step(Acoustic &acoustic, const asr_step_job *jobs, const std::vector<SignalProgress *> &progress,
                   uint32_t buffer) {
  const uint32_t n_rows = check_step(tables_.n, acoustic.n_dims(), jobs, progress, device_.max_rows());
  DeviceArray<float> &rows = acoustic.prepare(n_rows, buffer);
  make_rows(plan(jobs, progress), rows.data());
  for (const HostRows &host : host_rows(jobs, progress, tables_.n.n_dims)) {
    staging_.upload(host.pieces, rows, device_.compute(), size_t{host.first_row} * tables_.n.n_dims);
  }
  acoustic.score_prepared(buffer);
}

Signals::Plan Signals::plan(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress) const {
  Plan plan;
  std::vector<const float *> samples;
  for (size_t i = 0; i < progress.size(); ++i) {
    if (progress[i] == nullptr) continue;
    SignalJob job = progress[i]->take(jobs[i]);
    job.first_value = static_cast<uint32_t>(plan.n_values);
    plan.jobs.push_back(job);
    plan.most_rows = std::max(plan.most_rows, job.n_rows);
    if (job.n_frames == 0) continue;
    plan.frames.push_back({0, job.first_frame, plan.n_lanes, static_cast<uint32_t>(plan.outputs.size()), 1});
    plan.outputs.push_back({plan.n_values, progress[i]->warp()});
    plan.n_lanes += job.n_frames;
    plan.n_values += size_t{job.n_frames} * tables_.n.row_values;
    samples.push_back(jobs[i].samples);
  }
  const MfccTables &mfcc = mfcc_.tables();
  plan.add(plan.jobs);
  plan.frames_at = plan.add(plan.frames);
  plan.outputs_at = plan.add(plan.outputs);
  for (size_t i = 0; i < plan.frames.size(); ++i) {
    const uint32_t end = i + 1 < plan.frames.size() ? plan.frames[i + 1].first_lane : plan.n_lanes;
    const size_t n_shifts = end - plan.frames[i].first_lane - 1;
    plan.frames[i].first_sample = plan.add_samples(samples[i], n_shifts * mfcc.shift_samples + mfcc.window_samples);
  }
  return plan;
}

void Signals::make_rows(const Plan &plan, float *rows) {
  if (plan.jobs.empty()) return;
  const cudaStream_t stream = device_.compute().get();
  reserve_states();
  reserve_amply(plan.n_floats + 1, &given_);
  reserve_amply(plan.n_values, &cepstra_);
  staging_.upload(plan.pieces, given_, device_.compute());
  if (plan.n_lanes > 0) {
    mfcc_.launch({plan.n_lanes, static_cast<uint32_t>(plan.frames.size()), given_.data(),
                  reinterpret_cast<const MfccFrames *>(given_.data() + plan.frames_at),
                  reinterpret_cast<const MfccOutput *>(given_.data() + plan.outputs_at), cepstra_.data()});
  }
  const SignalBatch batch = {reinterpret_cast<const SignalJob *>(given_.data()),
                             static_cast<uint32_t>(plan.jobs.size()),
                             plan.most_rows,
                             cepstra_.data(),
                             states_.data(),
                             rows};
  device_.clock().time(stream, [&] {
    launch_signal_frames(tables_, batch, stream);
    if (plan.most_rows > 0) launch_signal_rows(tables_, batch, stream);
  });
}

// Memory for all slots that were given out; what is in it moves.
void Signals::reserve_states() {
  const size_t n_doubles = size_t{slots_.n()} * tables_.n.n_state_doubles;
  if (n_doubles <= states_.size()) return;
  DeviceArray<double> grown(std::max<size_t>(2 * slots_.n(), kLeastSlots) * tables_.n.n_state_doubles);
  if (states_.size() > 0) {
    check(cudaMemcpyAsync(grown.data(), states_.data(), states_.size() * sizeof(double), cudaMemcpyDeviceToDevice,
                          device_.compute().get()),
          "moving signals");
  }
  states_ = std::move(grown);
}

}  // namespace asr::cuda
