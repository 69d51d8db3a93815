// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/speech_sample.h"

#include <iterator>
#include <optional>
#include <utility>

#include "core/base/file.h"

namespace asr {
namespace {

constexpr int kRounds = 4;          // rounds of estimation, since the shares of Gaussians depend on the transform
constexpr double kPriorRows = 200;  // see docs/adaptation.md

}  // namespace

void SpeechSample::add(std::vector<float> rows, std::vector<uint32_t> states) {
  if (states.empty()) return;
  if (states.size() > max_rows_) {
    rows.resize(rows.size() / states.size() * max_rows_);
    states.resize(max_rows_);
  }
  const uint64_t key = checksum(rows.data(), rows.size() * sizeof(rows[0]));
  if (key >= first_dropped_) return;
  n_rows_ += states.size();
  utterances_.emplace(key, Utterance{std::move(rows), std::move(states)});
  while (n_rows_ > max_rows_) {
    const auto last = std::prev(utterances_.end());
    n_rows_ -= last->second.states.size();
    first_dropped_ = last->first;
    utterances_.erase(last);
  }
}

void SpeechSample::for_each_row(const FeatureTransform &transform, const StopToken &stop, const RowFunction &action) const {
  for (const auto &[key, utterance] : utterances_) {
    const size_t n = utterance.states.size(), n_dims = utterance.rows.size() / n;
    std::vector<float> transformed = utterance.rows;
    transform.apply(transformed.data(), n);
    for (size_t i = 0; i < n; ++i) {
      stop.check();
      action(&utterance.rows[i * n_dims], &transformed[i * n_dims], utterance.states[i]);
    }
  }
}

FeatureTransform SpeechSample::estimate(const GaussianPosteriors &posteriors, const FmllrPrior &prior,
                                        const StopToken &stop) const {
  FeatureTransform transform;
  for (int round = 0; round < kRounds; ++round) {
    FmllrStatistics statistics(posteriors.model());
    for_each_row(transform, stop, [&](const float *row, const float *transformed, uint32_t state) {
      statistics.add(posteriors, row, transformed, state);
    });
    transform = estimate_fmllr(statistics, posteriors, prior, kPriorRows);
  }
  return transform;
}

AdaptedMeans SpeechSample::estimate_means(const GaussianPosteriors &posteriors, const FmllrPrior &prior,
                                          const FeatureTransform &of_rows, const StopToken &stop) const {
  const AcousticModel &model = posteriors.model();
  std::optional<AdaptedMeans> means(std::in_place, model, FeatureTransform());
  for (int round = 0; round < kRounds; ++round) {
    MllrStatistics statistics(model);
    const GaussianPosteriors adapted(model, means->means);
    for_each_row(of_rows, stop, [&](const float *, const float *row, uint32_t state) { statistics.add(adapted, row, state); });
    means.emplace(model, estimate_mllr(statistics, posteriors, prior, kPriorRows));
  }
  return std::move(*means);
}

}  // namespace asr
