// SPDX-License-Identifier: Apache-2.0
// The fused step on the GPU: samples of many signals -> cepstra (mfcc.h) -> rows (signal.cu) -> scores (acoustic.h).
// Tables and samples go up through pinned buffers in turn. Nothing is waited for, unless memory has to grow.
#include "plugins/gpu/signals/signals.h"

#include <algorithm>

#include "plugins/cuda/features/mfcc.h"
#include "plugins/cuda/signals/signal_launch.h"
#include "plugins/gpu/features/sample_lines.h"

namespace asr::gpu {

namespace {

// The input of a step's kernels. Pieces are uploaded one after the other: the jobs, MFCC's tables, the
// signals' new transforms, then the samples.
struct Plan {
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

Plan make_plan(const MfccTables &mfcc, const DynamicsNumbers &numbers, const asr_step_job *jobs,
               const std::vector<SignalProgress *> &progress, const PlainRows &plain) {
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
    plan.n_values += size_t{job.n_frames} * numbers.row_values;
    samples.push_back(jobs[i].samples);
  }
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

}  // namespace

struct Signals::Kernels {
  SignalTables tables;
  Array<float> given, cepstra;  // a step's uploaded tables and samples, and its cepstra
};

bool Signals::serves(const Device &, const asr_features_view &view) { return dynamics_of(view) != nullptr; }

std::shared_ptr<Signals::Kernels> Signals::new_kernels() const {
  const SignalTables tables = {numbers_,          noise_dct_.data(), prior_mean_.data(), slope_.data(),
                               tap_begin_.data(), taps_.data(),      transform_.data()};
  return std::make_shared<Kernels>(Kernels{tables, {}, {}});
}

bool Signals::prepare() {
  return std::max(signal_frames_shared_bytes(numbers_), signal_rows_shared_bytes(numbers_)) <= kMaxSignalSharedBytes;
}

void Signals::make_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, const PlainRows &plain,
                        Array<float> &rows) {
  const Plan plan = make_plan(mfcc_.tables(), numbers_, jobs, progress, plain);
  if (plan.jobs.empty()) return;
  const cudaStream_t stream = device_.compute().get();
  Array<float> &given = kernels_->given, &cepstra = kernels_->cepstra;
  reserve_states();
  if (plan.has_transforms) reserve_transforms();
  reserve_amply(plan.n_floats + 1, &given);
  reserve_amply(plan.n_values, &cepstra);
  staging_.upload(plan.pieces, given, device_.compute());
  if (plan.n_lanes > 0) {
    mfcc_.launch({plan.n_lanes, static_cast<uint32_t>(plan.frames.size()), given.data(),
                  reinterpret_cast<const MfccFrames *>(given.data() + plan.frames_at),
                  reinterpret_cast<const MfccOutput *>(given.data() + plan.outputs_at), cepstra.data()});
  }
  const SignalBatch batch = {reinterpret_cast<const SignalJob *>(given.data()),
                             static_cast<uint32_t>(plan.jobs.size()),
                             plan.max_rows,
                             cepstra.data(),
                             states_.data(),
                             rows.data(),
                             plain_.data(),
                             given.data(),
                             transforms_.data(),
                             wholes_.data()};
  device_.clock().start(stream);
  launch_signal_frames(kernels_->tables, batch, stream);
  if (plan.max_rows > 0) launch_signal_rows(kernels_->tables, batch, stream);
  device_.clock().stop(stream);
}

}  // namespace asr::gpu
