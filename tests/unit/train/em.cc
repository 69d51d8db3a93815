// SPDX-License-Identifier: Apache-2.0
// Tests rounds of EM against plain loops in double, and invariants of every round.
#include "builder/train/em.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "builder/train/matrix.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"
#include "tests/unit/train/drawn_rows.h"

namespace asr::train {
namespace {

using test::DrawnRows;

std::vector<reference::RandomGmm> shapes() {
  reference::RandomGmm own, streams, shared;
  own.n_states = 5;
  own.stream_dims = {4};
  own.min_gaussians = 2;
  own.max_gaussians = 3;
  streams = own;
  streams.stream_dims = {3, 2};
  shared = streams;
  shared.n_codebooks = 2;
  std::vector<reference::RandomGmm> all = {own, streams, shared};
  for (const reference::RandomGmm &diagonal : {own, streams, shared}) {
    all.push_back(diagonal);
    all.back().covariance = ASR_COVARIANCE_FULL;
  }
  return all;
}

// The shares of the Gaussians of a state's stream in a row, by the definition.
std::vector<double> shares(const AcousticModel &model, uint32_t state, size_t stream, const float *row) {
  const size_t cell = state * model.streams.size() + stream;
  const asr_gmm_codebook &codebook = model.codebooks[model.state_codebook[cell]];
  const std::vector<uint32_t> &dims = model.streams[stream].dims;
  const auto d = static_cast<uint32_t>(dims.size());
  std::vector<double> x, densities;
  for (const uint32_t dim : dims) x.push_back(static_cast<double>(row[dim]));
  double sum = 0;
  for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
    const float *const mean = &model.means[codebook.first_mean + uint64_t{k} * d];
    const float *const precision = &model.precisions[model.precision_at[model.covariance_of[codebook.first_gaussian + k]]];
    const double log_density = model.covariance == ASR_COVARIANCE_FULL
                                   ? reference::log_gaussian_full(x.data(), mean, precision, d)
                                   : reference::log_gaussian_diagonal(x.data(), mean, precision, d);
    densities.push_back(std::exp(log_density + static_cast<double>(model.log_weights[model.state_weight[cell] + k])));
    sum += densities.back();
  }
  for (double &density : densities) density /= sum;
  return densities;
}

// Mean, covariance (r, c) and frames of Gaussian k of a mixture, in two passes over all rows.
struct Expected {
  double frames = 0;
  std::vector<double> mean;
  std::vector<std::vector<double>> covariance;
};

Expected expected(const AcousticModel &model, const TrainingRows &rows, uint32_t codebook, uint32_t k) {
  const size_t stream = model.codebooks[codebook].stream;
  const std::vector<uint32_t> &dims = model.streams[stream].dims;
  Expected result;
  result.mean.assign(dims.size(), 0);
  result.covariance.assign(dims.size(), std::vector<double>(dims.size()));
  const auto for_each = [&](const auto &visit) {
    for (uint64_t i = 0; i < rows.n_shares(); ++i) {
      const auto [row, state, share] = rows.share(i);
      if (state == kNoState || model.state_codebook[state * model.streams.size() + stream] != codebook) continue;
      visit(rows.row(row), static_cast<double>(share) * shares(model, state, stream, rows.row(row))[k]);
    }
  };
  for_each([&](const float *row, double share) {
    result.frames += share;
    for (size_t r = 0; r < dims.size(); ++r) result.mean[r] += share * static_cast<double>(row[dims[r]]);
  });
  for (double &value : result.mean) value /= result.frames;
  for_each([&](const float *row, double share) {
    for (size_t r = 0; r < dims.size(); ++r) {
      for (size_t c = 0; c < dims.size(); ++c) {
        result.covariance[r][c] += share * (static_cast<double>(row[dims[r]]) - result.mean[r]) *
                                   (static_cast<double>(row[dims[c]]) - result.mean[c]) / result.frames;
      }
    }
  });
  return result;
}

// Divides each row between its state and others.
void share_rows(uint32_t n_states, TrainingRows *rows) {
  for (uint64_t row = 0; row < rows->states.size(); ++row) {
    const uint32_t state = rows->states[row];
    if (state == kNoState) continue;
    const float others = static_cast<float>(row % 5) / 8;
    rows->shares.push_back({row, state, 1 - others});
    if (others > 0) rows->shares.push_back({row, (state + 1) % n_states, others});
  }
}

void expect_the_definition(const AcousticModel &start, const DrawnRows &drawn) {
  MixtureModel model = to_mixtures(start);
  ThreadPool pool(2);
  const double before = test::log_likelihood(model, drawn.rows);
  EXPECT_NEAR(em_round(drawn.rows, test::loose_options(start.n_dims), &pool, &model), before, 1e-3 * std::abs(before) / 100);
  for (uint32_t c = 0; c < start.codebooks.size(); ++c) {
    const Mixture &mixture = model.mixtures[c];
    const size_t d = model.n_values(mixture), size = model.covariance_size(mixture);
    for (uint32_t k = 0; k < mixture.n_gaussians(); ++k) {
      const Expected want = expected(start, drawn.rows, c, k);
      EXPECT_NEAR(mixture.occupancies[k], want.frames, 1e-4 * want.frames + 1e-6);
      for (size_t r = 0; r < d; ++r) {
        EXPECT_NEAR(mixture.means[k * d + r], want.mean[r], 1e-4);
        const size_t at = k * size + (model.full ? diagonal_at(r) : r);
        EXPECT_NEAR(mixture.covariances[at], std::max(want.covariance[r][r], 1e-3), 1e-3);
        for (size_t b = 0; model.full && b < r && want.frames > 20; ++b) {
          EXPECT_NEAR(mixture.covariances[k * size + triangle_at(r, b)], want.covariance[r][b], 1e-3);
        }
      }
    }
  }
}

TEST(Em, RoundIsThatOfTheDefinition) {
  for (const reference::RandomGmm &shape : shapes()) {
    const AcousticModel start = random_gmm(shape);
    DrawnRows drawn;
    test::draw_rows(start, 400, 3, &drawn);
    drawn.rows.states[7] = drawn.rows.states[200] = kNoState;
    expect_the_definition(start, drawn);
    share_rows(start.n_states, &drawn.rows);
    expect_the_definition(start, drawn);
  }
}

TEST(Em, SharesOfOneAreStates) {
  const AcousticModel start = random_gmm(shapes()[1]);
  DrawnRows drawn;
  test::draw_rows(start, 500, 6, &drawn);
  MixtureModel by_states = to_mixtures(start), by_shares = by_states;
  ThreadPool pool(2);
  const double expected = em_round(drawn.rows, test::loose_options(start.n_dims), &pool, &by_states);
  for (uint64_t row = 0; row < 500; ++row) drawn.rows.shares.push_back({row, drawn.rows.states[row], 1});
  EXPECT_EQ(em_round(drawn.rows, test::loose_options(start.n_dims), &pool, &by_shares), expected);
  for (size_t i = 0; i < by_states.mixtures.size(); ++i) {
    EXPECT_EQ(by_states.mixtures[i].means, by_shares.mixtures[i].means);
    EXPECT_EQ(by_states.mixtures[i].covariances, by_shares.mixtures[i].covariances);
    EXPECT_EQ(by_states.mixtures[i].weights, by_shares.mixtures[i].weights);
  }
}

TEST(Em, EveryRoundRaisesTheLikelihood) {
  for (const reference::RandomGmm &shape : shapes()) {
    const AcousticModel start = random_gmm(shape);
    DrawnRows drawn;
    test::draw_rows(start, 1500, 4, &drawn);
    MixtureModel model = to_mixtures(start);
    for (Mixture &mixture : model.mixtures) {
      for (double &mean : mixture.means) mean *= 0.5;  // away from where EM ends
    }
    EstimateOptions options = test::loose_options(start.n_dims);
    options.variance_floor.assign(start.n_dims, 0.9);  // meets many Gaussians
    ThreadPool pool(2);
    em_round(drawn.rows, options, &pool, &model);  // the start does not keep the floor
    double last = em_round(drawn.rows, options, &pool, &model);
    const double first = last;
    for (int round = 0; round < 12; ++round) {
      const double next = em_round(drawn.rows, options, &pool, &model);
      EXPECT_GE(next, last - 1e-9 * std::abs(last)) << "round " << round << (model.full ? ", full" : ", diagonal");
      last = next;
    }
    EXPECT_GT(last, first + 1);
  }
}

TEST(Em, AnyNumberOfThreadsGivesTheSameBits) {
  reference::RandomGmm shape = shapes()[0];
  for (const bool full : {false, true}) {
    shape.covariance = full ? ASR_COVARIANCE_FULL : ASR_COVARIANCE_DIAGONAL;
    const AcousticModel start = random_gmm(shape);
    DrawnRows drawn;
    test::draw_rows(start, 30000, 5, &drawn);
    for (size_t i = 0; i < 20000; ++i) drawn.rows.states[i] = 2;  // several pieces
    std::vector<MixtureModel> models;
    std::vector<double> log_likelihoods;
    for (const uint32_t n_threads : {1u, 2u, 3u, 8u}) {
      models.push_back(to_mixtures(start));
      ThreadPool pool(n_threads);
      const Moments moments = moments_of(drawn.rows, &pool);
      EstimateOptions options;
      options.variance_floor = floor_of(moments.variance, 0.01);
      const double before = test::log_likelihood(models.back(), drawn.rows);
      EXPECT_NEAR(em_round(drawn.rows, options, &pool, &models.back()), before, 1e-5 * std::abs(before));
      for (Mixture &mixture : models.back().mixtures) split(models.back(), 4, 10, &mixture);
      log_likelihoods.push_back(em_round(drawn.rows, options, &pool, &models.back()));
    }
    double frames = 0;
    for (const Mixture &mixture : models[0].mixtures) {
      frames += std::accumulate(mixture.occupancies.begin(), mixture.occupancies.end(), 0.0);
    }
    EXPECT_NEAR(frames, 30000, 1e-3);  // no row is lost between pieces
    for (size_t i = 1; i < models.size(); ++i) {
      EXPECT_EQ(log_likelihoods[i], log_likelihoods[0]);
      for (size_t m = 0; m < models[0].mixtures.size(); ++m) {
        EXPECT_EQ(models[i].mixtures[m].means, models[0].mixtures[m].means);
        EXPECT_EQ(models[i].mixtures[m].covariances, models[0].mixtures[m].covariances);
        EXPECT_EQ(models[i].mixtures[m].weights, models[0].mixtures[m].weights);
      }
    }
  }
}

TEST(Em, MomentsAreThoseOfTheRowsWithAState) {
  DrawnRows drawn;
  drawn.values = {1, 10, 3, 10, 100, 100, 5, 10};
  drawn.rows = {2, drawn.values.data(), {0, 1, kNoState, 0}};
  ThreadPool pool(2);
  const Moments moments = moments_of(drawn.rows, &pool);
  EXPECT_EQ(moments.mean, (std::vector<double>{3, 10}));
  EXPECT_NEAR(moments.variance[0], 8.0 / 3, 1e-12);
  EXPECT_EQ(moments.variance[1], 0);
}

// No number overflows where Gaussians start far from all rows, or values are large.
TEST(Em, FarRowsLeaveFiniteNumbers) {
  for (const bool full : {false, true}) {
    reference::RandomGmm shape = shapes()[full ? 3 : 0];
    const AcousticModel start = random_gmm(shape);
    DrawnRows drawn;
    test::draw_rows(start, 300, 6, &drawn);
    for (size_t i = 0; i < 40; ++i) drawn.values[i] *= 1e9f;
    MixtureModel model = to_mixtures(start);
    ThreadPool pool(1);
    const Moments moments = moments_of(drawn.rows, &pool);
    EstimateOptions options;
    options.variance_floor = floor_of(moments.variance, 0.01);
    for (int round = 0; round < 3; ++round) {
      EXPECT_TRUE(std::isfinite(em_round(drawn.rows, options, &pool, &model)));
    }
    to_acoustic_model(model, "model");  // validated
  }
}

}  // namespace
}  // namespace asr::train
