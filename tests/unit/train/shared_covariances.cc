// SPDX-License-Identifier: Apache-2.0
// Tests shared covariances against the pooled ones of their Gaussians, and invariants of rounds with them.
#include "builder/train/shared_covariances.h"

#include <gtest/gtest.h>

#include <cmath>

#include "builder/train/em.h"
#include "builder/train/matrix.h"
#include "reference/random_gmm.h"
#include "tests/unit/train/drawn_rows.h"

namespace asr::train {
namespace {

class SharedCovariances : public ::testing::TestWithParam<CovarianceSharing> {
 protected:
  SharedCovariances() {
    reference::RandomGmm shape;
    shape.covariance = ASR_COVARIANCE_FULL;
    shape.n_states = 5;
    shape.stream_dims = {3, 2};
    shape.min_gaussians = 2;
    shape.max_gaussians = 3;
    start_ = random_gmm(shape);
    test::draw_rows(start_, 1500, 8, &drawn_);
    options_ = test::loose_options(start_.n_dims);
  }

  bool in_group(const Mixture &a, const Mixture &b) const {
    return GetParam() == CovarianceSharing::kAll ? a.stream == b.stream : &a == &b;
  }

  AcousticModel start_;
  test::DrawnRows drawn_;
  EstimateOptions options_;
  ThreadPool pool_{2};
};

// The first covariance of a mixture.
std::vector<double> first_covariance(const MixtureModel &model, const Mixture &mixture) {
  return {mixture.covariances.begin(), mixture.covariances.begin() + static_cast<ptrdiff_t>(model.covariance_size(mixture))};
}

void expect_all_the_same(const MixtureModel &model, const Mixture &mixture) {
  const std::vector<double> first = first_covariance(model, mixture);
  for (size_t at = 0; at < mixture.covariances.size(); ++at) EXPECT_EQ(mixture.covariances[at], first[at % first.size()]);
}

TEST_P(SharedCovariances, BeginWithTheMeanByWeight) {
  const MixtureModel own = to_mixtures(start_);
  MixtureModel model = own;
  begin_sharing(GetParam(), 0, false, &pool_, &model);
  for (size_t i = 0; i < model.mixtures.size(); ++i) {
    const Mixture &mixture = model.mixtures[i];
    expect_all_the_same(model, mixture);
    const size_t size = model.covariance_size(mixture);
    std::vector<double> mean(size);
    double sum = 0;
    for (const Mixture &other : own.mixtures) {
      if (!in_group(other, own.mixtures[i])) continue;
      for (size_t k = 0; k < other.n_gaussians(); ++k) {
        sum += other.weights[k];
        for (size_t at = 0; at < size; ++at) mean[at] += other.weights[k] * other.covariances[k * size + at];
      }
    }
    for (size_t at = 0; at < size; ++at) EXPECT_NEAR(mixture.covariances[at], mean[at] / sum, 1e-9);
  }
}

// The round by the definition: sums of the squares about new means, over all Gaussians of the group.
TEST_P(SharedCovariances, RoundIsThatOfTheDefinition) {
  MixtureModel model = to_mixtures(start_);
  begin_sharing(GetParam(), 0, false, &pool_, &model);
  const MixtureModel before = model;
  MixtureModel own = before;
  own.sharing = CovarianceSharing::kNone;
  em_round(drawn_.rows, options_, &pool_, &own);  // the same shares, means and frames
  em_round(drawn_.rows, options_, &pool_, &model);
  for (size_t i = 0; i < model.mixtures.size(); ++i) {
    const Mixture &mixture = model.mixtures[i];
    expect_all_the_same(model, mixture);
    EXPECT_EQ(mixture.means, own.mixtures[i].means);
    EXPECT_EQ(mixture.weights, own.mixtures[i].weights);
    const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
    std::vector<double> sum(size);
    double frames = 0;
    for (size_t j = 0; j < model.mixtures.size(); ++j) {
      if (!in_group(before.mixtures[j], before.mixtures[i])) continue;
      Statistics statistics(before, before.mixtures[j], true);
      sum_statistics(drawn_.rows, before, true, &pool_, [&](size_t number, const Statistics &found) {
        if (number == j) statistics.add(found);
      });
      for (size_t k = 0; k < before.mixtures[j].n_gaussians(); ++k) {
        const double n = statistics.occupancies[k];
        frames += n;
        for (size_t r = 0; r < d; ++r) {
          for (size_t c = 0; c <= r; ++c) {
            sum[triangle_at(r, c)] +=
                statistics.second[k * size + triangle_at(r, c)] - statistics.first[k * d + r] * statistics.first[k * d + c] / n;
          }
        }
      }
    }
    for (size_t at = 0; at < size; ++at) EXPECT_NEAR(mixture.covariances[at], sum[at] / frames, 1e-6);
  }
}

TEST_P(SharedCovariances, EveryRoundRaisesTheLikelihood) {
  MixtureModel model = to_mixtures(start_);
  begin_sharing(GetParam(), 0, false, &pool_, &model);
  for (Mixture &mixture : model.mixtures) {
    for (double &mean : mixture.means) mean *= 0.5;
  }
  const double first = em_round(drawn_.rows, options_, &pool_, &model);
  double last = first;
  for (int round = 0; round < 10; ++round) {
    const double next = em_round(drawn_.rows, options_, &pool_, &model);
    EXPECT_GE(next, last - 1e-9 * std::abs(last));
    last = next;
  }
  EXPECT_GT(last, first + 1);
}

TEST_P(SharedCovariances, AreWrittenOnce) {
  MixtureModel model = to_mixtures(start_);
  begin_sharing(GetParam(), 0, false, &pool_, &model);
  em_round(drawn_.rows, options_, &pool_, &model);
  const AcousticModel written = to_acoustic_model(model, "model");
  EXPECT_EQ(written.precision_at.size(), GetParam() == CovarianceSharing::kAll ? 2u : model.mixtures.size());
  model.sharing = CovarianceSharing::kNone;
  const AcousticModel copies = to_acoustic_model(model, "model");
  EXPECT_EQ(copies.precision_at.size(), model.n_gaussians());
  for (size_t i = 0; i < written.n_gaussians(); ++i) {
    const uint64_t a = written.precision_at[written.covariance_of[i]], b = copies.precision_at[copies.covariance_of[i]];
    EXPECT_EQ(written.precisions[a], copies.precisions[b]);
    EXPECT_EQ(written.precisions[a + 2], copies.precisions[b + 2]);
  }
}

// Gaussians and mixtures without enough frames have the covariance of the others; smoothing knows the group's frames.
TEST_P(SharedCovariances, RareGaussiansShareToo) {
  MixtureModel model = to_mixtures(start_);
  begin_sharing(GetParam(), 0, false, &pool_, &model);
  for (uint32_t &state : drawn_.rows.states) state = state == 0 ? kNoState : state;
  const std::vector<double> kept = first_covariance(model, model.mixtures[model.state_mixture[0]]);
  MixtureModel rough = model, smooth = model;
  em_round(drawn_.rows, options_, &pool_, &rough);
  options_.smooth = 1500;
  em_round(drawn_.rows, options_, &pool_, &smooth);
  const Mixture &rare = rough.mixtures[rough.state_mixture[0]];
  const Mixture &other = rough.mixtures[rough.state_mixture[2]];  // the next state, stream 0
  EXPECT_EQ(first_covariance(rough, rare) == kept, GetParam() == CovarianceSharing::kState);
  EXPECT_EQ(first_covariance(rough, rare) == first_covariance(rough, other), GetParam() == CovarianceSharing::kAll);
  double frames = 0;
  for (const Mixture &mixture : rough.mixtures) {
    if (!in_group(mixture, other)) continue;
    for (const double n : mixture.occupancies) frames += n;
  }
  const std::vector<double> a = first_covariance(rough, other),
                            b = first_covariance(smooth, smooth.mixtures[rough.state_mixture[2]]);
  EXPECT_NEAR(b[0], a[0], 1e-9);
  EXPECT_NEAR(b[1], a[1] * frames / (frames + 1500), 1e-9);
}

// Gaussians below the least number of frames get the mean of the others' covariances.
TEST_P(SharedCovariances, RareGaussiansAreNotCounted) {
  MixtureModel own = to_mixtures(start_);
  begin_sharing(GetParam(), 0, false, &pool_, &own);
  MixtureModel model = own;
  own.sharing = CovarianceSharing::kNone;
  options_.min_frames = 120;
  em_round(drawn_.rows, options_, &pool_, &own);
  em_round(drawn_.rows, options_, &pool_, &model);
  size_t n_rare = 0;
  for (size_t i = 0; i < model.mixtures.size(); ++i) {
    double sum = 0, frames = 0;
    for (const Mixture &other : own.mixtures) {
      if (!in_group(other, own.mixtures[i])) continue;
      const size_t size = own.covariance_size(other);
      for (size_t k = 0; k < other.n_gaussians(); ++k) {
        n_rare += other.occupancies[k] < 120;
        if (other.occupancies[k] < 120) continue;
        frames += other.occupancies[k];
        sum += other.occupancies[k] * other.covariances[k * size + 1];
      }
    }
    if (frames > 0) {
      EXPECT_NEAR(model.mixtures[i].covariances[1], sum / frames, 1e-6);
    }
  }
  EXPECT_GT(n_rare, 0u);
}

TEST_P(SharedCovariances, KeepTheFloor) {
  options_.variance_floor.assign(start_.n_dims, 50);  // above all of the rows
  for (const bool correlations : {false, true}) {
    MixtureModel model = to_mixtures(start_);
    begin_sharing(GetParam(), 0, correlations, &pool_, &model);
    em_round(drawn_.rows, options_, &pool_, &model);
    for (const Mixture &mixture : model.mixtures) {
      const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
      for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
        for (size_t i = 0; i < d; ++i) EXPECT_GE(mixture.covariances[k * size + diagonal_at(i)], 50 - 1e-9);
      }
    }
  }
}

// Correlations in common by the definition; variances are those of each Gaussian alone.
TEST_P(SharedCovariances, OrOnlyTheCorrelations) {
  MixtureModel own = to_mixtures(start_), model = own;
  begin_sharing(GetParam(), 0, true, &pool_, &model);
  own = model;
  own.sharing = CovarianceSharing::kNone;
  em_round(drawn_.rows, options_, &pool_, &own);
  em_round(drawn_.rows, options_, &pool_, &model);
  for (size_t i = 0; i < model.mixtures.size(); ++i) {
    const Mixture &mixture = model.mixtures[i];
    const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
    for (size_t r = 0; r < d; ++r) {
      for (size_t c = 0; c <= r; ++c) {
        double sum = 0, frames = 0;
        for (const Mixture &other : own.mixtures) {
          if (!in_group(other, own.mixtures[i])) continue;
          for (size_t k = 0; k < other.n_gaussians(); ++k) {
            const double *const m = &other.covariances[k * size];
            frames += other.occupancies[k];
            sum += other.occupancies[k] * m[triangle_at(r, c)] / std::sqrt(m[diagonal_at(r)] * m[diagonal_at(c)]);
          }
        }
        for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
          const double *const m = &own.mixtures[i].covariances[k * size];
          const double scale = std::sqrt(m[diagonal_at(r)] * m[diagonal_at(c)]);
          EXPECT_NEAR(mixture.covariances[k * size + triangle_at(r, c)], sum / frames * scale, 1e-6 * scale);
        }
      }
    }
  }
  EXPECT_EQ(to_acoustic_model(model, "model").precision_at.size(), model.n_gaussians());
}

