// SPDX-License-Identifier: Apache-2.0
// Tests transforms of means against the plain reference, and with rows drawn from models whose means were moved.
#include "core/adapt/mllr.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "core/adapt/speech_sample.h"
#include "reference/gmm.h"
#include "reference/mllr.h"
#include "tests/unit/adapt/drawn_speech.h"

namespace asr {
namespace {

FeatureTransform identity(uint32_t n) {
  FeatureTransform transform{n, std::vector<float>(size_t{n} * (n + 1))};
  for (uint32_t d = 0; d < n; ++d) transform.matrix[size_t{d} * (n + 1) + d] = 1;
  return transform;
}

// The model with moved means.
AcousticModel moved(AcousticModel model, const FeatureTransform &by) {
  model.means = AdaptedMeans(model, by).means;
  return model;
}

FeatureTransform round_of(const AcousticModel &model, const Speech &speech, const FeatureTransform &before, double prior_rows) {
  const AdaptedMeans means(model, before);
  const GaussianPosteriors original(model), adapted(model, means.means);
  MllrStatistics statistics(model);
  for (size_t t = 0; t < speech.states.size(); ++t) statistics.add(adapted, &speech.rows[t * model.n_dims], speech.states[t]);
  return estimate_mllr(statistics, original, FmllrPrior(original), prior_rows);
}

double log_likelihood(const AcousticModel &model, const Speech &speech) {
  const AcousticView view(model);
  double sum = 0;
  for (size_t t = 0; t < speech.states.size(); ++t) {
    sum += reference::log_likelihood(*view.get(), speech.states[t], &speech.rows[t * model.n_dims]);
  }
  return sum;
}

double distance(const FeatureTransform &one, const FeatureTransform &other) {
  double sum = 0;
  for (size_t i = 0; i < one.matrix.size(); ++i) sum += std::abs(one.matrix[i] - other.matrix[i]);
  return sum;
}

TEST(Mllr, IsThatOfTheReference) {
  for (const std::vector<uint32_t> &dims : {std::vector<uint32_t>{7}, {1}, {4, 3}}) {
    for (const uint32_t n_codebooks : {0u, 2u}) {  // 0: none is shared
      for (const int i : {0, 1, 2, 3}) {
        const double prior_rows = i % 2 == 0 ? 1 : 100;
        const AcousticModel model = model_of(dims, n_codebooks, i / 2 == 0 ? ASR_COVARIANCE_DIAGONAL : ASR_COVARIANCE_FULL);
        const Speech speech = speak(moved(model, bend(model.n_dims, 0.8f)), 300, 5);
        FeatureTransform transform = identity(model.n_dims);
        const AcousticView view(model);
        for (int round = 0; round < 3; ++round) {
          const std::vector<double> before(transform.matrix.begin(), transform.matrix.end());
          const std::vector<double> expected = reference::mllr({view.get(), speech.rows, speech.states, before, prior_rows});
          transform = round_of(model, speech, transform, prior_rows);
          ASSERT_EQ(transform.matrix.size(), expected.size());
          for (size_t v = 0; v < expected.size(); ++v) {
            EXPECT_NEAR(transform.matrix[v], expected[v], 1e-4 * std::max(1.0, std::abs(expected[v]))) << round << " " << v;
          }
        }
      }
    }
  }
}

class MllrOfKind : public ::testing::TestWithParam<asr_covariance> {};
INSTANTIATE_TEST_SUITE_P(Kinds, MllrOfKind, ::testing::Values(ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL));

TEST_P(MllrOfKind, FindsWhatMovedTheMeans) {
  const AcousticModel model = model_of({6}, 0, GetParam());
  const FeatureTransform truth = bend(6, 0.8f);
  const AcousticModel voice = moved(model, truth);
  const Speech speech = speak(voice, 20000, 1);
  FeatureTransform transform = identity(6);
  for (int round = 0; round < 8; ++round) transform = round_of(model, speech, transform, 1);
  for (size_t i = 0; i < truth.matrix.size(); ++i) EXPECT_NEAR(transform.matrix[i], truth.matrix[i], 0.05) << i;
  EXPECT_GT(log_likelihood(moved(model, transform), speech), log_likelihood(voice, speech) - 100);
  EXPECT_GT(log_likelihood(voice, speech), log_likelihood(model, speech) + 1000);
}

TEST_P(MllrOfKind, EveryRoundIsLikelier) {
  for (const std::vector<uint32_t> &dims : {std::vector<uint32_t>{9}, std::vector<uint32_t>{4, 3}}) {
    const AcousticModel model = model_of(dims, 0, GetParam());
    const Speech speech = speak(moved(model, bend(model.n_dims, 0.8f)), 2000, 2);
    FeatureTransform transform = identity(model.n_dims);
    double before = log_likelihood(model, speech);
    for (int round = 0; round < 6; ++round) {
      transform = round_of(model, speech, transform, 0);
      const double now = log_likelihood(moved(model, transform), speech);
      EXPECT_GT(now, before - 1e-6 * std::abs(before)) << round;  // means are floats
      if (round == 0) {
        EXPECT_GT(now, before + 0.05 * static_cast<double>(speech.states.size()));
      }
      before = now;
    }
  }
}

TEST_P(MllrOfKind, LittleSpeechChangesLittle) {
  const AcousticModel model = model_of({6}, 0, GetParam());
  const Speech speech = speak(moved(model, bend(6, 0.7f)), 2000, 3);
  double before = 0;
  for (const double prior_rows : {1e7, 10000.0, 50.0}) {
    const double now = distance(round_of(model, speech, identity(6), prior_rows), identity(6));
    if (prior_rows == 1e7) {
      EXPECT_LT(now, 0.01);
    }
    EXPECT_GT(now, before);
    before = now;
  }
  const Speech word{{speech.rows.begin(), speech.rows.begin() + 60}, {speech.states.begin(), speech.states.begin() + 10}};
  EXPECT_LT(distance(round_of(model, word, identity(6), 200), identity(6)), before / 4);
}

// One row, repeated: most directions have no data.
TEST_P(MllrOfKind, WhatWasNotHeardStays) {
  const AcousticModel model = model_of({6}, 0, GetParam());
  const Speech one = speak(model, 1, 7);
  Speech speech;
  for (int i = 0; i < 60; ++i) {
    speech.rows.insert(speech.rows.end(), one.rows.begin(), one.rows.end());
    speech.states.push_back(one.states[0]);
  }
  const FeatureTransform transform = round_of(model, speech, identity(6), 200);
  ASSERT_EQ(transform.n_dims, 6u);
  for (uint32_t r = 0; r < 6; ++r) {
    for (uint32_t c = 0; c < 6; ++c) EXPECT_NEAR(transform.matrix[r * 7 + c], r == c ? 1 : 0, 0.3) << r << " " << c;
  }
}

TEST(Mllr, MeansMoveWithinTheirStream) {
  const AcousticModel model = model_of({4, 3});
  FeatureTransform transform = bend(7, 0.9f);
  const AcousticModel by_all = moved(model, transform);
  for (size_t s = 0; s < 2; ++s) {
    for (const uint32_t d : model.streams[s].dims) {
      for (const uint32_t other : model.streams[1 - s].dims) transform.matrix[d * 8 + other] = 1e6f;
    }
  }
  EXPECT_EQ(moved(model, transform).means, by_all.means);
  EXPECT_NE(by_all.means, model.means);
  EXPECT_EQ(moved(model, identity(7)).means, model.means);
  EXPECT_EQ(moved(model, {}).means, model.means);
}

TEST(Mllr, MeansStayFinite) {
  const AcousticModel model = model_of({3});
  FeatureTransform transform = identity(3);
  for (float &value : transform.matrix) value = 3e38f;
  for (const float mean : moved(model, transform).means) EXPECT_TRUE(std::isfinite(mean));
}

TEST(Mllr, OfNothingIsNoTransform) {
  const AcousticModel model = model_of({6});
  EXPECT_EQ(round_of(model, {}, identity(6), 50).n_dims, 0u);
  const GaussianPosteriors posteriors(model);
  const AdaptedMeans means = SpeechSample(150).estimate_means(posteriors, FmllrPrior(posteriors), {}, {});
  EXPECT_EQ(means.transform.n_dims, 0u);
  EXPECT_EQ(means.means, model.means);
}

TEST(SpeechSample, MeansDoNotDependOnTheOrder) {
  const AcousticModel model = model_of({6});
  const GaussianPosteriors posteriors(model);
  const FmllrPrior prior(posteriors);
  std::vector<Speech> utterances;
  for (uint32_t seed = 1; seed <= 12; ++seed) utterances.push_back(speak(model, 100 + 10 * seed, seed));
  SpeechSample forwards(800), backwards(800);
  for (const Speech &speech : utterances) forwards.add(speech.rows, speech.states);
  std::reverse(utterances.begin(), utterances.end());
  for (const Speech &speech : utterances) backwards.add(speech.rows, speech.states);
  const AdaptedMeans means = forwards.estimate_means(posteriors, prior, {}, {});
  EXPECT_EQ(means.transform.n_dims, 6u);
  EXPECT_NE(means.means, model.means);
  EXPECT_EQ(means.means, AdaptedMeans(model, means.transform).means);
  EXPECT_EQ(backwards.estimate_means(posteriors, prior, {}, {}).means, means.means);
  EXPECT_NE(forwards.estimate_means(posteriors, prior, bend(6, 0.8f), {}).means, means.means);
  const std::atomic<bool> stopped(true);
  EXPECT_THROW(forwards.estimate_means(posteriors, prior, {}, StopToken(&stopped)), Error);
}

// Means that fit transformed rows are estimated from these.
TEST(SpeechSample, MeansAreOfTransformedRows) {
  const AcousticModel model = model_of({6});
  const GaussianPosteriors posteriors(model);
  const FmllrPrior prior(posteriors);
  const Speech speech = speak(model, 600, 9);
  Speech transformed = speech;
  bend(6, 0.8f).apply(transformed.rows.data(), transformed.states.size());
  SpeechSample one(800), other(800);
  one.add(speech.rows, speech.states);
  other.add(transformed.rows, transformed.states);
  const std::vector<float> means = one.estimate_means(posteriors, prior, bend(6, 0.8f), {}).means;
  EXPECT_EQ(means, other.estimate_means(posteriors, prior, {}, {}).means);
}

}  // namespace
}  // namespace asr
