// SPDX-License-Identifier: Apache-2.0
// The rules of estimation and splitting, on mixtures of a few numbers.
#include "builder/train/estimate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "builder/train/em.h"
#include "builder/train/matrix.h"

namespace asr::train {
namespace {

// One state, one stream, n dimensions, Gaussians of variance 1 at the means given.
MixtureModel small_model(uint32_t d, const std::vector<double> &means) {
  MixtureModel model;
  model.n_dims = d;
  model.streams.resize(1);
  for (uint32_t dim = 0; dim < d; ++dim) model.streams[0].dims.push_back(dim);
  const size_t n = means.size() / d;
  model.mixtures.push_back({0,
                            means,
                            std::vector<double>(n * d, 1),
                            std::vector<double>(n, 1.0 / static_cast<double>(n)),
                            std::vector<double>(n),
                            {}});
  model.state_mixture = model.state_weight_row = {0};
  return model;
}

Mixture estimated(MixtureModel model, const std::vector<float> &values, const EstimateOptions &options) {
  TrainingRows rows{model.n_dims, values.data(), std::vector<uint32_t>(values.size() / model.n_dims)};
  ThreadPool pool(1);
  em_round(rows, options, &pool, &model);
  return model.mixtures[0];
}

EstimateOptions options_of(uint32_t d, double min_frames, double floor) {
  EstimateOptions options;
  options.min_frames = min_frames;
  options.variance_floor.assign(d, floor);
  return options;
}

TEST(Estimate, MixtureWithoutEnoughRowsStaysAsItIs) {
  const MixtureModel model = small_model(2, {0, 0, 5, 5});
  for (const size_t n_rows : {0, 1, 9}) {
    const Mixture mixture = estimated(model, std::vector<float>(2 * n_rows, 3), options_of(2, 10, 0.1));
    EXPECT_EQ(mixture.means, model.mixtures[0].means);
    EXPECT_EQ(mixture.covariances, model.mixtures[0].covariances);
    EXPECT_EQ(mixture.weights, model.mixtures[0].weights);
    EXPECT_NEAR(mixture.occupancies[0] + mixture.occupancies[1], static_cast<double>(n_rows), 1e-9);
  }
}

TEST(Estimate, ConstantRowsGetTheFloor) {
  for (const bool full : {false, true}) {
    MixtureModel model = small_model(2, {0, 0});
    if (full) make_full(&model);
    const Mixture mixture = estimated(model, std::vector<float>(40, 3), options_of(2, 10, 0.25));
    EXPECT_EQ(mixture.means, (std::vector<double>{3, 3}));
    const std::vector<double> want = full ? std::vector<double>{0.25, 0, 0.25} : std::vector<double>{0.25, 0.25};
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(mixture.covariances[i], want[i], 1e-12);
  }
}

// Rounding leaves variances of constant rows a little below 0 or above.
TEST(Estimate, ConstantRowsGetTheFloorWithCorrelationsToo) {
  MixtureModel model = small_model(2, {0.3, -0.7});
  make_full(&model);
  EstimateOptions options = options_of(2, 1, 0.25);
  options.smooth = 5;
  options.correlations = {{1, 0.5, 1}};
  for (size_t n = 3; n < 40; ++n) {
    const Mixture mixture = estimated(model, std::vector<float>(2 * n, 0.1f), options);
    const std::vector<double> want = {0.25, 0, 0.25};
    for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(mixture.covariances[i], want[i], 1e-9);
  }
}

TEST(Estimate, OneRowIsEnoughWhereOneIsAskedFor) {
  MixtureModel model = small_model(2, {0, 0});
  make_full(&model);
  const Mixture mixture = estimated(model, {7, -2}, options_of(2, 1, 0.5));
  EXPECT_EQ(mixture.means, (std::vector<double>{7, -2}));
  EXPECT_NEAR(mixture.covariances[0], 0.5, 1e-12);
  EXPECT_NEAR(mixture.covariances[1], 0, 1e-12);
}

TEST(Estimate, RareGaussiansStayAndGetAWeight) {
  MixtureModel model = small_model(1, {0, 100, 200});
  model.mixtures[0].weights = {0.25, 0.25, 0.5, 0.75, 0.125, 0.125};
  model.state_mixture = {0, 0};
  model.state_weight_row = {0, 1};
  std::vector<float> rows(30, 1);
  rows.insert(rows.end(), 5, 101);
  rows.insert(rows.end(), 12, 201);
  const Mixture mixture = estimated(model, rows, options_of(1, 10, 0.1));  // all of the first state
  EXPECT_EQ(mixture.means, (std::vector<double>{1, 100, 201}));
  EXPECT_EQ(mixture.covariances, (std::vector<double>{0.1, 1, 0.1}));
  for (size_t k = 0; k < 3; ++k) {
    const double frames = std::vector<double>{30, 5, 12}[k];
    EXPECT_NEAR(mixture.occupancies[k], frames, 1e-9);
    EXPECT_NEAR(mixture.weights[k], frames / 47, 1e-9);
    EXPECT_EQ(mixture.weights[3 + k], model.mixtures[0].weights[3 + k]);  // this state has no rows
  }
}

TEST(Estimate, WeightsOfARareStateStay) {
  MixtureModel model = small_model(1, {0, 100});
  model.mixtures[0].weights = {0.5, 0.5, 0.875, 0.125};
  model.state_mixture = {0, 0};
  model.state_weight_row = {0, 1};
  for (const uint32_t n_rare : {9u, 10u}) {
    std::vector<float> values(30, 0);
    values.resize(30 + n_rare, 100);
    TrainingRows rows{1, values.data(), std::vector<uint32_t>(30)};
    rows.states.resize(values.size(), 1);
    MixtureModel trained = model;
    ThreadPool pool(1);
    em_round(rows, options_of(1, 10, 0.1), &pool, &trained);
    const std::vector<double> &weights = trained.mixtures[0].weights;
    EXPECT_NEAR(weights[0], 1, 1e-4);
    EXPECT_NEAR(weights[3], n_rare < 10 ? 0.125 : 1, 1e-4) << n_rare;
  }
}

// The prior applies to states that share Gaussians; a state with Gaussians of its own has none.
TEST(Estimate, WeightsAreDrawnTowardsTheStart) {
  MixtureModel model = small_model(1, {0, 100});
  model.mixtures[0].weights = {0.5, 0.5, 0.25, 0.75};
  model.state_mixture = {0, 0};
  model.state_weight_row = {0, 1};
  const AcousticModel start = to_acoustic_model(model, "start");
  EstimateOptions options = options_of(1, 10, 0.1);
  for (const double prior : {0, 10, 60}) {
    options.weight_prior = prior;
    MixtureModel shared = to_mixtures(start), own = shared;
    const std::vector<float> values(20, 0);
    TrainingRows rows{1, values.data(), std::vector<uint32_t>(20, 1)};
    ThreadPool pool(1);
    for (int round = 0; round < 3; ++round) em_round(rows, options, &pool, &shared);
    EXPECT_NEAR(shared.mixtures[0].weights[2], (20 + 0.25 * prior) / (20 + prior), 1e-4) << prior;
    EXPECT_NEAR(shared.mixtures[0].weights[0], 0.5, 1e-6);
    untie(&own);
    em_round(rows, options, &pool, &own);
    EXPECT_NEAR(own.mixtures[1].weights[0], 1, 1e-4) << prior;
  }
}

TEST(Estimate, WeightsKeepTheirFloor) {
  EstimateOptions options = options_of(1, 1e-6, 0.1);
  options.min_weight = 0.1;
  std::vector<float> rows(99, 0);
  rows.push_back(100);
  const Mixture mixture = estimated(small_model(1, {0, 100}), rows, options);
  EXPECT_NEAR(mixture.weights[0], 0.99 / 1.09, 1e-9);
  EXPECT_NEAR(mixture.weights[1], 0.1 / 1.09, 1e-9);
}

// Rows with a known covariance: [[2, 1], [1, 2]], of 4 rows.
TEST(Estimate, SmoothingDrawsTowardsDiagonalOrCorrelations) {
  MixtureModel model = small_model(2, {0, 0});
  make_full(&model);
  const float a = std::sqrt(6.0f), b = std::sqrt(2.0f);
  const std::vector<float> rows = {a / b, a / b, -a / b, -a / b, 1, -1, -1, 1};
  EstimateOptions options = options_of(2, 1, 0.01);
  const auto beside = [&] { return estimated(model, rows, options).covariances[1]; };
  EXPECT_NEAR(beside(), 1, 1e-6);
  options.smooth = 4;
  EXPECT_NEAR(beside(), 0.5, 1e-6);
  options.smooth = 12;
  EXPECT_NEAR(beside(), 0.25, 1e-6);
  options.correlations = {{1, -0.5, 1}};
  EXPECT_NEAR(beside(), 0.25 - 0.75 * 0.5 * 2, 1e-6);
  options.smooth = 1e12;
  EXPECT_NEAR(beside(), -1, 1e-6);
}

TEST(Estimate, CorrelationsAreMeansByFrames) {
  MixtureModel model = small_model(2, {0, 0, 1, 1});
  make_full(&model);
  model.mixtures[0].covariances = {4, 3, 9, 1, -0.5, 1};
  model.mixtures[0].occupancies = {30, 10};
  const std::vector<double> correlations = mean_correlations(model)[0];
  EXPECT_NEAR(correlations[0], 1, 1e-12);
  EXPECT_NEAR(correlations[1], (30 * 0.5 - 10 * 0.5) / 40, 1e-12);
}

TEST(Split, TheHeaviestIsSplitByAFifthOfItsDeviation) {
  for (const bool full : {false, true}) {
    MixtureModel model = small_model(1, {0, 10});
    if (full) make_full(&model);
    Mixture &mixture = model.mixtures[0];
    mixture.covariances = {1, 4};
    mixture.occupancies = {20, 60};
    mixture.weights = {0.25, 0.75, 0.5, 0.5};  // two states
    mixture.prior_weights = {0.5, 0.5, 0.75, 0.25};
    split(model, 3, 10, &mixture);
    EXPECT_EQ(mixture.means, (std::vector<double>{0, 10.4, 9.6}));
    EXPECT_EQ(mixture.covariances, (std::vector<double>{1, 4, 4}));
    EXPECT_EQ(mixture.occupancies, (std::vector<double>{20, 30, 30}));
    EXPECT_EQ(mixture.weights, (std::vector<double>{0.25, 0.375, 0.375, 0.5, 0.25, 0.25}));
    EXPECT_EQ(mixture.prior_weights, (std::vector<double>{0.5, 0.25, 0.25, 0.75, 0.125, 0.125}));
  }
}

TEST(Split, StopsWhereFramesAreTooFewForTwo) {
  MixtureModel model = small_model(1, {0, 10});
  Mixture &mixture = model.mixtures[0];
  mixture.occupancies = {45, 15};
  split(model, 100, 10, &mixture);
  EXPECT_EQ(mixture.n_gaussians(), 5u);  // four of 11.25, and 15
  mixture.occupancies.assign(5, 0);      // never estimated
  split(model, 100, 10, &mixture);
  EXPECT_EQ(mixture.n_gaussians(), 5u);
}

TEST(Floor, IsOfAllDirections) {
  const std::vector<double> floor = {0.5, 0.2, 0.1};
  std::vector<double> matrix = {2, 1.9, 2, 0.3, 0.2, 0.05};
  floor_covariance(&matrix, floor);
  for (const double angle : {0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0}) {
    for (const double height : {-2.0, -1.0, 0.0, 0.3, 1.0}) {
      const std::vector<double> x = {std::cos(angle), std::sin(angle), height};
      double variance = 0, least = 0;
      for (size_t r = 0; r < 3; ++r) {
        least += floor[r] * x[r] * x[r];
        for (size_t c = 0; c < 3; ++c) variance += x[r] * x[c] * matrix[triangle_at(std::max(r, c), std::min(r, c))];
      }
      EXPECT_GE(variance, least * (1 - 1e-9));
    }
  }
  const std::vector<double> once = matrix;
  floor_covariance(&matrix, floor);
  for (size_t i = 0; i < once.size(); ++i) EXPECT_NEAR(matrix[i], once[i], 1e-9);
  std::vector<double> above = {2, 0.5, 1, -0.3, 0.2, 0.9};
  const std::vector<double> as_it_was = above;
  floor_covariance(&above, floor);
  EXPECT_EQ(above, as_it_was);
}

// Diagonal matrices are floored as diagonal covariances are.
TEST(Floor, OfADiagonalIsTheLargerOne) {
  std::vector<double> matrix = {2, 0, 0.1, 0, 0, 0.05};
  floor_covariance(&matrix, {0.5, 0.2, 0.01});
  const std::vector<double> want = {2, 0, 0.2, 0, 0, 0.05};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(matrix[i], want[i], 1e-12);
}

TEST(Matrix, InverseOfAFactor) {
  const std::vector<double> factor = {2, 1, 3, -1, 0.5, 1};
  const std::vector<double> inverse = inverse_of_factor(factor, 3);
  const auto at = [](const std::vector<double> &m, size_t r, size_t c) {
    return m[triangle_at(std::max(r, c), std::min(r, c))];
  };
  for (size_t r = 0; r < 3; ++r) {
    for (size_t c = 0; c < 3; ++c) {
      double sum = 0;
      for (size_t k = 0; k < 3; ++k) {
        double product = 0;  // (L L')(r, k)
        for (size_t i = 0; i <= std::min(r, k); ++i) product += factor[triangle_at(r, i)] * factor[triangle_at(k, i)];
        sum += product * at(inverse, k, c);
      }
      EXPECT_NEAR(sum, r == c ? 1 : 0, 1e-12);
    }
  }
}

TEST(Matrix, InverseAndDeterminantOfASquare) {
  std::vector<double> matrix = {0, 2, 1, 1, 1, 0, 3, 0, 1};  // the first pivot is of another row; |matrix| = -5
  EXPECT_NEAR(invert_square(&matrix, 3), std::log(5.0), 1e-12);
  const std::vector<double> want = {-0.2, 0.4, 0.2, 0.2, 0.6, -0.2, 0.6, -1.2, 0.4};
  for (size_t i = 0; i < want.size(); ++i) EXPECT_NEAR(matrix[i], want[i], 1e-12);
  std::vector<double> singular = {1, 2, 2, 4};
  EXPECT_EQ(invert_square(&singular, 2), -INFINITY);
}

}  // namespace
}  // namespace asr::train
