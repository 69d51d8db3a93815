// SPDX-License-Identifier: Apache-2.0
// Tests how the shares of a call of the extension "statistics" are cut into launches.
#include "plugins/gpu/statistics/statistics_plan.h"

#include <gtest/gtest.h>

#include <numeric>
#include <vector>

namespace asr {
namespace {

struct Shape {
  uint32_t n_dims, n_gaussians;
  bool full_covariances, full_moments;
};

// Cuts the shares of three sums, the second without any.
std::vector<SumsBatch> cut(const Shape &shape, uint64_t n_shares, const SumsLimits &most) {
  std::vector<uint32_t> dims(shape.n_dims);
  std::iota(dims.begin(), dims.end(), 0u);
  const asr_mixture_view mixture{dims.data(), shape.n_dims, shape.n_gaussians, 1, 0, nullptr, nullptr, nullptr, nullptr};
  const uint32_t mixture_of[] = {0, 0, 0};
  const asr_sums_view view{sizeof view, shape.full_covariances ? 1u : 0u, shape.full_moments ? 1u : 0u, 1, 3, &mixture,
                           mixture_of};
  const uint64_t begins[] = {0, n_shares / 3, n_shares / 3, n_shares};
  return cut_shares(SumsPlan(view), begins, most);
}

// Returns the shares of all launches, which must follow each other.
uint64_t n_shares_of(const std::vector<SumsBatch> &batches) {
  uint64_t n = 0;
  for (const SumsBatch &batch : batches) {
    EXPECT_EQ(batch.first_share, n);
    uint64_t n_of_jobs = 0;
    for (const SumsJob &job : batch.jobs) n_of_jobs += job.n_shares;
    EXPECT_EQ(n_of_jobs, batch.n_shares);
    n += batch.n_shares;
  }
  return n;
}

TEST(StatisticsPlan, LaunchesHaveAMostOfWork) {
  constexpr SumsLimits kMax = {1u << 20, 1u << 30};
  constexpr uint64_t kShares = 300000;
  for (const Shape &shape : {Shape{512, 3, true, true}, Shape{512, 3, false, true}, Shape{512, 3, true, false},
                             Shape{200, 40, true, true}, Shape{39, 16, false, false}, Shape{1, 1, false, false}}) {
    const std::vector<SumsBatch> batches = cut(shape, kShares, kMax);
    EXPECT_EQ(n_shares_of(batches), kShares);
    const uint64_t d = shape.n_dims, pairs = d * (d + 1),
                   of_posterior = (shape.full_covariances ? pairs : 4 * d) + (shape.full_moments ? pairs : 6 * d) + 40;
    for (size_t i = 0; i < batches.size(); ++i) {
      const SumsBatch &batch = batches[i];
      EXPECT_EQ(batch.n_posteriors, uint64_t{batch.n_shares} * shape.n_gaussians);
      EXPECT_EQ(batch.n_operations, batch.n_posteriors * of_posterior);
      EXPECT_LE(batch.n_posteriors, kMax.posteriors);
      EXPECT_LE(batch.n_operations, kMax.operations);
      const uint64_t n_next = batch.n_posteriors + shape.n_gaussians;
      const bool is_full = n_next > kMax.posteriors || n_next * of_posterior > kMax.operations;
      EXPECT_TRUE(is_full || i + 1 == batches.size()) << shape.n_dims << " dimensions, launch " << i;
    }
  }
}

// A share that is beyond a limit by itself.
TEST(StatisticsPlan, LaunchesHaveAShareAtLeast) {
  for (const SumsLimits most : {SumsLimits{1u << 20, 1000}, SumsLimits{2, 1u << 30}}) {
    const std::vector<SumsBatch> batches = cut({64, 4, true, true}, 20, most);
    EXPECT_EQ(batches.size(), 20u);
    EXPECT_EQ(n_shares_of(batches), 20u);
  }
}

}  // namespace
}  // namespace asr
