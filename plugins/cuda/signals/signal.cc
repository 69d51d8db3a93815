// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/signals/signal.h"

#include <algorithm>

#include "plugins/gpu/features/sample_lines.h"

namespace asr::cuda {

// The input of a step's kernels. Pieces are uploaded one after the other: the jobs, MFCC's tables, the
// signals' new transforms, then the samples.
struct Signals::Plan {
  std::vector<MfccFrames> frames;
  std::vector<MfccOutput> outputs;
  std::vector<SignalJob> jobs;
  std::vector<Piece<const float>> pieces;
  size_t frames_at = 0, outputs_at = 0, n_floats = 0, n_values = 0;
  uint32_t n_lanes = 0, max_rows = 0;
  bool has_transforms = false;

  template <typename T>
  size_t add(const std::vector<T> &table) {
    const size_t at = n_floats;
    pieces.push_back({reinterpret_cast<const float *>(table.data()), table.size() * sizeof(T) / sizeof(float)});
    n_floats += pieces.back().n;
    return at;
  }
  // Adds samples from the one before frame 0 on; returns the offset of frame 0.
  size_t add_samples(const float *samples, size_t n) {
    pieces.push_back(line_filler(n_floats));
    n_floats += pieces.back().n + 1 + n;
    pieces.push_back({samples - 1, n + 1});
    return n_floats - n;
  }
};

Signals::Signals(Device &device, Mfcc &mfcc, const asr_features_view &view)
    : DeviceSignals(device, view), mfcc_(mfcc), tables_{numbers_,          noise_dct_.data(), prior_mean_.data(), slope_.data(),
                                                        tap_begin_.data(), taps_.data(),      transform_.data()} {}

bool Signals::prepare() {
  return std::max(signal_frames_shared_bytes(numbers_), signal_rows_shared_bytes(numbers_)) <= kMaxSignalSharedBytes;
}

Signals::Plan Signals::plan(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress,
                            const PlainRows &plain) const {
  Plan plan;
  std::vector<const float *> samples;
  std::vector<const std::vector<float> *> transforms;
  for (size_t i = 0; i < progress.size(); ++i) {
    if (progress[i] == nullptr) continue;
    SignalJob job = progress[i]->take(jobs[i]);
    job.first_value = static_cast<uint32_t>(plan.n_values);
    job.to_plain = plain.first_row(i);
    plan.has_transforms = plan.has_transforms || job.transforms != 0;
    transforms.push_back(&progress[i]->new_transform());
    plan.jobs.push_back(job);
    plan.max_rows = std::max(plan.max_rows, job.n_rows);
    if (job.n_frames == 0) continue;
    plan.frames.push_back({0, job.first_frame, plan.n_lanes, static_cast<uint32_t>(plan.outputs.size()), 1});
    plan.outputs.push_back({plan.n_values, progress[i]->warp()});
    plan.n_lanes += job.n_frames;
    plan.n_values += size_t{job.n_frames} * numbers_.row_values;
    samples.push_back(jobs[i].samples);
  }
  const MfccTables &mfcc = mfcc_.tables();
  plan.add(plan.jobs);
  plan.frames_at = plan.add(plan.frames);
  plan.outputs_at = plan.add(plan.outputs);
  for (size_t i = 0; i < transforms.size(); ++i) {
    if (!transforms[i]->empty()) plan.jobs[i].new_transform = static_cast<uint32_t>(plan.add(*transforms[i]));
  }
  for (size_t i = 0; i < plan.frames.size(); ++i) {
    const uint32_t end = i + 1 < plan.frames.size() ? plan.frames[i + 1].first_lane : plan.n_lanes;
    const size_t n_shifts = end - plan.frames[i].first_lane - 1;
    plan.frames[i].first_sample = plan.add_samples(samples[i], n_shifts * mfcc.shift_samples + mfcc.window_samples);
  }
  return plan;
}

void Signals::make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain,
                        DeviceArray<float> &rows) {
  const Plan plan = this->plan(jobs, progress, plain);
  if (plan.jobs.empty()) return;
  const cudaStream_t stream = device_.compute().get();
  reserve_states();
  if (plan.has_transforms) reserve_transforms();
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
                             plan.max_rows,
                             cepstra_.data(),
                             states_.data(),
                             rows.data(),
                             plain_.data(),
                             given_.data(),
                             transforms_.data(),
                             wholes_.data()};
  device_.clock().time(stream, [&] {
    launch_signal_frames(tables_, batch, stream);
    if (plan.max_rows > 0) launch_signal_rows(tables_, batch, stream);
  });
}

}  // namespace asr::cuda
