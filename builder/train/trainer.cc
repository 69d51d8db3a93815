// SPDX-License-Identifier: Apache-2.0
#include "builder/train/trainer.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "builder/train/semi_tied.h"
#include "builder/train/shared_covariances.h"
#include "core/base/error.h"

namespace asr::train {
namespace {

std::string too_short(uint32_t n_frames, size_t n_states) {
  return format("its %u frames are fewer than the %zu states of its words and of silence around them; check its transcript",
                n_frames, n_states);
}

}  // namespace

uint32_t max_gaussians(const AcousticModel &model) {
  uint32_t most = 1;
  for (const asr_gmm_codebook &codebook : model.codebooks) most = std::max(most, codebook.n_gaussians);
  return most;
}

Trainer::Trainer(const Device &device, const HmmSet &set, const TranscriptGraphs &graphs, RowsFile *rows,
                 const std::vector<TrainingUtterance> &utterances, ThreadPool *pool, TrainingReports reports)
    : device_(device),
      set_(set),
      graphs_(graphs),
      utterances_(utterances),
      pool_(pool),
      reports_(std::move(reports)),
      rows_file_(rows),
      device_sums_(DeviceSums::of(device)),
      rows_{rows->n_dims(), rows->map(), std::vector<uint32_t>(rows->n_rows(), kNoState), {}, device_sums_.get()},
      by_length_(utterances.size()) {
  std::iota(by_length_.begin(), by_length_.end(), size_t{0});
  std::stable_sort(by_length_.begin(), by_length_.end(),
                   [&](size_t a, size_t b) { return utterances[a].n_rows < utterances[b].n_rows; });
}

AcousticModel Trainer::train(const AcousticModel &start, const Recipe &recipe, const std::string &source) {
  const std::vector<TrainingStep> steps = steps_of(recipe, max_gaussians(start));
  n_steps_ = steps.size();
  step_ = 0;
  transform_.clear();
  MixtureModel model = first_model(start, recipe);
  for (const TrainingStep &step : steps) {
    ++step_;
    run(step, recipe, source, &model);
  }
  return to_acoustic_model(model, source);
}

// The moments of the data are taken over all rows. From a flat start, utterances too short for their words are left
// out.
MixtureModel Trainer::first_model(const AcousticModel &start, const Recipe &recipe) {
  rows_.shares.clear();
  if (recipe.flat) {
    align_in_equal_stretches();
  } else {
    std::fill(rows_.states.begin(), rows_.states.end(), 0);
  }
  const Moments moments = moments_of(rows_, pool_);
  estimate_.min_frames = recipe.min_frames;
  estimate_.smooth = recipe.smooth;
  estimate_.weight_prior = recipe.weight_prior;
  estimate_.variance_floor = floor_of(moments.variance, recipe.variance_floor);
  if (!recipe.flat) return to_mixtures(start);
  return flat_start(start, phone_groups(set_), moments.mean, floor_of(moments.variance, 1));
}

void Trainer::run(const TrainingStep &step, const Recipe &recipe, const std::string &source, MixtureModel *model) {
  if (!step.equal_stretches) align(to_acoustic_model(*model, source), recipe);
  if (step.unties) untie(model);
  if (step.makes_full) make_full(model);
  if (model->full && model->sharing != recipe.sharing) {
    begin_sharing(recipe.sharing, recipe.n_covariance_classes, recipe.shares_correlations, pool_, model);
  }
  if (step.transforms) estimate_transform(recipe, model);
  if (step.n_gaussians > 0) split_all(step.n_gaussians, recipe, model);
  for (uint32_t round = 1; round <= step.n_rounds; ++round) {
    report(1, "estimating");
    if (model->full && recipe.smooth_to_shared) estimate_.correlations = mean_correlations(*model);
    RoundReport result{step_, n_steps_, round, model->n_gaussians(), left_out_.size(), 0};
    sum([&] { result.log_likelihood = em_round(rows_, estimate_, pool_, model) / static_cast<double>(rows_.n_used()); });
    reports_.round(result);
  }
}

// Runs work that sums statistics. A failure of the device is told even if the work fails, which it may explain.
template <typename Work>
void Trainer::sum(const Work &work) {
  try {
    work();
  } catch (...) {
    warn_of_device();
    throw;
  }
  warn_of_device();
}

void Trainer::warn_of_device() {
  if (!device_sums_ || device_sums_->failure().empty() || std::exchange(has_warned_, true)) return;
  reports_.warning(device_sums_->failure() + "; the host sums the statistics from here on, with the same result");
}

// Rows, model and variance floor are converted to the new features.
void Trainer::estimate_transform(const Recipe &recipe, MixtureModel *model) {
  report(1, "estimating the transform");
  std::vector<double> matrix;
  sum([&] { matrix = make_semi_tied(rows_, estimate_, pool_, model); });
  transform_ = transform_.empty() ? matrix : product(matrix, transform_, model->n_dims);
  rows_file_->transform(matrix, pool_);
  if (device_sums_) device_sums_->forget_rows();
  estimate_.variance_floor = floor_of(moments_of(rows_, pool_).variance, recipe.variance_floor);
}

void Trainer::split_all(uint32_t n_gaussians, const Recipe &recipe, MixtureModel *model) const {
  const std::vector<bool> silent = silent_mixtures(*model, filler_pdfs(set_));
  for (size_t i = 0; i < model->mixtures.size(); ++i) {
    const bool has_own_number = silent[i] && recipe.n_silence_gaussians > 0;
    const uint32_t most = has_own_number ? recipe.n_silence_gaussians : recipe.n_gaussians;
    split(*model, std::min(n_gaussians, most), estimate_.min_frames, &model->mixtures[i]);
  }
}

void Trainer::align(const AcousticModel &model, const Recipe &recipe) {
  if (device_sums_) device_sums_->forget_rows();  // the search needs the memory
  const ForcedAligner aligner(device_, model, recipe.beam, recipe.lattice_beam);
  std::vector<std::vector<StateShare>> shares(utterances_.size());
  left_out_.clear();
  positions_.assign(rows_.states.size(), kAnyPosition);
  for (size_t first = 0; first < by_length_.size(); first += ForcedAligner::kMaxJobs) {
    const size_t n = std::min<size_t>(ForcedAligner::kMaxJobs, by_length_.size() - first);
    report(static_cast<double>(first) / static_cast<double>(by_length_.size()), "aligning");
    std::vector<AlignmentJob> jobs(n);
    pool_->run(n, [&](size_t i) {
      const TrainingUtterance &utterance = utterances_[by_length_[first + i]];
      jobs[i].rows = rows_.row(utterance.first_row);
      jobs[i].n_rows = utterance.n_rows;
      jobs[i].graph = graphs_.graph(utterance.words);
    });
    aligner.align(&jobs);
    for (size_t i = 0; i < n; ++i) {
      set_states(by_length_[first + i], jobs[i].states, jobs[i].problem);
      uint8_t *const position = &positions_[utterances_[by_length_[first + i]].first_row];
      std::transform(jobs[i].transition_ids.begin(), jobs[i].transition_ids.end(), position,
                     [&](uint32_t id) { return jobs[i].graph.transitions[id].position; });
      shares[by_length_[first + i]] = std::move(jobs[i].shares);
    }
  }
  set_shares(shares);
  check_alignment();
}

void Trainer::align_in_equal_stretches() {
  left_out_.clear();
  for (size_t i = 0; i < utterances_.size(); ++i) {
    const std::vector<uint32_t> spoken = graphs_.states(utterances_[i].words);
    const std::vector<uint32_t> states = equal_stretches(spoken, utterances_[i].n_rows);
    set_states(i, states, states.empty() ? too_short(utterances_[i].n_rows, spoken.size()) : "");
  }
  check_alignment();
}

void Trainer::set_states(size_t utterance, const std::vector<uint32_t> &states, const std::string &problem) {
  const auto first = rows_.states.begin() + static_cast<ptrdiff_t>(utterances_[utterance].first_row);
  if (problem.empty()) {
    std::copy(states.begin(), states.end(), first);
  } else {
    std::fill_n(first, utterances_[utterance].n_rows, kNoState);
    left_out_[utterance] = problem;
  }
}

// Utterances are in the order of their rows.
void Trainer::set_shares(const std::vector<std::vector<StateShare>> &shares) {
  rows_.shares.clear();
  for (size_t i = 0; i < shares.size(); ++i) {
    for (const StateShare &share : shares[i]) {
      rows_.shares.push_back({utterances_[i].first_row + share.row, share.state, share.share});
    }
  }
}

void Trainer::check_alignment() const {
  if (left_out_.size() < utterances_.size()) return;
  if (utterances_.empty()) fail(ASR_BAD_FILE, "there are no utterances to align; check the list of recordings");
  const auto &[first, why] = *left_out_.begin();
  fail(ASR_BAD_FILE, "none of %zu utterances can be aligned; the first, %s: %s", utterances_.size(),
       utterances_[first].id.c_str(), why.c_str());
}

void Trainer::report(double share, const std::string &what) const {
  const double n_steps = static_cast<double>(n_steps_);
  reports_.progress((static_cast<double>(step_ - 1) + 0.9 * share) / n_steps,
                    format("%s, step %zu of %zu", what.c_str(), step_, n_steps_));
}

}  // namespace asr::train
