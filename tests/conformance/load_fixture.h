// SPDX-License-Identifier: Apache-2.0
// Common code of the cases with many tokens, long utterances and little memory (load.cc, small_capacities.cc,
// coming_and_going.cc): scores that change like those of recordings, all outputs of a channel, and the options of devices.
#pragma once

#include <string>

#include "reference/viterbi.h"
#include "tests/conformance/lattice_fixture.h"

namespace asr::test {

// Makes log-likelihoods of stretches with good and with bad discrimination in turn, so that tokens are few or many. Likely pdfs
// stay likely for some frames.
inline std::vector<float> recorded_rows(uint32_t n_frames, uint32_t n_pdfs, std::mt19937 &random) {
  std::vector<float> rows;
  std::vector<float> before(n_pdfs, 0.0f);
  std::normal_distribution<float> normal;
  float spread = 1;
  for (uint32_t t = 0; t < n_frames; ++t) {
    if (t % 32 == 0) spread = 0.5f * static_cast<float>(1 + random() % 5);
    for (float &x : before) {
      x = 0.6f * x + 0.8f * normal(random);
      rows.push_back(spread * x - 8.0f);
    }
  }
  return rows;
}

// An utterance with its search options.
struct Utterance {
  std::vector<float> rows;
  uint32_t n_frames;
  asr_search_options options;
  bool use_final;
};

// All outputs of a channel: its best path and, if it makes lattices, the pieces in order with the rest last.
struct Outcome {
  reference::SearchResult path;
  std::vector<RawLattice> lattices;
};

inline Outcome reference_outcome(const asr_graph_view &graph, const Utterance &u) {
  Outcome outcome{reference::pruned_search(graph, u.options, u.rows.data(), u.n_frames, u.use_final), {}};
  if (u.options.lattice_beam > 0) {
    outcome.lattices = reference::lattice_pieces(graph, u.options, u.rows.data(), u.n_frames, u.use_final);
  }
  return outcome;
}

inline void expect_same(const Outcome &got, const Outcome &want) {
  EXPECT_EQ(got.path.n_frames, want.path.n_frames);
  EXPECT_EQ(got.path.beam_died, want.path.beam_died);
  EXPECT_EQ(got.path.reached_final, want.path.reached_final);
  EXPECT_EQ(got.path.n_tokens, want.path.n_tokens);
  EXPECT_EQ(got.path.n_arcs_expanded, want.path.n_arcs_expanded);
  EXPECT_NEAR(got.path.total_cost, want.path.total_cost, 1e-9 * (1 + std::abs(want.path.total_cost)));
  ASSERT_EQ(got.path.arcs.size(), want.path.arcs.size());
  for (size_t i = 0; i < got.path.arcs.size(); ++i) {
    const asr_path_arc &a = got.path.arcs[i], &b = want.path.arcs[i];
    const bool same = a.frame == b.frame && a.transition_id == b.transition_id && a.word == b.word &&
                      a.graph_cost == b.graph_cost && a.acoustic_cost == b.acoustic_cost;
    ASSERT_TRUE(same) << "path arc " << i;
  }
  ASSERT_EQ(got.lattices.size(), want.lattices.size());
  for (size_t i = 0; i < got.lattices.size() && !testing::Test::HasFailure(); ++i) {
    SCOPED_TRACE("piece " + std::to_string(i));
    expect_same(got.lattices[i], want.lattices[i]);
  }
}

class LoadFixture : public LatticeTest {
 protected:
  void SetUp() override {
    LatticeTest::SetUp();
    require(ASR_BACKEND_PIECES, "makes no pieces of lattices");
  }

  // Values of asr_backend_options::cluster_blocks that make a difference: all of `sizes` if blocks form clusters.
  std::vector<uint32_t> cluster_sizes(const std::vector<uint32_t> &sizes) const {
    return std::string(api().name) == "cuda" ? sizes : std::vector<uint32_t>{0};
  }

  std::unique_ptr<Device> open_with(uint32_t initial_capacity_shift, uint32_t cluster_blocks, uint32_t max_lanes = 8) const {
    asr_backend_options options = backend_options(max_lanes, kWindow, 2);
    options.initial_capacity_shift = initial_capacity_shift;
    options.cluster_blocks = cluster_blocks;
    return open(options);
  }

  // Appends the settled pieces of the finished advances. The device may differ from the case's.
  static void take_pieces(const Device &device, const Channel &channel, Outcome *outcome) {
    device.check(device.api()->wait(device.get(), 0));
    for (;;) {
      const asr_raw_lattice raw = lattice_of(device, channel.channel, ASR_WANTS_PIECE);
      if (raw.n_states == 0) return;
      outcome->lattices.push_back(copy_of(raw));
      outcome->lattices.back().n_frames = 0;  // as in the reference
      outcome->lattices.back().beam_died = false;
    }
  }

  static void finish(const Device &device, const Channel &channel, const Utterance &u, Outcome *outcome) {
    if (u.options.lattice_beam > 0) {
      take_pieces(device, channel, outcome);
      outcome->lattices.push_back(copy_of(lattice_of(device, channel.channel, final_if(u.use_final))));
    }
    const asr_path path = path_of(device, channel.channel, final_if(u.use_final));
    outcome->path = {{path.arcs, path.arcs + path.n_arcs},
                     path.n_frames,
                     path.reached_final != 0,
                     path.beam_died != 0,
                     path.total_cost,
                     path.n_tokens,
                     path.n_arcs_expanded};
  }

  // Decodes with one channel; takes pieces as soon as they settle, or all at the end.
  static Outcome decode(const Device &device, const Loaded &loaded, uint32_t n_pdfs, const Utterance &u, bool takes_at_once) {
    Outcome outcome;
    const Channel channel(*device.api(), device, loaded, u.options);
    for (uint32_t t = 0; t < u.n_frames; t += kWindow) {
      const asr_advance_job job{
          channel.channel, u.rows.data() + size_t{t} * n_pdfs, 0, 0, std::min(kWindow, u.n_frames - t), 0};
      device.check(device.api()->advance(device.get(), nullptr, &job, 1));
      device.check(device.api()->wait(device.get(), 0));
      if (takes_at_once && u.options.lattice_beam > 0) take_pieces(device, channel, &outcome);
    }
    finish(device, channel, u, &outcome);
    return outcome;
  }

  static constexpr uint32_t kWindow = 64;
};

}  // namespace asr::test
