// SPDX-License-Identifier: Apache-2.0
// Tests calls for many channels against a call for each, and the reported memory of channels.
#include "tests/conformance/lattice_fixture.h"

namespace asr::test {
namespace {

class TogetherTest : public LatticeTest {
 protected:
  bool needs_lattices() const override { return false; }

  using Channels = std::vector<std::unique_ptr<Channel>>;

  static std::vector<asr_backend_channel *> handles(const Channels &channels) {
    std::vector<asr_backend_channel *> handles;
    for (const auto &channel : channels) handles.push_back(channel->channel);
    return handles;
  }

  // Compares paths of the call for many with those of a call for each.
  void expect_same_paths(const Device &device, const Channels &channels, uint32_t wants) {
    std::vector<asr_path> paths(channels.size());
    device.check(api().best_paths(device.get(), handles(channels).data(), channels.size(), wants, paths.data()));
    for (size_t c = 0; c < channels.size(); ++c) {
      const std::vector<asr_path_arc> arcs(paths[c].arcs, paths[c].arcs + paths[c].n_arcs);
      const asr_path want = path_of(device, channels[c]->channel, wants);
      EXPECT_EQ(paths[c].total_cost, want.total_cost);
      EXPECT_EQ(paths[c].n_frames, want.n_frames);
      EXPECT_EQ(paths[c].reached_final, want.reached_final);
      ASSERT_EQ(arcs.size(), want.n_arcs);
      for (size_t a = 0; a < arcs.size(); ++a) EXPECT_EQ(arcs[a].transition_id, want.arcs[a].transition_id);
    }
  }
};

// Channels at different frames, with and without lattices.
TEST_P(TogetherTest, BestPathsAndLattices) {
  const auto device = open();
  std::mt19937 random(21);
  RandomGraph graph({28, 5, 6, 2.5, 0.7, 0.3, false}, random);
  const Loaded loaded(api(), *device, graph.view());
  Channels channels;
  for (uint32_t c = 0; c < 7; ++c) {
    asr_search_options options = search_options(9, 12);
    if (entry().info.capabilities & ASR_BACKEND_LATTICES) options.lattice_beam = 5;
    channels.push_back(std::make_unique<Channel>(api(), *device, loaded, options));
    advance(*device, *channels.back(), graph.loglikes(90 * c).data(), 5, 90 * c, 64);
  }
  for (const bool use_final : {false, true}) expect_same_paths(*device, channels, final_if(use_final));
  if ((entry().info.capabilities & ASR_BACKEND_LATTICES) == 0) return;
  std::vector<asr_raw_lattice> raw(channels.size());
  device->check(api().lattices(device->get(), handles(channels).data(), channels.size(), ASR_WANTS_FINAL, raw.data()));
  std::vector<RawLattice> got;
  for (const asr_raw_lattice &lattice : raw) got.push_back(copy_of(lattice));
  for (size_t c = 0; c < channels.size(); ++c) expect_same(got[c], lattice(*device, *channels[c], true));
}

// Two paths that part at the start and never share anything.
TEST_P(TogetherTest, LongPathsThatShareNothing) {
  const auto device = open();
  const asr_graph_arc arcs[] = {{1, 1, 0, 0.5f}, {2, 2, 0, 0.25f}, {1, 1, 0, 0.0f}, {2, 2, 0, 0.0f}};
  const uint32_t emitting_begin[] = {0, 2, 3, 4}, epsilon_begin[] = {4, 4, 4, 4}, pdf_of[] = {0, 0, 1};
  const float final_costs[] = {HUGE_VALF, 0, 1};
  const asr_graph_view view{sizeof(view), 3, 0, 2, 2, 4, emitting_begin, epsilon_begin, arcs, final_costs, pdf_of, nullptr};
  constexpr uint32_t kFrames = 3000;
  const std::vector<float> rows(size_t{2} * kFrames, -1.0f);
  const Loaded loaded(api(), *device, view);
  Channels channels;
  for (const uint32_t n_frames : {10u, kFrames, 20u}) {
    channels.push_back(std::make_unique<Channel>(api(), *device, loaded, search_options(10)));
    advance(*device, *channels.back(), rows.data(), 2, n_frames, 64);
  }
  std::vector<asr_path> paths(channels.size());
  for (const bool use_final : {false, true}) {
    device->check(
        api().best_paths(device->get(), handles(channels).data(), channels.size(), final_if(use_final), paths.data()));
    for (size_t c = 0; c < channels.size(); ++c) {
      ASSERT_EQ(paths[c].n_arcs, paths[c].n_frames);
      for (size_t a = 0; a < paths[c].n_arcs; ++a) ASSERT_EQ(paths[c].arcs[a].transition_id, use_final ? 1u : 2u);
    }
    EXPECT_EQ(paths[1].n_frames, kFrames);
  }
}

TEST_P(TogetherTest, MemoryIsAccountedFor) {
  if (bench() == nullptr || bench()->memory == nullptr) GTEST_SKIP() << entry().id << ": has no memory of its own";
  const auto device = open();
  const auto memory = [&] {
    asr_backend_memory memory{};
    memory.size = sizeof(memory);
    device->check(bench()->memory(device->get(), &memory));
    EXPECT_GE(memory.total_bytes,
              memory.graph_bytes + memory.acoustic_bytes + memory.features_bytes + memory.lane_bytes + memory.channel_bytes);
    return memory;
  };
  EXPECT_EQ(memory().graph_bytes, 0u);
  std::mt19937 random(22);
  RandomGraph graph({28, 5, 6, 2.5, 0.7, 0.3, false}, random);
  {
    const Loaded loaded(api(), *device, graph.view());
    EXPECT_GE(memory().graph_bytes, graph.view().n_arcs * sizeof(uint32_t));
    asr_search_options options = search_options(9);
    options.lattice_beam = 5;
    for (int i = 0; i < 20; ++i) {  // one after the other: each reuses the memory of the one before
      const Channel channel(api(), *device, loaded, options);
      EXPECT_EQ(memory().n_channels, 1u);
      EXPECT_GT(memory().channel_bytes, 0u);
    }
    const uint64_t one = memory().channel_bytes;
    const Channel first(api(), *device, loaded, options), second(api(), *device, loaded, options);
    EXPECT_EQ(memory().n_channels, 2u);
    EXPECT_EQ(memory().channel_bytes, 2 * one);
  }
  EXPECT_EQ(memory().graph_bytes, 0u);
}

SENONE_INSTANTIATE(TogetherTest);

}  // namespace
}  // namespace asr::test
