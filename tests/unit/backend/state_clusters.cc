// SPDX-License-Identifier: Apache-2.0
// Tests the clusters of states (equation G11): how many a frame chooses, and how mixtures of many sizes are grouped.
#include "plugins/cpu/state_clusters.h"

#include <gtest/gtest.h>

#include "reference/random_gmm.h"

namespace asr {
namespace {

TEST(StateClusters, AShareIsRoundedUpFromSixDigits) {
  for (const size_t n : {size_t{100}, size_t{1000}, size_t{100000}}) {
    for (size_t percent = 1; percent < 100; ++percent) {
      EXPECT_EQ(n_chosen_clusters(double{static_cast<float>(percent) / 100}, n), percent * n / 100) << percent << " of " << n;
    }
  }
  EXPECT_EQ(n_chosen_clusters(0.5, 3), 2u);
  EXPECT_EQ(n_chosen_clusters(1e-9, 50), 1u);
  EXPECT_EQ(n_chosen_clusters(0.9999999, 50), 50u);
}

// Blocks of states are padded to their largest mixture.
TEST(StateClusters, FewLargeMixturesAreAmongThemselves) {
  reference::RandomGmm options;
  options.n_states = 300;
  options.min_gaussians = options.max_gaussians = 2;
  AcousticModel model = reference::random_gmm(options);
  constexpr uint32_t kLarge = 7;
  for (uint32_t s = 0; s < kLarge; ++s) model.codebooks[40 * s].n_gaussians = 40;  // their sizes alone count here
  std::vector<uint32_t> states;
  for (uint32_t s = 0; s < options.n_states; ++s) states.push_back(s);
  const float last_mean = model.means.back(), last_precision = model.precisions.back(), last_weight = model.log_weights.back();
  model.means.resize(model.means.size() + 1000, last_mean);
  model.precisions.resize(model.precisions.size() + 1000, last_precision);
  model.log_weights.resize(model.log_weights.size() + 1000, last_weight);
  model.covariance_of.resize(model.covariance_of.size() + 1000, 0);
  const AcousticView view(model);
  size_t n_with_large = 0, n = 0;
  for (const std::vector<uint32_t> &cluster : cluster_states(*view.get(), 0, states)) {
    EXPECT_LE(cluster.size(), kClusterStates);
    bool has_large = false;
    for (const uint32_t s : cluster) has_large = has_large || model.codebooks[s].n_gaussians > 2;
    n_with_large += has_large ? 1 : 0;
    n += cluster.size();
  }
  EXPECT_EQ(n, states.size());
  EXPECT_EQ(n_with_large, 1u);
}

}  // namespace
}  // namespace asr
