// SPDX-License-Identifier: Apache-2.0
// Smoothing of a model's full covariances against T5 in plain loops.
#include "builder/train/shrink.h"

#include <gtest/gtest.h>

#include <cmath>

#include "builder/train/matrix.h"
#include "builder/train/mixture_model.h"
#include "reference/random_gmm.h"
#include "tests/unit/scratch.h"

namespace asr::train {
namespace {

AcousticModel full_model(uint32_t n_covariances) {
  reference::RandomGmm shape;
  shape.covariance = ASR_COVARIANCE_FULL;
  shape.n_states = 4;
  shape.stream_dims = {3, 2};
  shape.n_covariances = n_covariances;
  return random_gmm(shape);
}

TEST(Shrink, IsThatOfTheDefinition) {
  for (const uint32_t n_covariances : {0u, 3u}) {
    const AcousticModel model = full_model(n_covariances);
    const MixtureModel before = to_mixtures(model);
    for (const bool to_shared : {false, true}) {
      AcousticModel shrunk = model;
      shrink_covariances(0.25, to_shared, "model", &shrunk);
      EXPECT_EQ(shrunk.means, model.means);
      EXPECT_EQ(shrunk.covariance_of, model.covariance_of);
      EXPECT_EQ(shrunk.log_weights, model.log_weights);
      const MixtureModel after = to_mixtures(shrunk);
      for (size_t i = 0; i < before.mixtures.size(); ++i) {
        const Mixture &was = before.mixtures[i], &is = after.mixtures[i];
        const size_t d = before.n_values(was), size = before.covariance_size(was);
        for (size_t r = 0; r < d; ++r) {
          for (size_t c = 0; c <= r; ++c) {
            double mean = 0, sum = 0;  // mean correlation, by weight
            for (const Mixture &other : before.mixtures) {
              for (size_t k = 0; other.stream == was.stream && k < other.n_gaussians(); ++k) {
                const double *const m = &other.covariances[k * size];
                sum += other.weights[k];
                mean += other.weights[k] * m[triangle_at(r, c)] / std::sqrt(m[diagonal_at(r)] * m[diagonal_at(c)]);
              }
            }
            for (size_t k = 0; k < was.n_gaussians(); ++k) {
              const double *const m = &was.covariances[k * size];
              const double own = m[triangle_at(r, c)], scale = std::sqrt(m[diagonal_at(r)] * m[diagonal_at(c)]);
              const double want = r == c ? own : 0.75 * own + (to_shared ? 0.25 * scale * mean / sum : 0);
              EXPECT_NEAR(is.covariances[k * size + triangle_at(r, c)], want, 1e-4 * scale);
            }
          }
        }
      }
    }
  }
}

TEST(Shrink, AllOfItLeavesNoCorrelation) {
  AcousticModel model = full_model(0);
  shrink_covariances(1, false, "model", &model);
  for (const uint64_t at : model.precision_at) EXPECT_EQ(model.precisions[at + 1], 0);
}

TEST(Shrink, NothingOfItChangesNothing) {
  AcousticModel model = full_model(0);
  const std::vector<float> before = model.precisions;
  shrink_covariances(0, true, "model", &model);
  EXPECT_EQ(model.precisions, before);
}

TEST(Shrink, RefusesWhatIsNoCovariance) {
  AcousticModel model = full_model(0);
  model.precisions[model.precision_at[0] + 1] = 1e6f;
  test::expect_error([&] { shrink_covariances(0.5, false, "model", &model); }, ASR_BAD_FILE,
                     "model: a covariance is not positive definite; correct the model that is imported");
}

}  // namespace
}  // namespace asr::train