// A Gaussian whose rows are all alike has no correlations; its variances get the floor.
TEST_P(SharedCovariances, CorrelationsNeedVariance) {
  MixtureModel model = to_mixtures(start_);
  begin_sharing(GetParam(), 0, true, &pool_, &model);
  for (size_t row = 0; row < drawn_.rows.states.size(); ++row) {
    if (drawn_.rows.states[row] == 0) std::fill_n(&drawn_.values[row * start_.n_dims], start_.n_dims, 0.5f);
  }
  em_round(drawn_.rows, options_, &pool_, &model);
  for (const Mixture &mixture : model.mixtures) {
    for (const double value : mixture.covariances) EXPECT_TRUE(std::isfinite(value));
  }
  to_acoustic_model(model, "model");  // validated
}

class CovarianceClasses : public SharedCovariances {};

// -2 / n times the log-likelihood of rows with the covariance s under the covariance c, both squares [d][d].
double distance(std::vector<double> c, const std::vector<double> &s, size_t d) {
  double sum = invert_square(&c, d);
  for (size_t i = 0; i < c.size(); ++i) sum += c[i] * s[i];
  return sum;
}

std::vector<double> square(const double *triangle, size_t d) {
  std::vector<double> result(d * d);
  for (size_t r = 0; r < d; ++r) {
    for (size_t c = 0; c < d; ++c) result[r * d + c] = triangle[triangle_at(std::max(r, c), std::min(r, c))];
  }
  return result;
}

