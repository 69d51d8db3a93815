// SPDX-License-Identifier: Apache-2.0
// Tests lists, tables, mailboxes and channels of tiny initial capacity (asr_backend_options::initial_capacity_shift). Small
// cases exhaust each of them, in every kind of frame and repeatedly. Results must still equal the references'.
#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

constexpr uint32_t kCapacities[] = {3, 7, 20};  // the last is the smallest possible capacity

class SmallCapacitiesTest : public LoadFixture {
 protected:
  // Uses a new device for each capacity and cluster size, since grown buffers stay large.
  void expect_outcome(const asr_graph_view &view, const Utterance &u, const std::vector<uint32_t> &sizes, const Outcome &want) {
    for (const uint32_t initial_capacity_shift : kCapacities) {
      for (const uint32_t size : cluster_sizes(sizes)) {
        if (HasFailure()) return;
        SCOPED_TRACE("small capacities " + std::to_string(initial_capacity_shift) + ", blocks of a cluster " +
                     std::to_string(size));
        const auto device = open_with(initial_capacity_shift, size);
        const Loaded loaded(api(), *device, view);
        expect_same(decode(*device, loaded, view.n_pdfs, u, size % 2 == 0), want);
      }
    }
  }

  uint64_t memory_of_channels(const Device &device) const {
    asr_backend_memory memory{};
    memory.size = sizeof(memory);
    device.check(bench()->memory(device.get(), &memory));
    return memory.channel_bytes + memory.lane_bytes;
  }
};

TEST_P(SmallCapacitiesTest, SmallGraphs) {
  std::mt19937 random(71);
  for (int i = 0; i < 25 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    GraphShape shape = acyclic_shape(random);
    shape.n_states *= 1 + random() % 8;
    RandomGraph graph(shape, random);
    const uint32_t n_frames = 1 + random() % 200;
    Utterance u{graph.loglikes(n_frames), n_frames, search_options(2.0f + static_cast<float>(random() % 20)), i % 2 == 0};
    if (i % 3 == 0) u.options.max_active = 1 + random() % 100;
    if (i % 5 == 0) u.options.min_active = random() % 50;
    u.options.lattice_beam = i % 4 == 0 ? 0.0f : 0.25f * static_cast<float>(1 + random() % 48);
    u.options.word_insertion_cost = static_cast<float>(random() % 3) * 0.5f;
    expect_outcome(graph.view(), u, {0, 1, 2, 5, 16}, reference_outcome(graph.view(), u));
  }
}

// Graphs with cycles of epsilon arcs, which need many rounds.
TEST_P(SmallCapacitiesTest, CyclesOfEpsilonArcs) {
  std::mt19937 random(72);
  for (int i = 0; i < 25 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomGraph graph({2 * static_cast<uint32_t>(random() % 100) + 101, 4, 4, 2.5, 1.5, 0.3, i % 2 == 0}, random);
    const Utterance u{graph.loglikes(30), 30, search_options(15), true};
    expect_outcome(graph.view(), u, {0, 1, 3, 16}, reference_outcome(graph.view(), u));
  }
}

// More tokens, arcs, epsilon arcs and links than any small buffer holds, from the first frames on.
TEST_P(SmallCapacitiesTest, ManyTokens) {
  std::mt19937 random(73);
  RandomGraph graph({6000, 50, 6, 3.0, 0.7, 0.1, false}, random);
  constexpr uint32_t kFrames = 16;
  for (const float lattice_beam : {0.0f, 2.0f}) {
    SCOPED_TRACE(lattice_beam);
    Utterance u{recorded_rows(kFrames, 50, random), kFrames, search_options(25, 1u << 20), true};
    u.options.lattice_beam = lattice_beam;
    const Outcome want = reference_outcome(graph.view(), u);
    EXPECT_GT(want.path.n_tokens, 40000u);
    expect_outcome(graph.view(), u, {0, 1, 2, 3, 8, 9, 16}, want);
  }
}

// A limit of active tokens among many of the same cost, whose keys the blocks of a cluster compare together.
TEST_P(SmallCapacitiesTest, ManyTokensOfOneCost) {
  constexpr uint32_t kFrames = 4;
  for (const uint32_t n : {129u, 1500u}) {
    for (const ActiveLimits limits : {ActiveLimits{129, 0}, ActiveLimits{5, 300}, ActiveLimits{999, 999}}) {
      SCOPED_TRACE(testing::Message() << n << " states, at most " << limits.max_active << ", at least " << limits.min_active);
      const bool one_cost = limits.min_active != 300;
      const FanGraph graph(n, one_cost);
      const Utterance u{FanGraph::loglikes(kFrames, one_cost), kFrames, search_options(3, limits.max_active, limits.min_active),
                        true};
      expect_outcome(graph.view(), u, {0, 1, 2, 3, 8, 9, 16}, reference_outcome(graph.view(), u));
    }
  }
}

// Traces, settled steps, links and frames that overflow repeatedly, across several pieces.
TEST_P(SmallCapacitiesTest, LongAudio) {
  std::mt19937 random(74);
  RandomGraph graph({100, 10, 6, 3.0, 0.8, 0.3, false}, random);
  constexpr uint32_t kFrames = 1100;
  Utterance u{recorded_rows(kFrames, 10, random), kFrames, search_options(10, 60), true};
  for (const float lattice_beam : {0.0f, 6.0f}) {
    SCOPED_TRACE(lattice_beam);
    u.options.lattice_beam = lattice_beam;
    expect_outcome(graph.view(), u, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16},
                   reference_outcome(graph.view(), u));
  }
}

// Buffers start small, and grow.
TEST_P(SmallCapacitiesTest, TakeLessMemoryUntilTheyGrow) {
  if (bench() == nullptr || bench()->memory == nullptr) GTEST_SKIP() << entry().id << ": has no memory of its own";
  std::mt19937 random(75);
  RandomGraph graph({6000, 50, 6, 3.0, 0.7, 0.1, false}, random);
  const std::vector<float> rows = recorded_rows(16, 50, random);
  asr_search_options options = search_options(25, 1u << 20);
  options.lattice_beam = 2;
  uint64_t usual = 0;
  for (const uint32_t initial_capacity_shift : {0u, 3u, 20u}) {
    const auto device = open_with(initial_capacity_shift, 1);
    const Loaded loaded(api(), *device, graph.view());
    const Channel channel(api(), *device, loaded, options);
    const uint64_t before = memory_of_channels(*device);
    if (initial_capacity_shift == 0) usual = before;
    advance(*device, channel, rows.data(), 50, 16, 16);
    if (initial_capacity_shift == 0) continue;
    EXPECT_LT(before, usual / 2);
    EXPECT_GT(memory_of_channels(*device), 2 * before);
  }
}

SENONE_INSTANTIATE(SmallCapacitiesTest);

}  // namespace
}  // namespace asr::test
