// SPDX-License-Identifier: Apache-2.0
// Tests transforms of rows that are drawn from random models and then transformed; the likelihood by the plain reference is the
// criterion.
#include "core/adapt/fmllr.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/adapt/speech_sample.h"
#include "reference/gmm.h"
#include "tests/unit/adapt/drawn_speech.h"

namespace asr {
namespace {

constexpr double kPrior = 50;
constexpr asr_covariance kKinds[] = {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL};

double log_determinant(const FeatureTransform &transform) {
  const uint32_t n = transform.n_dims;
  std::vector<double> a;
  for (uint32_t r = 0; r < n; ++r) {
    for (uint32_t c = 0; c < n; ++c) a.push_back(transform.matrix[r * (n + 1) + c]);
  }
  double log_det = 0;
  for (uint32_t i = 0; i < n; ++i) {
    log_det += std::log(std::abs(a[i * n + i]));
    for (uint32_t r = i + 1; r < n; ++r) {
      const double ratio = a[r * n + i] / a[i * n + i];
      for (uint32_t c = i; c < n; ++c) a[r * n + c] -= ratio * a[i * n + c];
    }
  }
  return log_det;
}

// Returns the objective of the estimation: the log-likelihood of the transformed rows, with the log determinant for each.
double log_likelihood(const AcousticModel &model, const Speech &speech, const FeatureTransform &transform) {
  std::vector<float> rows = speech.rows;
  transform.apply(rows.data(), speech.states.size());
  const AcousticView view(model);
  double sum = transform.n_dims > 0 ? log_determinant(transform) * static_cast<double>(speech.states.size()) : 0;
  for (size_t t = 0; t < speech.states.size(); ++t) {
    sum += reference::log_likelihood(*view.get(), speech.states[t], &rows[t * model.n_dims]);
  }
  return sum;
}

FmllrStatistics statistics_of(const AcousticModel &model, const Speech &speech, const FeatureTransform &transform) {
  const GaussianPosteriors posteriors(model);
  FmllrStatistics statistics(model);
  std::vector<float> rows = speech.rows;
  transform.apply(rows.data(), speech.states.size());
  for (size_t t = 0; t < speech.states.size(); ++t) {
    statistics.add(posteriors, &speech.rows[t * model.n_dims], &rows[t * model.n_dims], speech.states[t]);
  }
  return statistics;
}

TEST(Fmllr, EveryRoundIsLikelier) {
  for (const int i : {0, 1, 2, 3}) {
    const AcousticModel model = model_of(i % 2 == 0 ? std::vector<uint32_t>{9} : std::vector<uint32_t>{4, 3}, 0, kKinds[i / 2]);
    Speech speech = speak(model, 2000, 1);
    bend(model.n_dims, 0.8f).apply(speech.rows.data(), speech.states.size());
    FeatureTransform transform;
    double before = log_likelihood(model, speech, transform);
    for (int round = 0; round < 6; ++round) {
      transform = estimate_fmllr(statistics_of(model, speech, transform), GaussianPosteriors(model),
                                 FmllrPrior(GaussianPosteriors(model)), 0);
      const double now = log_likelihood(model, speech, transform);
      EXPECT_GT(now, before - 1e-3 * std::abs(before)) << round;  // rows are floats
      if (round == 0) {
        EXPECT_GT(now, before + 0.05 * static_cast<double>(speech.states.size()));
      }
      before = now;
    }
  }
}

// Both kinds of covariances.
class FmllrOfKind : public ::testing::TestWithParam<asr_covariance> {};

TEST_P(FmllrOfKind, UndoesWhatBentTheRows) {
  const AcousticModel model = model_of({9}, 0, GetParam());
  const Speech straight = speak(model, 5000, 2);
  Speech bent = straight;
  bend(model.n_dims, 0.8f).apply(bent.rows.data(), bent.states.size());
  FeatureTransform transform;
  for (int round = 0; round < 10; ++round)
    transform = estimate_fmllr(statistics_of(model, bent, transform), GaussianPosteriors(model),
                               FmllrPrior(GaussianPosteriors(model)), 0);
  // The result must be as likely as the original rows, after correction for the volume of the transformed ones.
  const double volume = log_determinant(bend(model.n_dims, 0.8f)) * static_cast<double>(bent.states.size());
  EXPECT_GT(log_likelihood(model, bent, transform), log_likelihood(model, straight, {}) - volume);
}

TEST_P(FmllrOfKind, NoSmallChangeIsLikelier) {
  const AcousticModel model = model_of({5}, 0, GetParam());
  Speech speech = speak(model, 1500, 4);
  bend(model.n_dims, 1.2f).apply(speech.rows.data(), speech.states.size());
  FeatureTransform transform;
  for (int round = 0; round < 60; ++round)
    transform = estimate_fmllr(statistics_of(model, speech, transform), GaussianPosteriors(model),
                               FmllrPrior(GaussianPosteriors(model)), 0);
  const double best = log_likelihood(model, speech, transform);
  for (float &value : transform.matrix) {
    for (const float change : {0.02f, -0.02f}) {
      const float before = value;
      value += change;
      EXPECT_LT(log_likelihood(model, speech, transform), best);
      value = before;
    }
  }
}

TEST_P(FmllrOfKind, LittleSpeechChangesLittle) {
  const AcousticModel model = model_of({6}, 0, GetParam());
  Speech speech = speak(model, 2000, 5);
  bend(model.n_dims, 0.7f).apply(speech.rows.data(), speech.states.size());
  double before = 0;
  for (const double prior : {1e7, 10000.0, kPrior}) {
    const FeatureTransform transform = estimate_fmllr(statistics_of(model, speech, {}), GaussianPosteriors(model),
                                                      FmllrPrior(GaussianPosteriors(model)), prior);
    double distance = 0;
    for (uint32_t r = 0; r < 6; ++r) {
      for (uint32_t c = 0; c <= 6; ++c) distance += std::abs(transform.matrix[r * 7 + c] - (r == c ? 1.0f : 0.0f));
    }
    if (prior == 1e7) {
      EXPECT_LT(distance, 0.01);
    }
    EXPECT_GT(distance, before);
    before = distance;
  }
}

// For rows drawn from the model the identity is optimal, also along directions without data.
TEST_P(FmllrOfKind, WhatWasNotHeardStays) {
  const AcousticModel model = model_of({6}, 0, GetParam());
  Speech speech;
  while (speech.states.size() < 60) {  // one row, repeated
    const Speech more = speak(model, 1, 7);
    speech.rows.insert(speech.rows.end(), more.rows.begin(), more.rows.end());
    speech.states.push_back(more.states[0]);
  }
  const FeatureTransform transform =
      estimate_fmllr(statistics_of(model, speech, {}), GaussianPosteriors(model), FmllrPrior(GaussianPosteriors(model)), 200);
  ASSERT_EQ(transform.n_dims, 6u);
  for (uint32_t r = 0; r < 6; ++r) {
    for (uint32_t c = 0; c < 6; ++c) EXPECT_NEAR(transform.matrix[r * 7 + c], r == c ? 1 : 0, 0.3) << r << " " << c;
  }
  const FeatureTransform of_much = estimate_fmllr(statistics_of(model, speak(model, 4000, 8), {}), GaussianPosteriors(model),
                                                  FmllrPrior(GaussianPosteriors(model)), 1e6);
  for (uint32_t r = 0; r < 6; ++r) {
    for (uint32_t c = 0; c <= 6; ++c) EXPECT_NEAR(of_much.matrix[r * 7 + c], r == c ? 1 : 0, 0.01) << r << " " << c;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, FmllrOfKind, ::testing::ValuesIn(kKinds));

TEST(Fmllr, OfNothingIsNoTransform) {
  const AcousticModel model = model_of({6});
  EXPECT_EQ(
      estimate_fmllr(FmllrStatistics(model), GaussianPosteriors(model), FmllrPrior(GaussianPosteriors(model)), kPrior).n_dims,
      0u);
  const Speech same{std::vector<float>(size_t{6} * 500, 1), std::vector<uint32_t>(500, 0)};  // zero variance
  const FeatureTransform transform =
      estimate_fmllr(statistics_of(model, same, {}), GaussianPosteriors(model), FmllrPrior(GaussianPosteriors(model)), kPrior);
  for (const float value : transform.matrix) EXPECT_TRUE(std::isfinite(value));
}

TEST(SpeechSample, DoesNotDependOnTheOrder) {
  const AcousticModel model = model_of({6});
  const GaussianPosteriors posteriors(model);
  std::vector<Speech> utterances;
  for (uint32_t seed = 1; seed <= 12; ++seed) utterances.push_back(speak(model, 100 + 10 * seed, seed));
  SpeechSample forwards(800), backwards(800);
  for (const Speech &speech : utterances) forwards.add(speech.rows, speech.states);
  std::reverse(utterances.begin(), utterances.end());
  for (const Speech &speech : utterances) backwards.add(speech.rows, speech.states);
  EXPECT_EQ(forwards.n_rows(), backwards.n_rows());
  EXPECT_LE(forwards.n_rows(), 800u);
  EXPECT_GT(forwards.n_rows(), 400u);
  const FeatureTransform transform = forwards.estimate(posteriors, FmllrPrior(GaussianPosteriors(model)), {});
  EXPECT_EQ(transform.n_dims, 6u);
  const std::atomic<bool> stopped(true);
  EXPECT_THROW(forwards.estimate(posteriors, FmllrPrior(GaussianPosteriors(model)), StopToken(&stopped)), Error);
  EXPECT_EQ(transform.matrix, backwards.estimate(posteriors, FmllrPrior(GaussianPosteriors(model)), {}).matrix);
}

TEST(SpeechSample, OfALongUtteranceTheBeginning) {
  const AcousticModel model = model_of({6});
  SpeechSample sample(150);
  const Speech speech = speak(model, 400, 1);
  sample.add(speech.rows, speech.states);
  EXPECT_EQ(sample.n_rows(), 150u);
  EXPECT_EQ(SpeechSample(150).estimate(GaussianPosteriors(model), FmllrPrior(GaussianPosteriors(model)), {}).n_dims, 0u);
}

}  // namespace
}  // namespace asr
