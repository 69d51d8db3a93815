// SPDX-License-Identifier: Apache-2.0
// Tests utterances like recordings: thousands of tokens and ten thousand arcs per frame, and long enough for several pieces.
// The references would take minutes on the large ones, so these are compared with the CPU back end. The CPU back end itself is
// compared with the references on their first frames and, like all others, on a smaller utterance.
#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

constexpr float kLatticeBeams[] = {0.0f, 0.5f, 6.0f, 12.0f};

class LoadTest : public LoadFixture {
 protected:
  // Returns the outcome for each lattice beam.
  static std::vector<Outcome> outcomes(const Device &device, const asr_graph_view &view, Utterance u, bool takes_at_once) {
    const Loaded loaded(*device.api(), device, view);
    std::vector<Outcome> outcomes;
    for (const float lattice_beam : kLatticeBeams) {
      u.options.lattice_beam = lattice_beam;
      outcomes.push_back(decode(device, loaded, view.n_pdfs, u, takes_at_once));
    }
    return outcomes;
  }

  // Runs once for each size of clusters.
  void expect_outcomes(const asr_graph_view &view, const Utterance &u, const std::vector<Outcome> &want) {
    std::vector<uint32_t> sizes;
    for (uint32_t size = 0; size <= 16; ++size) sizes.push_back(size);
    for (const uint32_t size : cluster_sizes(sizes)) {
      SCOPED_TRACE("blocks of a cluster: " + std::to_string(size));
      const auto device = open_with(0, size);
      const std::vector<Outcome> got = outcomes(*device, view, u, size % 2 == 0);
      for (size_t i = 0; i < want.size() && !HasFailure(); ++i) {
        SCOPED_TRACE("lattice beam " + std::to_string(kLatticeBeams[i]));
        expect_same(got[i], want[i]);
      }
      if (HasFailure()) return;
    }
  }

  // Compares the first n_frames with the references.
  void expect_like_reference(const asr_graph_view &view, Utterance u, uint32_t n_frames) {
    u.n_frames = n_frames;
    u.options.lattice_beam = 6;
    const auto device = open_with(0, 0);
    const Loaded loaded(api(), *device, view);
    expect_same(decode(*device, loaded, view.n_pdfs, u, true), reference_outcome(view, u));
  }

  // Compares with the CPU back end, which is compared with the references for some frames.
  void expect_like_cpu(const asr_graph_view &view, const Utterance &u, uint32_t min_arcs, uint32_t n_frames_of_cpu) {
    if (std::string(api().name) == "cpu") return expect_like_reference(view, u, n_frames_of_cpu);
    const Device cpu(choose_device("cpu"), backend_options(8, kWindow, 2));
    const std::vector<Outcome> want = outcomes(cpu, view, u, true);
    EXPECT_EQ(want[0].path.n_frames, u.n_frames);
    EXPECT_GT(want[0].path.n_arcs_expanded, uint64_t{min_arcs} * u.n_frames);
    EXPECT_EQ(want[1].lattices.size(), u.n_frames / 256);
    expect_outcomes(view, u, want);
  }
};

// Hundreds of tokens, compared with the references.
TEST_P(LoadTest, LongUtterance) {
  std::mt19937 random(61);
  RandomGraph graph({2000, 40, 6, 3.0, 0.5, 0.3, false}, random);
  constexpr uint32_t kFrames = 800;
  Utterance u{recorded_rows(kFrames, 40, random), kFrames, search_options(12, 600, 20), true};
  static std::vector<Outcome> want;  // shared by all devices
  for (size_t i = want.size(); i < std::size(kLatticeBeams); ++i) {
    u.options.lattice_beam = kLatticeBeams[i];
    want.push_back(reference_outcome(graph.view(), u));
  }
  ASSERT_EQ(want.back().lattices.size(), 3u);
  expect_outcomes(graph.view(), u, want);
}

TEST_P(LoadTest, ThousandsOfTokens) {
  std::mt19937 random(62);
  RandomGraph graph({60000, 200, 20, 3.5, 0.3, 0.1, false}, random);
  constexpr uint32_t kFrames = 1100;
  expect_like_cpu(graph.view(), {recorded_rows(kFrames, 200, random), kFrames, search_options(14, 7000, 200), true}, 10000,
                  200);
}

// Occasionally more tokens than any table in shared memory can hold.
TEST_P(LoadTest, TokensWithoutLimit) {
  std::mt19937 random(63);
  RandomGraph graph({60000, 200, 20, 3.5, 0.3, 0.0, false}, random);
  constexpr uint32_t kFrames = 600;
  expect_like_cpu(graph.view(), {recorded_rows(kFrames, 200, random), kFrames, search_options(15, 1u << 20), true}, 15000, 30);
}

SENONE_INSTANTIATE(LoadTest);

}  // namespace
}  // namespace asr::test
