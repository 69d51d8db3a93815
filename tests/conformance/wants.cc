// SPDX-License-Identifier: Apache-2.0
// Tests results requested with an advance (asr_advance_job::wants). They must equal the channel's state after that
// advance. Frames that settle in it, and advances beside it or after it, must not matter.
#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

class WantsTest : public LoadFixture {
 protected:
  static constexpr uint32_t kPdfs = 24;

  struct Case {
    uint32_t n_frames, n_last;  // in total, and of the job that wants the results
    float lattice_beam;
    uint32_t wants;
  };

  static Utterance utterance(const Case &one, std::mt19937 &random) {
    Utterance u{recorded_rows(one.n_frames, kPdfs, random), one.n_frames, search_options(9, 150, 10),
                (one.wants & ASR_WANTS_FINAL) != 0};
    u.options.lattice_beam = one.lattice_beam;
    return u;
  }

  static asr_advance_job job_of(const Channel &channel, const Utterance &u, uint32_t first, uint32_t n, uint32_t wants) {
    return {channel.channel, u.rows.data() + size_t{first} * kPdfs, 0, 0, n, wants};
  }

  // Advances all but the last job in windows; takes pieces between them or leaves them to the end.
  static Outcome decode(const Device &device, const Loaded &loaded, const Utterance &u, const Case &one, bool takes_at_once) {
    Outcome outcome;
    const Channel channel(*device.api(), device, loaded, u.options);
    const uint32_t n_before = u.n_frames - one.n_last;
    for (uint32_t t = 0; t < n_before; t += kWindow) {
      const asr_advance_job job = job_of(channel, u, t, std::min(kWindow, n_before - t), 0);
      device.check(device.api()->advance(device.get(), nullptr, &job, 1));
      if (takes_at_once && u.options.lattice_beam > 0) take_pieces(device, channel, &outcome);
    }
    const asr_advance_job last = job_of(channel, u, n_before, one.n_last, one.wants);
    device.check(device.api()->advance(device.get(), nullptr, &last, 1));
    finish(device, channel, u, &outcome);
    device.check(device.api()->wait(device.get(), 0));
    return outcome;
  }

  static void expect_those_defined(const Device &device, const asr_graph_view &view, const std::vector<Case> &cases) {
    std::mt19937 random(92);
    const Loaded loaded(*device.api(), device, view);
    for (const Case &one : cases) {
      SCOPED_TRACE(std::to_string(one.n_frames) + " frames, the last " + std::to_string(one.n_last) + " with wants " +
                   std::to_string(one.wants));
      const Utterance u = utterance(one, random);
      const Outcome want = reference_outcome(view, u);
      for (const bool takes_at_once : {false, true}) {
        expect_same(decode(device, loaded, u, one, takes_at_once), want);
        if (HasFailure()) return;
      }
    }
  }