// Each Gaussian goes to the class whose mean makes its frames likeliest, by the definition, and gets the class's new mean.
TEST_F(CovarianceClasses, AreChosenByLikelihood) {
  MixtureModel model = to_mixtures(start_);
  begin_sharing(CovarianceSharing::kClasses, 3, false, &pool_, &model);
  const MixtureModel before = model;
  MixtureModel own = before;
  own.sharing = CovarianceSharing::kNone;
  em_round(drawn_.rows, options_, &pool_, &own);
  em_round(drawn_.rows, options_, &pool_, &model);
  const auto mean_of = [&](const MixtureModel &classes, uint32_t stream, uint32_t number) {
    std::vector<double> sum;
    double frames = 0;
    for (size_t i = 0; i < own.mixtures.size(); ++i) {
      const Mixture &mixture = own.mixtures[i];
      const size_t d = own.n_values(mixture), size = own.covariance_size(mixture);
      for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
        if (mixture.stream != stream || classes.mixtures[i].classes[k] != number) continue;
        const std::vector<double> covariance = square(mixture.covariances.data() + k * size, d);
        sum.resize(d * d);
        for (size_t at = 0; at < d * d; ++at) sum[at] += mixture.occupancies[k] * covariance[at];
        frames += mixture.occupancies[k];
      }
    }
    for (double &value : sum) value /= frames;
    return sum;
  };
  size_t n_moved = 0;
  for (size_t i = 0; i < model.mixtures.size(); ++i) {
    const Mixture &mixture = model.mixtures[i];
    const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      const std::vector<double> estimated = square(own.mixtures[i].covariances.data() + k * size, d);
      uint32_t best = 0;
      double least = 1e300;
      for (uint32_t number = 0; number < 3; ++number) {
        const std::vector<double> mean = mean_of(before, mixture.stream, number);
        if (mean.empty()) continue;
        const double found = distance(mean, estimated, d);
        if (found < least) least = found, best = number;
      }
      EXPECT_EQ(mixture.classes[k], best);
      n_moved += best != before.mixtures[i].classes[k];
      const std::vector<double> expected = mean_of(model, mixture.stream, mixture.classes[k]);
      const std::vector<double> shared = square(mixture.covariances.data() + k * size, d);
      for (size_t at = 0; at < d * d; ++at) EXPECT_NEAR(shared[at], expected[at], 1e-6);
    }
  }
  EXPECT_GT(n_moved, 0u) << "or this tests little";
  const AcousticModel written = to_acoustic_model(model, "model");
  EXPECT_GT(written.precision_at.size(), 2u);
  EXPECT_LE(written.precision_at.size(), 6u);  // of two streams
}

