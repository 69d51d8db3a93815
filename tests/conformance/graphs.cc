// SPDX-License-Identifier: Apache-2.0
// Tests channels of several graphs in one advance, and graphs loaded and freed between advances. Each channel must give the
// same result as alone.
#include <deque>

#include "tests/conformance/lattice_fixture.h"

namespace asr::test {
namespace {

constexpr uint32_t kWindow = 8, kFrames = 40;

class GraphsTest : public LatticeTest {
 protected:
  struct Case {
    explicit Case(const GraphShape &shape, std::mt19937 &random) : graph(shape, random), rows(graph.loglikes(kFrames)) {
      options.lattice_beam = 5;
      want = reference::lattice(graph.view(), options, rows.data(), kFrames, true);
    }
    RandomGraph graph;
    std::vector<float> rows;
    asr_search_options options = search_options(9, 100);
    RawLattice want;
  };

  // Interleaves the cases, so that adjacent channels have different graphs.
  void advance_all(const Device &device, const std::vector<std::unique_ptr<Channel>> &channels, const std::deque<Case> &cases,
                   uint32_t frame) {
    std::vector<asr_advance_job> jobs;
    for (size_t c = 0; c < channels.size(); ++c) {
      const Case &one = cases[c % cases.size()];
      jobs.push_back({channels[c]->channel, one.rows.data() + size_t{frame} * one.graph.view().n_pdfs, 0, 0, kWindow, 0});
    }
    device.check(api().advance(device.get(), nullptr, jobs.data(), jobs.size()));
  }
};

TEST_P(GraphsTest, SeveralInOneAdvance) {
  std::mt19937 random(71);
  std::deque<Case> cases;
  for (const uint32_t n_states : {5u, 30u, 200u}) cases.emplace_back(GraphShape{n_states, 6, 6, 2.5, 0.7, 0.3, false}, random);
  for (const size_t n : {2, 3, 7, 24}) {
    const auto device = open(backend_options(static_cast<uint32_t>(n), kWindow, 2));
    std::vector<std::unique_ptr<Loaded>> loaded;
    for (const Case &one : cases) loaded.push_back(std::make_unique<Loaded>(api(), *device, one.graph.view()));
    std::vector<std::unique_ptr<Channel>> channels;
    for (size_t c = 0; c < n; ++c) {
      channels.push_back(std::make_unique<Channel>(api(), *device, *loaded[c % cases.size()], cases[c % cases.size()].options));
    }
    for (uint32_t t = 0; t < kFrames; t += kWindow) {
      advance_all(*device, channels, cases, t);
      const Loaded other(api(), *device, cases[t / kWindow % cases.size()].graph.view());  // loaded and freed meanwhile
      const Channel unused(api(), *device, other, cases[0].options);
    }
    device->check(api().wait(device->get(), 0));
    for (size_t c = 0; c < n; ++c) expect_same(lattice(*device, *channels[c], true), cases[c % cases.size()].want);
    std::vector<asr_backend_channel *> handles;
    for (const auto &channel : channels) handles.push_back(channel->channel);
    std::vector<asr_raw_lattice> raw(n);
    device->check(api().lattices(device->get(), handles.data(), n, ASR_WANTS_FINAL, raw.data()));
    std::vector<RawLattice> got;
    for (const asr_raw_lattice &lattice : raw) got.push_back(copy_of(lattice));
    for (size_t c = 0; c < n; ++c) expect_same(got[c], cases[c % cases.size()].want);
  }
}

SENONE_INSTANTIATE(GraphsTest);

}  // namespace
}  // namespace asr::test
