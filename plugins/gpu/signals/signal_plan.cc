// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/signals/signal_plan.h"

#include <algorithm>

#include "core/base/error.h"

namespace asr {
namespace {

// Returns the number of frames that a row looks back, or a level at the one below.
uint32_t lookback_of(const asr_dynamics_view &d) {
  int64_t frames = d.n_slope / 2;
  for (uint32_t i = 0; i < d.tap_begin[d.n_values]; ++i) frames = std::max(frames, -int64_t{d.taps[i].offset});
  return static_cast<uint32_t>(frames);
}

void check_taps(const asr_dynamics_view &d) {
  for (uint32_t i = 0; i < d.tap_begin[d.n_values]; ++i) {
    const asr_dynamic_tap &tap = d.taps[i];
    const int64_t needs = int64_t{tap.offset} + int64_t{tap.column / d.n_ceps} * (d.n_slope / 2);
    if (tap.column / d.n_ceps < d.n_levels && needs <= int64_t{d.lookahead}) continue;
    fail(ASR_INVALID_ARGUMENT, "dynamics: tap %u takes column %u at %d of %u levels of %u, looking ahead %u frames", i,
         tap.column, tap.offset, d.n_levels, d.n_ceps, d.lookahead);
  }
}

// Returns the columns of a matrix, one after the other.
std::vector<float> transposed(const float *matrix, uint32_t n_rows, uint32_t n_cols) {
  std::vector<float> columns;
  columns.reserve(size_t{n_rows} * n_cols);
  for (uint32_t j = 0; j < n_cols; ++j) {
    for (uint32_t i = 0; i < n_rows; ++i) columns.push_back(matrix[size_t{i} * n_cols + j]);
  }
  return columns;
}

}  // namespace

const asr_dynamics_view *dynamics_of(const asr_features_view &view) {
  const bool is_there = view.size >= offsetof(asr_features_view, dynamics) + sizeof(view.dynamics);
  return is_there ? view.dynamics : nullptr;
}

DynamicsNumbers check_dynamics(const asr_features_view &view, uint32_t window_frames) {
  const asr_dynamics_view &d = *dynamics_of(view);
  const bool removes_noise = d.noise_dct != nullptr;
  if (d.n_ceps == 0 || d.n_levels == 0 || d.n_values == 0 || view.n_ceps != (removes_noise ? view.n_mel : d.n_ceps)) {
    fail(ASR_INVALID_ARGUMENT, "dynamics: %u levels of %u cepstra give %u values of what MFCC has %u of", d.n_levels, d.n_ceps,
         d.n_values, view.n_ceps);
  }
  const uint32_t n_cols = d.transform_cols;
  if (d.transform != nullptr ? n_cols != d.n_values && n_cols != d.n_values + 1 : d.n_dims != d.n_values) {
    fail(ASR_INVALID_ARGUMENT, "dynamics: %u values do not become %u by a transform of %u columns", d.n_values, d.n_dims,
         n_cols);
  }
  check_taps(d);
  DynamicsNumbers n{};
  n.prior_frames = d.prior_frames, n.window_frames = d.window_frames;
  n.log_add = view.log_add, n.log_floor = view.log_floor;
  n.n_ceps = d.n_ceps, n.n_mel = view.n_mel, n.row_values = view.n_ceps, n.removes_noise = removes_noise;
  n.counted_cepstrum = d.counted_cepstrum;
  n.n_levels = d.n_levels, n.n_slope = d.n_slope, n.n_values = d.n_values, n.n_dims = d.n_dims;
  n.transform_cols = n_cols, n.has_transform = d.transform != nullptr;
  n.lookahead = d.lookahead;
  const bool knows_whole = d.size >= offsetof(asr_dynamics_view, whole_variance) + sizeof(d.whole_variance);
  n.whole_variance = knows_whole ? d.whole_variance : 0, n.n_whole = kMaxWholeFrames;
  n.max_waiting = 2 * window_frames + d.lookahead;
  n.n_ring = lookback_of(d) + n.max_waiting;
  const uint32_t n_floats = n.n_ring * n.n_levels * n.n_ceps;
  n.n_state_doubles = 3 * n.n_ceps + (removes_noise ? 4 * n.n_mel : 0) + (n_floats + 1) / 2;
  return n;
}

std::vector<SignalTap> signal_taps(const asr_dynamics_view &d) {
  std::vector<SignalTap> taps;
  for (uint32_t i = 0; i < d.tap_begin[d.n_values]; ++i) {
    taps.push_back({d.taps[i].offset, d.taps[i].column, d.taps[i].weight, 0});
  }
  return taps;
}

std::vector<float> transposed_transform(const asr_dynamics_view &d) {
  return d.transform != nullptr ? transposed(d.transform, d.n_dims, d.transform_cols) : std::vector<float>();
}

bool is_whole(const asr_signal_options &options) {
  const bool is_there = options.size >= offsetof(asr_signal_options, normalise_whole) + sizeof(options.normalise_whole);
  return is_there && options.normalise_whole != 0 && options.normalise_live == 0;
}

SignalProgress::SignalProgress(const DynamicsNumbers &numbers, uint32_t n_warps, const asr_signal_options &options,
                               uint32_t slot, uint32_t whole_slot)
    : numbers_(numbers),
      slot_(slot),
      warp_(options.warp),
      live_(options.normalise_live != 0),
      is_whole_(asr::is_whole(options)),
      whole_slot_(whole_slot) {
  if (warp_ >= n_warps) fail(ASR_INVALID_ARGUMENT, "signal_begin: there is no filter bank %u of %u", warp_, n_warps);
}

void SignalProgress::check(const asr_step_job &job) const {
  if (ended_ && job.n_frames > 0) fail(ASR_INVALID_STATE, "step: frames after the end of a signal; begin another");
  const uint64_t n_frames = uint64_t{n_frames_} + job.n_frames, n_rows = uint64_t{n_rows_} + job.n_rows;
  if (is_whole_ && n_frames > numbers_.n_whole) {
    fail(ASR_INVALID_ARGUMENT, "step: a signal of %llu frames cannot be normalised as a whole; at most %u can",
         static_cast<unsigned long long>(n_frames), numbers_.n_whole);
  }
  if (!is_whole_ && n_frames - n_rows_ > numbers_.max_waiting) {
    fail(ASR_INVALID_ARGUMENT, "step: %llu frames of a signal would wait for their rows; at most %u may",
         static_cast<unsigned long long>(n_frames - n_rows_), numbers_.max_waiting);
  }
  const bool at_end = ended_ || job.ends != 0;
  const uint64_t n_hidden = at_end ? 0 : is_whole_ ? n_frames : numbers_.lookahead;
  if (n_rows + n_hidden > n_frames && job.n_rows > 0) {
    fail(ASR_INVALID_ARGUMENT, "step: %llu rows are wanted of a signal with %llu frames%s",
         static_cast<unsigned long long>(n_rows), static_cast<unsigned long long>(n_frames),
         at_end ? "" : " that has not ended");
  }
}

SignalJob SignalProgress::take(const asr_step_job &job) {
  SignalJob taken{};
  taken.slot = slot_;
  taken.begins = n_frames_ == 0, taken.live = live_;
  taken.first_frame = n_frames_, taken.n_frames = job.n_frames;
  taken.ends = job.ends != 0 || ended_, taken.ended = ended_;
  taken.first_row = n_rows_, taken.n_rows = job.n_rows, taken.to_row = job.first_row;
  taken.whole = is_whole_, taken.whole_slot = whole_slot_;
  taken.transforms = has_transform_, taken.new_transform = taken.to_plain = kNowhere;
  n_frames_ += job.n_frames, n_rows_ += job.n_rows;
  ended_ = taken.ends != 0;
  return taken;
}

void SignalProgress::set_transform(const float *transform) {
  new_transform_.clear();
  if (transform != nullptr) new_transform_ = transposed(transform, numbers_.n_dims, numbers_.n_dims + 1);
  has_transform_ = transform != nullptr;
}

std::unique_ptr<SignalProgress> SignalSlots::begin(const DynamicsNumbers &numbers, uint32_t n_warps,
                                                   const asr_signal_options &options) {
  const bool is_whole = asr::is_whole(options);
  if (is_whole && wholes_.free.empty() && wholes_.n == kMaxWholeSignals) {
    fail(ASR_OUT_OF_MEMORY, "signal_begin: %u signals are normalised as a whole at a time, no more", kMaxWholeSignals);
  }
  const uint32_t slot = all_.next(), whole_slot = is_whole ? wholes_.next() : 0;
  auto signal = std::make_unique<SignalProgress>(numbers, n_warps, options, slot, whole_slot);
  all_.free.pop_back();
  if (is_whole) wholes_.free.pop_back();
  return signal;
}

uint32_t SignalSlots::Slots::next() {
  if (free.empty()) free.push_back(n++);
  return free.back();
}

void SignalSlots::end(std::unique_ptr<SignalProgress> signal) noexcept {
  try {
    all_.free.push_back(signal->slot());  // work under way on it precedes that of its next owner
    if (signal->is_whole()) wholes_.free.push_back(signal->whole_slot());
  } catch (...) {  // then it stays unused
  }
}

uint32_t check_step_rows(const asr_step_job *jobs, size_t n_jobs, uint32_t max_rows) {
  uint64_t n_rows = 0;
  for (size_t i = 0; i < n_jobs; ++i) {
    if (jobs[i].first_row != n_rows) {
      fail(ASR_INVALID_ARGUMENT, "step: the rows of job %zu begin at %u; those before end at %llu", i, jobs[i].first_row,
           static_cast<unsigned long long>(n_rows));
    }
    n_rows += jobs[i].n_rows;
  }
  if (n_rows > max_rows) {
    fail(ASR_INVALID_ARGUMENT, "step: %llu rows are more than max_lanes * window_frames = %u",
         static_cast<unsigned long long>(n_rows), max_rows);
  }
  return static_cast<uint32_t>(n_rows);
}

uint32_t check_step(const DynamicsNumbers &numbers, uint32_t n_model_dims, const asr_step_job *jobs, float *const *plain_rows,
                    const std::vector<SignalProgress *> &progress, uint32_t max_rows) {
  const uint32_t n_rows = check_step_rows(jobs, progress.size(), max_rows);
  if (n_model_dims != numbers.n_dims) {
    fail(ASR_INVALID_ARGUMENT, "step: rows have %u values, the acoustic model takes %u", numbers.n_dims, n_model_dims);
  }
  for (size_t i = 0; i < progress.size(); ++i) {
    if (progress[i] != nullptr) progress[i]->check(jobs[i]);
    if (progress[i] == nullptr && plain_rows != nullptr && plain_rows[i] != nullptr) {
      fail(ASR_INVALID_ARGUMENT, "step: job %zu has no signal, whose rows could be returned", i);
    }
  }
  return n_rows;
}

PlainRows wanted_rows(const asr_step_job *jobs, float *const *plain_rows, size_t n_jobs, uint32_t n_dims) {
  PlainRows wanted;
  if (plain_rows == nullptr) return wanted;
  wanted.first_rows.assign(n_jobs, kNowhere);
  for (size_t i = 0; i < n_jobs; ++i) {
    if (plain_rows[i] == nullptr) continue;
    wanted.first_rows[i] = static_cast<uint32_t>(wanted.n_floats / n_dims);
    wanted.pieces.push_back({plain_rows[i], size_t{jobs[i].n_rows} * n_dims});
    wanted.n_floats += wanted.pieces.back().n;
  }
  return wanted;
}

std::vector<HostRows> host_rows(const asr_step_job *jobs, const std::vector<SignalProgress *> &progress, uint32_t n_dims) {
  std::vector<HostRows> all;
  bool follows_host_rows = false;
  for (size_t i = 0; i < progress.size(); ++i) {
    if (jobs[i].n_rows == 0) continue;
    const bool has_host_rows = progress[i] == nullptr;
    if (has_host_rows && !follows_host_rows) all.push_back({jobs[i].first_row, {}});
    if (has_host_rows) all.back().pieces.push_back({jobs[i].rows, size_t{jobs[i].n_rows} * n_dims});
    follows_host_rows = has_host_rows;
  }
  return all;
}

}  // namespace asr
