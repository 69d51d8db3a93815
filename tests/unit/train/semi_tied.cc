// SPDX-License-Identifier: Apache-2.0
// Tests semi-tied covariances against their definition in plain loops. Cases are known axes, the maximum of the
// likelihood, and the densities of the features before and after the transform.
#include "builder/train/semi_tied.h"

#include <gtest/gtest.h>

#include <cmath>
#include <list>
#include <random>

#include "builder/train/matrix.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"
#include "tests/unit/train/drawn_rows.h"

namespace asr::train {
namespace {

using Square = std::vector<double>;  // [d][d]

Square random_square(size_t d, std::mt19937_64 *random) {
  std::normal_distribution<double> normal;
  Square matrix(d * d);
  for (double &value : matrix) value = normal(*random);
  for (size_t i = 0; i < d; ++i) matrix[i * d + i] += 3;
  return matrix;
}

// The lower triangle of M diag(v) M'.
std::vector<double> covariance_of(const Square &m, const std::vector<double> &v) {
  const size_t d = v.size();
  std::vector<double> triangle;
  for (size_t r = 0; r < d; ++r) {
    for (size_t c = 0; c <= r; ++c) {
      double sum = 0;
      for (size_t k = 0; k < d; ++k) sum += m[r * d + k] * v[k] * m[c * d + k];
      triangle.push_back(sum);
    }
  }
  return triangle;
}

double at(const double *triangle, size_t r, size_t c) { return triangle[triangle_at(std::max(r, c), std::min(r, c))]; }

// a W b'.
double form(const double *a, const double *triangle, const double *b, size_t d) {
  double sum = 0;
  for (size_t r = 0; r < d; ++r) {
    for (size_t c = 0; c < d; ++c) sum += a[r] * at(triangle, r, c) * b[c];
  }
  return sum;
}

double log_determinant(Square matrix, size_t d) { return invert_square(&matrix, d); }

// The log-likelihood per frame, up to a constant: ln |A| - sum_k n_k sum_i ln a_i W_k a_i' / 2n.
double objective(const Square &a, const WeightedCovariances &covariances) {
  const size_t d = covariances.d;
  double sum = 0, frames = 0;
  for (size_t k = 0; k < covariances.weights.size(); ++k) {
    frames += covariances.weights[k];
    const double *const triangle = covariances.triangles[k];
    for (size_t i = 0; i < d; ++i) sum += covariances.weights[k] * std::log(form(&a[i * d], triangle, &a[i * d], d));
  }
  return log_determinant(a, d) - sum / frames / 2;
}

// Covariances M diag(v) M' with variances v drawn for each; `noise` is added to values beside these axes.
WeightedCovariances covariances_with(const Square &m, size_t d, size_t n, double noise, std::mt19937_64 *random,
                                     std::list<std::vector<double>> *owner) {
  std::uniform_real_distribution<double> uniform(0.2, 5);
  WeightedCovariances all;
  all.d = d;
  for (size_t k = 0; k < n; ++k) {
    std::vector<double> v(d), w(d);
    for (double &value : v) value = uniform(*random);
    for (double &value : w) value = noise * uniform(*random);
    std::vector<double> &own = owner->emplace_back(covariance_of(m, v));
    const std::vector<double> other = covariance_of(random_square(d, random), w);
    for (size_t i = 0; i < own.size(); ++i) own[i] += other[i];
    all.triangles.push_back(own.data());
    all.weights.push_back(10 * uniform(*random));
  }
  return all;
}

TEST(SemiTied, FindsAxesThatAllCovariancesHave) {
  std::list<std::vector<double>> owner;
  std::mt19937_64 random(1);
  ThreadPool pool(2);
  for (const size_t d : {size_t{2}, size_t{5}}) {
    const Square mixing = random_square(d, &random);
    const WeightedCovariances covariances = covariances_with(mixing, d, 8, 0, &random, &owner);
    const Square a = semi_tied_transform(covariances, &pool);
    EXPECT_NEAR(log_determinant(a, d), 0, 1e-9);
    for (size_t k = 0; k < covariances.weights.size(); ++k) {
      const double *const triangle = covariances.triangles[k];
      for (size_t i = 0; i < d; ++i) {
        for (size_t j = 0; j < i; ++j) {
          const double scale = std::sqrt(form(&a[i * d], triangle, &a[i * d], d) * form(&a[j * d], triangle, &a[j * d], d));
          EXPECT_NEAR(form(&a[i * d], triangle, &a[j * d], d) / scale, 0, 2e-2) << "Gaussian " << k;
        }
      }
    }
    // No other matrix does better than the inverse of the mixing.
    Square inverse = mixing;
    invert_square(&inverse, d);
    EXPECT_NEAR(objective(a, covariances), objective(inverse, covariances), 1e-3);
  }
}

// Covariances without common axes: no element of the transform can be changed for a higher likelihood.
TEST(SemiTied, IsAMaximumOfTheLikelihood) {
  std::list<std::vector<double>> owner;
  std::mt19937_64 random(2);
  ThreadPool pool(1);
  constexpr size_t d = 4;
  const WeightedCovariances covariances = covariances_with(random_square(d, &random), d, 6, 0.3, &random, &owner);
  Square unit(d * d);
  for (size_t i = 0; i < d; ++i) unit[i * d + i] = 1;
  const Square a = semi_tied_transform(covariances, &pool);
  const double best = objective(a, covariances);
  EXPECT_GT(best, objective(unit, covariances) + 0.1);
  for (size_t i = 0; i < d * d; ++i) {
    for (const double step : {-0.1, -0.03, 0.03, 0.1}) {
      Square other = a;
      other[i] += step;
      EXPECT_LT(objective(other, covariances), best + 1e-4) << "element " << i << " by " << step;
    }
  }
}

TEST(SemiTied, AnyNumberOfThreadsGivesTheSameBits) {
  std::list<std::vector<double>> owner;
  std::mt19937_64 random(3);
  const WeightedCovariances covariances = covariances_with(random_square(6, &random), 6, 20, 0.2, &random, &owner);
  ThreadPool one(1), five(5);
  EXPECT_EQ(semi_tied_transform(covariances, &one), semi_tied_transform(covariances, &five));
}

TEST(SemiTied, NothingGivesTheUnitMatrix) {
  WeightedCovariances none;
  none.d = 2;
  ThreadPool pool(1);
  EXPECT_EQ(semi_tied_transform(none, &pool), (Square{1, 0, 0, 1}));
}

class SemiTiedModel : public ::testing::Test {
 protected:
  SemiTiedModel() {
    reference::RandomGmm shape;
    shape.n_states = 5;
    shape.stream_dims = {4};
    shape.min_gaussians = 2;
    shape.max_gaussians = 3;
    start_ = random_gmm(shape);
    test::draw_rows(start_, 3000, 7, &drawn_);  // with correlated dimensions
    options_ = test::loose_options(4);
  }