  void expect_those_defined(const std::vector<Case> &cases, uint32_t initial_capacity_shift) {
    std::mt19937 random(91);
    RandomGraph graph({300, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
    for (const uint32_t size : cluster_sizes({0, 1, 2, 16})) {
      SCOPED_TRACE("blocks of a cluster " + std::to_string(size));
      expect_those_defined(*open_with(initial_capacity_shift, size), graph.view(), cases);
      if (HasFailure()) return;
    }
  }

  void expect_paths_beside_the_next_window(uint32_t wants, uint32_t initial_capacity_shift) {
    require(ASR_BACKEND_OVERLAPS, "advances do not overlap");
    if (IsSkipped()) return;
    SCOPED_TRACE("small capacities " + std::to_string(initial_capacity_shift));
    std::mt19937 random(93);
    RandomGraph graph({300, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
    const asr_graph_view &view = graph.view();
    const Utterance u = utterance({400, 0, 6, 0}, random);
    const auto device = open_with(initial_capacity_shift, 0);
    const std::vector<uint64_t> common = reference::common_arcs(view, u.options, u.rows.data(), u.n_frames);
    const Loaded loaded(api(), *device, view);
    std::vector<std::unique_ptr<Channel>> channels;
    for (int i = 0; i < 3; ++i) channels.push_back(std::make_unique<Channel>(api(), *device, loaded, u.options));
    uint32_t n_asked = 0;  // frames of the last window started
    for (uint32_t t = 0; t < u.n_frames; t += kWindow) {
      const uint32_t n = std::min(kWindow, u.n_frames - t);
      std::vector<asr_advance_job> jobs;
      for (const auto &channel : channels) jobs.push_back(job_of(*channel, u, t, n, wants));
      device->check(api().advance(device->get(), nullptr, jobs.data(), jobs.size()));
      device->check(api().wait(device->get(), 1));
      if (n_asked > 0) {
        const reference::SearchResult want = reference::pruned_search(view, u.options, u.rows.data(), n_asked, false);
        for (const auto &channel : channels) {
          const asr_path path = path_of(*device, channel->channel, wants & ASR_WANTS_COMMON);
          EXPECT_EQ(path.n_frames, n_asked);
          if ((wants & ASR_WANTS_COMMON) != 0) {
            EXPECT_EQ(path.n_common_arcs, common[n_asked]);
          }
          EXPECT_EQ(path.n_arcs, want.arcs.size());
          EXPECT_NEAR(path.total_cost, want.total_cost, 1e-9 * (1 + std::abs(want.total_cost)));
        }
      }
      n_asked = t + n;
      if (HasFailure()) break;
    }
    device->check(api().wait(device->get(), 0));
  }
};

// A piece settles with frame 512, and another with frame 768: inside the job, at its first frame, at its last, or before it.
TEST_P(WantsTest, WhatSettlesInTheSameJob) {
  constexpr uint32_t kLattice = ASR_WANTS_LATTICE | ASR_WANTS_FINAL;
  expect_those_defined({{524, 13, 8, kLattice},
                        {524, 12, 8, kLattice},
                        {512, 1, 8, ASR_WANTS_LATTICE},
                        {513, 40, 4, kLattice},
                        {790, 60, 8, kLattice | ASR_WANTS_PATH},
                        {790, 790, 8, kLattice}},
                       0);
}

TEST_P(WantsTest, WhatSettlesInTheSameJobWithSmallCapacities) {
  constexpr uint32_t kLattice = ASR_WANTS_LATTICE | ASR_WANTS_FINAL;
  expect_those_defined({{524, 13, 8, kLattice}, {790, 60, 8, kLattice | ASR_WANTS_PATH}}, 8);
}

TEST_P(WantsTest, JobsWithoutFrames) {
  expect_those_defined({{530, 0, 8, ASR_WANTS_LATTICE | ASR_WANTS_FINAL},
                        {130, 0, 0, ASR_WANTS_PATH | ASR_WANTS_FINAL},
                        {40, 0, 6, ASR_WANTS_PATH | ASR_WANTS_LATTICE}},
                       0);
}

// Results that no job requested, or that were requested with other final costs.
TEST_P(WantsTest, OthersCanBeAskedFor) {
  expect_those_defined({{300, 20, 6, ASR_WANTS_PATH}, {300, 20, 0, 0}, {300, 20, 6, ASR_WANTS_FINAL}}, 0);
}

// The end of an utterance whose rows were all advanced, or that has none: there are neither rows nor a model to point to.
TEST_P(WantsTest, JobsWithoutFramesNorRows) {
  std::mt19937 random(94);
  RandomGraph graph({300, kPdfs, 6, 3.0, 0.5, 0.3, false}, random);
  const auto device = open_with(0, 0);
  const Loaded loaded(api(), *device, graph.view());
  for (const uint32_t n_frames : {0u, 30u}) {
    for (const float lattice_beam : {0.0f, 6.0f}) {
      SCOPED_TRACE(std::to_string(n_frames) + " frames, lattice beam " + std::to_string(lattice_beam));
      const Utterance u = utterance({n_frames, 0, lattice_beam, ASR_WANTS_FINAL}, random);
      const Channel channel(api(), *device, loaded, u.options);
      if (n_frames > 0) advance(*device, channel, u.rows.data(), kPdfs, n_frames, n_frames);
      const uint32_t wants = ASR_WANTS_FINAL | (lattice_beam > 0 ? ASR_WANTS_LATTICE : ASR_WANTS_PATH);
      const asr_advance_job job{channel.channel, nullptr, 0, 0, 0, wants};
      device->check(api().advance(device->get(), nullptr, &job, 1));
      Outcome outcome;
      finish(*device, channel, u, &outcome);
      expect_same(outcome, reference_outcome(graph.view(), u));
    }
  }
}

// Intermediate paths of several channels, each of which waits for its result while the next window is running.
TEST_P(WantsTest, PathsWhileTheNextWindowIsUnderWay) { expect_paths_beside_the_next_window(ASR_WANTS_PATH, 0); }

TEST_P(WantsTest, CommonPathsWhileTheNextWindowIsUnderWay) {
  require(ASR_BACKEND_COMMON_PATH, "cannot tell what paths share");
  if (IsSkipped()) return;
  expect_paths_beside_the_next_window(ASR_WANTS_PATH | ASR_WANTS_COMMON, 0);
  expect_paths_beside_the_next_window(ASR_WANTS_PATH | ASR_WANTS_COMMON | ASR_WANTS_LATTICE, 8);
}

// A lattice that does not fit is written again; the path found before stays.
TEST_P(WantsTest, PathsAndLatticesWhileTheNextWindowIsUnderWay) {
  expect_paths_beside_the_next_window(ASR_WANTS_PATH | ASR_WANTS_LATTICE, 0);
  expect_paths_beside_the_next_window(ASR_WANTS_PATH | ASR_WANTS_LATTICE, 8);
}

SENONE_INSTANTIATE(WantsTest);

}  // namespace
}  // namespace asr::test
