// SPDX-License-Identifier: Apache-2.0
// Models on their way into training's form and back: the plain reference must score them alike.
#include "builder/train/mixture_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "builder/train/matrix.h"
#include "core/base/error.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"
#include "tests/unit/model/small_model.h"

namespace asr::train {
namespace {

void expect_same_scores(const AcousticModel &a, const AcousticModel &b, const std::vector<float> &rows, double tolerance) {
  ASSERT_EQ(a.n_states, b.n_states);
  const AcousticView view_a(a), view_b(b);
  for (size_t row = 0; row < rows.size(); row += a.n_dims) {
    for (uint32_t state = 0; state < a.n_states; ++state) {
      const double score = reference::log_likelihood(*view_a.get(), state, &rows[row]);
      EXPECT_NEAR(reference::log_likelihood(*view_b.get(), state, &rows[row]), score, tolerance * (1 + std::abs(score)));
    }
  }
}

std::vector<reference::RandomGmm> shapes() {
  reference::RandomGmm own;
  own.stream_dims = {4, 3};
  own.n_states = 6;
  reference::RandomGmm shared = own;
  shared.n_codebooks = 2;
  shared.n_covariances = 3;
  reference::RandomGmm full = own, full_shared = shared;
  full.covariance = full_shared.covariance = ASR_COVARIANCE_FULL;
  return {own, shared, full, full_shared};
}

TEST(MixtureModel, ModelsComeBack) {
  for (const reference::RandomGmm &shape : shapes()) {
    const AcousticModel model = random_gmm(shape);
    const MixtureModel mixtures = to_mixtures(model);
    EXPECT_EQ(mixtures.n_gaussians(), model.n_gaussians());
    EXPECT_EQ(
        mixtures.n_parameters(), model.means.size() + model.log_weights.size() + [&] {
          size_t n = 0;
          for (const Mixture &mixture : mixtures.mixtures) n += mixture.n_gaussians() * mixtures.covariance_size(mixture);
          return n;
        }());
    expect_same_scores(model, to_acoustic_model(mixtures, "model"), random_features(shape, 20), 1e-5);
  }
}

TEST(MixtureModel, UntiedAndFullAsItWas) {
  for (const reference::RandomGmm &shape : shapes()) {
    const AcousticModel model = random_gmm(shape);
    MixtureModel mixtures = to_mixtures(model);
    untie(&mixtures);
    EXPECT_EQ(mixtures.mixtures.size(), model.state_codebook.size());
    make_full(&mixtures);
    EXPECT_TRUE(mixtures.full);
    const AcousticModel changed = to_acoustic_model(mixtures, "model");
    EXPECT_EQ(changed.covariance, ASR_COVARIANCE_FULL);
    expect_same_scores(model, changed, random_features(shape, 20), 1e-4);
  }
}

TEST(MixtureModel, FlatStartIsOneGaussianAGroup) {
  const AcousticModel shape = random_gmm(shapes()[0]);
  std::vector<double> mean, variance;
  for (uint32_t dim = 0; dim < shape.n_dims; ++dim) {
    mean.push_back(dim);
    variance.push_back(1 + dim);
  }
  const MixtureModel flat = flat_start(shape, {0, 1, 0, 1, 2, 2}, mean, variance);
  EXPECT_EQ(flat.mixtures.size(), 6u);  // three groups in two streams
  EXPECT_EQ(flat.n_states(), 6u);
  EXPECT_EQ(flat.state_mixture[0], flat.state_mixture[4]);  // states 0 and 2
  EXPECT_NE(flat.state_mixture[0], flat.state_mixture[2]);
  double want = 0;
  for (const double value : variance) want -= 0.5 * std::log(2 * M_PI * value) + 0.5 / value;
  std::vector<float> row;
  for (const double value : mean) row.push_back(static_cast<float>(value + 1));
  const AcousticModel model = to_acoustic_model(flat, "model");
  const AcousticView view(model);
  for (uint32_t state = 0; state < 6; ++state)
    EXPECT_NEAR(reference::log_likelihood(*view.get(), state, row.data()), want, 1e-5);
}

TEST(MixtureModel, GroupsAreThoseOfPhones) {
  // A is 0 1 2 and in contexts 0 6 2 and 0 7 2; B is 3 4 5 and in a context 3 4 7; SIL is 8.
  const std::vector<uint32_t> groups = phone_groups(test::small_hmm_set());
  EXPECT_EQ(groups, (std::vector<uint32_t>{0, 1, 2, 3, 4, 5, 1, 1, 6}));
}

// Rounded to float such a matrix is positive definite no longer.
TEST(MixtureModel, NearlySingularCovariancesStayPositiveDefinite) {
  constexpr uint32_t d = 6;
  MixtureModel model;
  model.full = true;
  model.n_dims = d;
  model.streams.resize(1);
  for (uint32_t dim = 0; dim < d; ++dim) model.streams[0].dims.push_back(dim);
  Mixture mixture{0, std::vector<double>(d), {}, {1}, {0}, {}};
  for (uint32_t r = 0; r < d; ++r) {
    for (uint32_t c = 0; c <= r; ++c) mixture.covariances.push_back(r == c ? 1 + 1e-12 : 1);
  }
  model.mixtures = {mixture};
  model.state_mixture = model.state_weight_row = {0};
  const AcousticModel written = to_acoustic_model(model, "model");
  const AcousticView view(written);
  const std::vector<float> row(d, 0.5f);
  EXPECT_TRUE(std::isfinite(reference::log_likelihood(*view.get(), 0, row.data())));
}

}  // namespace
}  // namespace asr::train
