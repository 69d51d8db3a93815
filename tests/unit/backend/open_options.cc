// SPDX-License-Identifier: Apache-2.0
// Tests how plugins complete the options of a core that knows fewer of them.
#include "plugins/gpu/runtime/open_options.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

asr_backend_options all_options(size_t size) { return {size, 2, 3, 4, 16, 6, 7, 8, 9, 0.5f, 10}; }

TEST(OpenOptions, ThoseThatWereNotGivenAreTheirDefaults) {
  const asr_backend_options got = complete(all_options(offsetof(asr_backend_options, initial_capacity_shift)));
  EXPECT_EQ(got.size, sizeof got);
  EXPECT_EQ(got.n_threads, 4u);
  EXPECT_EQ(got.model_bits, 16u);
  EXPECT_EQ(got.initial_capacity_shift, 0u);
  EXPECT_EQ(got.cluster_blocks, 0u);
  EXPECT_EQ(got.cluster_share, 0.0f);
  EXPECT_EQ(got.most_memory_bytes, 0u);
  EXPECT_EQ(complete(all_options(offsetof(asr_backend_options, model_bits))).model_bits, 0u);
}

TEST(OpenOptions, ThoseThatWereGivenStay) {
  const asr_backend_options got = complete(all_options(sizeof(asr_backend_options)));
  EXPECT_EQ(got.max_lanes, 2u);
  EXPECT_EQ(got.window_frames, 3u);
  EXPECT_EQ(got.initial_capacity_shift, 6u);
  EXPECT_EQ(got.cluster_blocks, 7u);
  EXPECT_EQ(got.n_best_gaussians, 9u);
  EXPECT_EQ(got.cluster_share, 0.5f);
  EXPECT_EQ(got.most_memory_bytes, 10u);
  EXPECT_EQ(complete(all_options(2 * sizeof(asr_backend_options))).cluster_blocks, 7u);  // from a newer core
}

TEST(OpenOptions, CapacitiesAreHalvedDownToTheLeast) {
  EXPECT_EQ(initial_capacity(1024, 0, 16), 1024u);
  EXPECT_EQ(initial_capacity(1024, 3, 16), 128u);
  EXPECT_EQ(initial_capacity(1024, 20, 16), 16u);
  EXPECT_EQ(initial_capacity(1024, 200, 16), 16u);
}

}  // namespace
}  // namespace asr
