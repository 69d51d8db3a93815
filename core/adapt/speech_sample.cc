// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/speech_sample.h"

#include <iterator>
#include <utility>

#include "core/base/file.h"

namespace asr {
namespace {

constexpr int kRounds = 4;          // rounds of estimation, since the shares of Gaussians depend on the transform
constexpr double kPriorRows = 200;  // see docs/adaptation.md

}  // namespace

void SpeechSample::add(std::vector<float> rows, std::vector<uint32_t> states) {
  if (states.empty()) return;
  if (states.size() > most_rows_) {
    rows.resize(rows.size() / states.size() * most_rows_);
    states.resize(most_rows_);
  }
  const uint64_t key = checksum(rows.data(), rows.size() * sizeof(rows[0]));
  if (key >= first_dropped_) return;
  n_rows_ += states.size();
  utterances_.emplace(key, Utterance{std::move(rows), std::move(states)});
  while (n_rows_ > most_rows_) {
    const auto last = std::prev(utterances_.end());
    n_rows_ -= last->second.states.size();
    first_dropped_ = last->first;
    utterances_.erase(last);
  }
}

FeatureTransform SpeechSample::estimate(const GaussianPosteriors &posteriors, const FmllrPrior &prior,
                                        const StopToken &stop) const {
  const uint32_t n_dims = posteriors.model().n_dims;
  FeatureTransform transform;
  for (int round = 0; round < kRounds; ++round) {
    FmllrStatistics statistics(n_dims);
    for (const auto &[key, utterance] : utterances_) {
      std::vector<float> transformed = utterance.rows;
      transform.apply(transformed.data(), utterance.states.size());
      for (size_t i = 0; i < utterance.states.size(); ++i) {
        stop.check();
        const size_t at = i * n_dims;
        statistics.add(posteriors, &utterance.rows[at], &transformed[at], utterance.states[i]);
      }
    }
    transform = estimate_fmllr(statistics, prior, kPriorRows);
  }
  return transform;
}

}  // namespace asr