TEST_F(CovarianceClasses, EveryRoundRaisesTheLikelihood) {
  MixtureModel model = to_mixtures(start_);
  begin_sharing(CovarianceSharing::kClasses, 3, false, &pool_, &model);
  for (Mixture &mixture : model.mixtures) {
    for (double &mean : mixture.means) mean *= 0.5;
  }
  const double first = em_round(drawn_.rows, options_, &pool_, &model);
  double last = first;
  for (int round = 0; round < 10; ++round) {
    const double next = em_round(drawn_.rows, options_, &pool_, &model);
    EXPECT_GE(next, last - 1e-9 * std::abs(last));
    last = next;
  }
  EXPECT_GT(last, first + 1);
}

// Gaussians that were made with one of two covariances are told apart, whatever their means. New ones inherit the class.
TEST_F(CovarianceClasses, FindTheCovariancesOfTheData) {
  MixtureModel model = to_mixtures(start_);
  for (size_t i = 0; i < model.mixtures.size(); ++i) {
    Mixture &mixture = model.mixtures[i];
    const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      const double correlation = (i / 2 + k) % 2 == 0 ? 0.9 : -0.45;
      for (size_t r = 0; r < d; ++r) {
        for (size_t c = 0; c <= r; ++c) {
          mixture.covariances[k * size + triangle_at(r, c)] = r == c ? 1 + 0.01 * static_cast<double>(i) : correlation;
        }
      }
    }
  }
  for (const bool correlations : {false, true}) {
    MixtureModel shared = model;
    begin_sharing(CovarianceSharing::kClasses, 2, correlations, &pool_, &shared);
    for (size_t i = 0; i < shared.mixtures.size(); ++i) {
      Mixture &mixture = shared.mixtures[i];
      for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
        const Mixture &first = shared.mixtures[mixture.stream];
        EXPECT_EQ(mixture.classes[k] == first.classes[0], (i / 2 + k) % 2 == 0) << i << " " << k;
      }
      mixture.occupancies.assign(mixture.n_gaussians(), 1);
      mixture.occupancies[1] = 100;
      const uint32_t parent = mixture.classes[1];
      split(shared, mixture.n_gaussians() + 1, 1, &mixture);
      EXPECT_EQ(mixture.classes.size(), mixture.n_gaussians());
      EXPECT_EQ(mixture.classes.back(), parent);
    }
  }
}

TEST_F(CovarianceClasses, MayBeMoreThanGaussians) {
  MixtureModel model = to_mixtures(start_);
  const uint64_t n = model.n_gaussians();
  begin_sharing(CovarianceSharing::kClasses, 1000, false, &pool_, &model);
  em_round(drawn_.rows, options_, &pool_, &model);
  EXPECT_LE(to_acoustic_model(model, "model").precision_at.size(), n);
}

INSTANTIATE_TEST_SUITE_P(Groups, SharedCovariances, ::testing::Values(CovarianceSharing::kState, CovarianceSharing::kAll));

}  // namespace
}  // namespace asr::train
