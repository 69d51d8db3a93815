// SPDX-License-Identifier: Apache-2.0
// Tests any number of channels in one advance, with any number of tokens. A back end may split a channel over several
// processors while there are few channels, and must find more memory during the search.
#include "reference/viterbi.h"
#include "tests/conformance/lattice_fixture.h"

namespace asr::test {
namespace {

class ChannelsTest : public LatticeTest {
 protected:
  bool needs_lattices() const override { return false; }

  // Advances n channels over the same rows, window by window, and runs check(device, channel) on each.
  template <typename Check>
  void decode_together(const RandomGraph &graph, const asr_search_options &options, const std::vector<float> &rows, size_t n,
                       const Check &check) {
    constexpr uint32_t kWindow = 8;
    const auto device = open(backend_options(static_cast<uint32_t>(n), kWindow, 2));
    const Loaded loaded(api(), *device, graph.view());
    const uint32_t n_pdfs = graph.view().n_pdfs, n_frames = static_cast<uint32_t>(rows.size()) / n_pdfs;
    std::vector<std::unique_ptr<Channel>> channels;
    for (size_t c = 0; c < n; ++c) channels.push_back(std::make_unique<Channel>(api(), *device, loaded, options));
    for (uint32_t t = 0; t < n_frames; t += kWindow) {
      std::vector<asr_advance_job> jobs;
      for (const auto &channel : channels) {
        jobs.push_back({channel->channel, rows.data() + size_t{t} * n_pdfs, 0, 0, std::min(kWindow, n_frames - t), 0});
      }
      device->check(api().advance(device->get(), nullptr, jobs.data(), jobs.size()));
      device->check(api().wait(device->get(), 0));
    }
    for (const auto &channel : channels) check(*device, *channel);
  }
};

TEST_P(ChannelsTest, FewAndMany) {
  require_lattices();
  if (IsSkipped()) return;
  std::mt19937 random(41);
  RandomGraph graph({200, 20, 6, 2.5, 0.7, 0.3, false}, random);
  asr_search_options options = search_options(9, 100);
  options.lattice_beam = 5;
  const std::vector<float> rows = graph.loglikes(30);
  const RawLattice want = reference::lattice(graph.view(), options, rows.data(), 30, true);
  for (const size_t n : {1, 3, 7, 12, 24, 40}) {
    decode_together(graph, options, rows, n,
                    [&](const Device &device, const Channel &channel) { expect_same(lattice(device, channel, true), want); });
  }
}

// More tokens than fit one of few processors, and then more than the initial capacity of one of many.
TEST_P(ChannelsTest, ManyTokens) {
  std::mt19937 random(42);
  RandomGraph graph({20000, 50, 6, 3.5, 0.5, 0.3, false}, random);
  const asr_search_options options = search_options(40, 1u << 20);
  const std::vector<float> rows = graph.loglikes(12);
  const reference::SearchResult want = reference::pruned_search(graph.view(), options, rows.data(), 12, true);
  for (const size_t n : {1, 10, 20}) {
    decode_together(graph, options, rows, n, [&](const Device &device, const Channel &channel) {
      const asr_path path = path_of(device, channel.channel, ASR_WANTS_FINAL);
      EXPECT_EQ(path.n_arcs, want.arcs.size());
      EXPECT_EQ(path.n_tokens, want.n_tokens);
      for (size_t a = 0; a < std::min<size_t>(path.n_arcs, want.arcs.size()); ++a) {
        EXPECT_EQ(path.arcs[a].transition_id, want.arcs[a].transition_id);
      }
    });
  }
}

SENONE_INSTANTIATE(ChannelsTest);

}  // namespace
}  // namespace asr::test