  // The rows under A.
  test::DrawnRows transformed(const Square &a) const {
    test::DrawnRows result;
    for (size_t row = 0; row < drawn_.values.size(); row += 4) {
      for (size_t i = 0; i < 4; ++i) {
        double sum = 0;
        for (size_t j = 0; j < 4; ++j) sum += a[i * 4 + j] * static_cast<double>(drawn_.values[row + j]);
        result.values.push_back(static_cast<float>(sum));
      }
    }
    result.rows = {4, result.values.data(), drawn_.rows.states};
    return result;
  }

  AcousticModel start_;
  test::DrawnRows drawn_;
  EstimateOptions options_;
  ThreadPool pool_{2};
};

TEST_F(SemiTiedModel, RaisesTheLikelihoodOfTheRows) {
  MixtureModel model = to_mixtures(start_), diagonal = model;
  const Square a = make_semi_tied(drawn_.rows, options_, &pool_, &model);
  em_round(drawn_.rows, options_, &pool_, &diagonal);
  const test::DrawnRows rows = transformed(a);
  const double before = test::log_likelihood(diagonal, drawn_.rows), after = test::log_likelihood(model, rows.rows);
  EXPECT_GT(after, before + 100);
  // Rounds of EM go on from there.
  double last = em_round(rows.rows, options_, &pool_, &model);
  EXPECT_NEAR(last, after, 1e-3 * std::abs(after));
  for (int round = 0; round < 3; ++round) {
    const double next = em_round(rows.rows, options_, &pool_, &model);
    EXPECT_GE(next, last - 1e-9 * std::abs(last));
    last = next;
  }
}

TEST_F(SemiTiedModel, MeansAreNewOnes) {
  MixtureModel model = to_mixtures(start_), diagonal = model;
  const Square a = make_semi_tied(drawn_.rows, options_, &pool_, &model);
  em_round(drawn_.rows, options_, &pool_, &diagonal);
  for (size_t m = 0; m < model.mixtures.size(); ++m) {
    const std::vector<double> &means = diagonal.mixtures[m].means;
    for (size_t at = 0; at < means.size(); ++at) {
      double want = 0;
      for (size_t j = 0; j < 4; ++j) want += a[at % 4 * 4 + j] * means[at / 4 * 4 + j];
      EXPECT_NEAR(model.mixtures[m].means[at], want, 1e-9);
    }
  }
}

// |A| = 1: densities of the new features are those of the old ones under covariances A^-1 diag(v) A'^-1.
TEST_F(SemiTiedModel, DensitiesAreThoseOfFullCovariances) {
  MixtureModel model = to_mixtures(start_);
  Square inverse = make_semi_tied(drawn_.rows, options_, &pool_, &model);
  const test::DrawnRows rows = transformed(inverse);
  invert_square(&inverse, 4);
  MixtureModel full = model;
  full.full = true;
  for (Mixture &mixture : full.mixtures) {
    const std::vector<double> variances = mixture.covariances, means = mixture.means;
    mixture.covariances.clear();
    for (size_t k = 0; k < mixture.n_gaussians(); ++k) {
      const auto first = variances.begin() + static_cast<ptrdiff_t>(k * 4);
      const std::vector<double> triangle = covariance_of(inverse, {first, first + 4});
      mixture.covariances.insert(mixture.covariances.end(), triangle.begin(), triangle.end());
      for (size_t i = 0; i < 4; ++i) {
        mixture.means[k * 4 + i] = 0;
        for (size_t j = 0; j < 4; ++j) mixture.means[k * 4 + i] += inverse[i * 4 + j] * means[k * 4 + j];
      }
    }
  }
  const double of_old = test::log_likelihood(full, drawn_.rows), of_new = test::log_likelihood(model, rows.rows);
  EXPECT_NEAR(of_new, of_old, 1e-5 * std::abs(of_old));
}

TEST_F(SemiTiedModel, RareGaussiansKeepTheirPlace) {
  MixtureModel model = to_mixtures(start_);
  const MixtureModel before = model;
  options_.min_frames = 1e9;
  EXPECT_EQ(make_semi_tied(drawn_.rows, options_, &pool_, &model)[1], 0);
  EXPECT_EQ(model.mixtures[0].means, before.mixtures[0].means);
  EXPECT_EQ(model.mixtures[0].covariances, before.mixtures[0].covariances);

  // A Gaussian without rows beside others that have some: A mu, and the diagonal of A diag(v) A'.
  options_.min_frames = 1;
  for (uint32_t &state : drawn_.rows.states) state = state == 0 ? kNoState : state;
  const Square a = make_semi_tied(drawn_.rows, options_, &pool_, &model);
  const Mixture &old = before.mixtures[before.state_mixture[0]], &now = model.mixtures[model.state_mixture[0]];
  for (size_t i = 0; i < 4; ++i) {
    double mean = 0, variance = 0;
    for (size_t j = 0; j < 4; ++j) {
      mean += a[i * 4 + j] * old.means[j];
      variance += a[i * 4 + j] * a[i * 4 + j] * old.covariances[j];
    }
    EXPECT_NEAR(now.means[i], mean, 1e-9);
    EXPECT_NEAR(now.covariances[i], variance, 1e-9);
  }
}

TEST_F(SemiTiedModel, ConstantFeaturesLeaveFiniteNumbers) {
  for (size_t row = 0; row < drawn_.values.size(); row += 4) drawn_.values[row + 2] = 1.5f;
  options_.variance_floor = floor_of(moments_of(drawn_.rows, &pool_).variance, 0.01);
  MixtureModel model = to_mixtures(start_);
  const Square a = make_semi_tied(drawn_.rows, options_, &pool_, &model);
  EXPECT_NEAR(log_determinant(a, 4), 0, 1e-6);
  const test::DrawnRows rows = transformed(a);
  options_.variance_floor = floor_of(moments_of(rows.rows, &pool_).variance, 0.01);
  EXPECT_TRUE(std::isfinite(em_round(rows.rows, options_, &pool_, &model)));
  to_acoustic_model(model, "model");  // validated
}

// Fewer rows than dimensions: the floor keeps variances away from 0 along every direction.
TEST_F(SemiTiedModel, FewRowsLeaveFiniteNumbers) {
  std::fill(drawn_.rows.states.begin() + 3, drawn_.rows.states.end(), kNoState);
  MixtureModel model = to_mixtures(start_);
  const Square a = make_semi_tied(drawn_.rows, options_, &pool_, &model);
  EXPECT_NEAR(log_determinant(a, 4), 0, 1e-6);
  to_acoustic_model(model, "model");  // validated
}

TEST(SemiTied, IsForOneStreamOfAllFeatures) {
  EXPECT_TRUE(may_be_semi_tied({{{0, 1, 2}}}, 3));
  EXPECT_FALSE(may_be_semi_tied({{{0, 1}}}, 3));
  EXPECT_FALSE(may_be_semi_tied({{{1, 0, 2}}}, 3));
  EXPECT_FALSE(may_be_semi_tied({{{0, 1}}, {{2}}}, 3));
}

TEST(SemiTied, JoinsTheFrontEnd) {
  FrontEnd plain;
  plain.n_ceps = 2;
  append_transform({1, 2, 3, 4}, &plain);
  EXPECT_EQ(plain.transform, (std::vector<float>{1, 2, 3, 4}));
  EXPECT_EQ(plain.transform_rows, 2u);
  EXPECT_EQ(plain.transform_cols, 2u);
  plain.validate("front end");

  // A (T x + b), where T takes three values and b is its last column.
  FrontEnd spliced;
  spliced.n_ceps = 3;
  spliced.transform_rows = 2;
  spliced.transform_cols = 4;
  spliced.transform = {1, 0, 2, 5, 0, 1, -1, 7};
  append_transform({1, 2, 3, 4}, &spliced);
  EXPECT_EQ(spliced.transform, (std::vector<float>{1, 2, 0, 19, 3, 4, 2, 43}));
  EXPECT_EQ(spliced.n_dims(), 2u);
  spliced.validate("front end");
}

}  // namespace
}  // namespace asr::train
