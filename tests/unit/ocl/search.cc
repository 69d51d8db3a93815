// SPDX-License-Identifier: Apache-2.0
// Tests the search's kernels as compiled for devices with 32-bit atomic operations only, without warps and with little local
// memory. Lists start small, so that they overflow here, too. Needs a device, such as PoCL's. Groups have one work-item, as on
// every CPU: PoCL copies the kernel for every path between barriers, and would not end. GPUs run larger groups in the
// conformance suite.
#include <gtest/gtest.h>

#include <optional>

#include "core/base/error.h"
#include "plugins/ocl/search/search_lanes.h"
#include "reference/lattice.h"
#include "reference/viterbi.h"
#include "tests/conformance/random_graph.h"

namespace asr::gpu {
namespace {

constexpr Variant kVariant = {"ocl_test", "nobody", 0, nullptr, nullptr, 4096, false};

asr_backend_options backend_options() {
  asr_backend_options options{};
  options.size = sizeof(options);
  options.max_lanes = 4;
  options.window_frames = 64;
  options.n_threads = 2;
  options.initial_capacity_shift = 6;
  return options;
}

// The parameter says whether 64-bit atomic operations exist.
class SearchKernelsTest : public testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    try {
      if (!list_devices(kVariant).devices.empty()) device_.emplace(kVariant, 0, backend_options());
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
    if (!device_) GTEST_SKIP() << "no OpenCL device";
    SearchTuning tuning = search_tuning(device_->facts(), 0);
    tuning.group_size = 1;
    tuning.warps = WarpKind::kOne;
    tuning.local_bytes = 16384;
    tuning.int64_atomics = GetParam() && tuning.int64_atomics;
    lanes_.emplace(*device_, tuning);
  }

  void expect_reference(test::RandomGraph &graph, uint32_t n_frames, const asr_search_options &options) {
    const std::vector<float> rows = graph.loglikes(n_frames);
    const reference::SearchResult want = reference::pruned_search(graph.view(), options, rows.data(), n_frames, true);
    const SearchGraph loaded(*device_, graph.view());
    std::unique_ptr<Search> search = lanes_->begin(loaded, options);
    lanes_->start(nullptr, {{search.get(), rows.data(), 0, 0, n_frames, 0}});
    lanes_->finish();
    asr_path got{};
    lanes_->best_paths({search.get()}, ASR_WANTS_FINAL, &got);
    EXPECT_EQ(got.n_frames, want.n_frames);
    EXPECT_EQ(got.beam_died != 0, want.beam_died);
    EXPECT_EQ(got.reached_final != 0, want.reached_final);
    EXPECT_EQ(got.n_tokens, want.n_tokens);
    EXPECT_EQ(got.n_arcs_expanded, want.n_arcs_expanded);
    EXPECT_NEAR(got.total_cost, want.total_cost, 1e-9 * (1 + std::abs(want.total_cost)));
    ASSERT_EQ(got.n_arcs, want.arcs.size());
    for (size_t i = 0; i < want.arcs.size(); ++i) {
      EXPECT_EQ(got.arcs[i].transition_id, want.arcs[i].transition_id);
      EXPECT_EQ(got.arcs[i].word, want.arcs[i].word);
      EXPECT_EQ(got.arcs[i].graph_cost, want.arcs[i].graph_cost);
    }
    lanes_->end(std::move(search));
  }

  std::optional<Device> device_;
  std::optional<SearchLanes> lanes_;
};

asr_search_options options_of(float beam, uint32_t max_active, uint32_t min_active) {
  return {sizeof(asr_search_options), beam, 0, 0.7f, 0.25f, max_active, min_active};
}

TEST_P(SearchKernelsTest, FindThePathsDefined) {
  std::mt19937 random(21);
  for (int i = 0; i < 200 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const test::GraphShape shape{1 + static_cast<uint32_t>(random() % 60), 4, 5, 2.5, 0.01 * (random() % 150), 0.3, i % 2 == 0};
    test::RandomGraph graph(shape, random);
    expect_reference(graph, 1 + random() % 40,
                     options_of(1.0f + static_cast<float>(random() % 15), 1 + random() % 30, random() % 8));
  }
}

// Overflowing tables, lists and traces; k-th keys among many tokens.
TEST_P(SearchKernelsTest, ManyTokens) {
  std::mt19937 random(22);
  test::RandomGraph graph({30000, 5, 6, 3.0, 0.5, 0.01, true}, random);
  expect_reference(graph, 14, options_of(1e6f, 1000000, 0));
  expect_reference(graph, 14, options_of(8.0f, 700, 200));
}

// More tokens than local memory has extra costs for. The reference's lattice is taken twice, since writing it changes nothing.
TEST_P(SearchKernelsTest, LatticesOfManyTokens) {
  std::mt19937 random(23);
  test::RandomGraph graph({3000, 5, 6, 3.0, 0.0, 0.01, false}, random);
  asr_search_options options = options_of(30.0f, 1000000, 0);
  options.lattice_beam = 2;
  constexpr uint32_t kFrames = 40;
  const std::vector<float> rows = graph.loglikes(kFrames);
  const reference::RawLattice want = reference::lattice(graph.view(), options, rows.data(), kFrames, true);
  const SearchGraph loaded(*device_, graph.view());
  std::unique_ptr<Search> search = lanes_->begin(loaded, options);
  lanes_->start(nullptr, {{search.get(), rows.data(), 0, 0, kFrames, 0}});
  lanes_->finish();
  for (int i = 0; i < 2; ++i) {
    asr_raw_lattice got{};
    lanes_->lattices({search.get()}, true, &got);
    EXPECT_EQ(got.reached_final != 0, want.reached_final);
    ASSERT_EQ(got.n_states, want.frames.size());
    ASSERT_EQ(got.n_arcs, want.arcs.size());
    for (size_t a = 0; a < want.arcs.size(); ++a) {
      ASSERT_EQ(got.arcs[a].next_state, want.arcs[a].next_state);
      ASSERT_EQ(got.arcs[a].acoustic_cost, want.arcs[a].acoustic_cost);
    }
  }
  lanes_->end(std::move(search));
}

INSTANTIATE_TEST_SUITE_P(, SearchKernelsTest, testing::Bool(),
                         [](const auto &info) { return info.param ? "atomics_of_64_bits" : "atomics_of_32_bits"; });

}  // namespace
}  // namespace asr::gpu
