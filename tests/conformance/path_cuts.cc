// SPDX-License-Identifier: Apache-2.0
// Tests "Paths that do not join" of docs/search.md: graphs with branches that never meet, whose best branch changes, at and
// around the frames that end with a cut. Best paths, common paths, lattices and pieces must be the references', bit for bit.
#include <cmath>
#include <limits>

#include "tests/conformance/load_fixture.h"

namespace asr::test {
namespace {

using reference::SearchResult;

constexpr uint32_t kFirstCut = 5120, kPeriod = 1024;

// A start state with an epsilon arc and an emitting arc into each of some branches, which no arc leaves. A branch is a ring of
// states with loops, a word, and an epsilon arc across.
class BranchedGraph {
 public:
  static constexpr uint32_t kStates = 4;  // of a branch

  explicit BranchedGraph(uint32_t n_branches) : n_branches_(n_branches) {
    const auto state = [](uint32_t branch, uint32_t i) { return 1 + branch * kStates + i; };
    const auto id = [](uint32_t branch, uint32_t i) { return 1 + 2 * branch + i % 2; };
    for (uint32_t b = 0; b < n_branches; ++b) arcs_.push_back({state(b, 1), id(b, 1), 0, 0.5f});
    for (uint32_t b = 0; b < n_branches; ++b) {
      for (uint32_t i = 0; i < kStates; ++i) {
        begins_.push_back(static_cast<uint32_t>(arcs_.size()));
        arcs_.push_back({state(b, i), id(b, i), 0, 0.75f});
        arcs_.push_back({state(b, (i + 1) % kStates), id(b, i + 1), i == 0 ? 1 + b : 0, 1.0f});
      }
    }
    begins_.push_back(static_cast<uint32_t>(arcs_.size()));
    for (uint32_t b = 0; b < n_branches; ++b) arcs_.push_back({state(b, 0), 0, 0, 0.25f * static_cast<float>(b)});
    epsilon_begins_ = {begins_.back()};
    for (uint32_t b = 0; b < n_branches; ++b) {
      for (uint32_t i = 0; i < kStates; ++i) {
        epsilon_begins_.push_back(static_cast<uint32_t>(arcs_.size()));
        if (i == 1) arcs_.push_back({state(b, 3), 0, 0, 0.5f});
      }
    }
    epsilon_begins_.push_back(static_cast<uint32_t>(arcs_.size()));
    final_costs_.assign(1 + size_t{n_branches} * kStates, std::numeric_limits<float>::infinity());
    for (uint32_t b = 0; b < n_branches; ++b) final_costs_[state(b, 2)] = 0.5f * static_cast<float>(b);
    for (uint32_t i = 0; i <= n_pdfs(); ++i) pdf_of_.push_back(i > 0 ? i - 1 : 0);
  }

  uint32_t n_pdfs() const { return 2 * n_branches_; }
  asr_graph_view view() const {
    return {sizeof(asr_graph_view),
            static_cast<uint32_t>(final_costs_.size()),
            0,
            n_pdfs(),
            n_pdfs(),
            arcs_.size(),
            begins_.data(),
            epsilon_begins_.data(),
            arcs_.data(),
            final_costs_.data(),
            pdf_of_.data(),
            nullptr};
  }

  // Every branch has its time as the best one.
  std::vector<float> loglikes(uint32_t n_frames, std::mt19937 &random) const {
    std::vector<float> rows;
    std::normal_distribution<float> normal;
    for (uint32_t t = 0; t < n_frames; ++t) {
      for (uint32_t p = 0; p < n_pdfs(); ++p) {
        const float phase =
            6.2832f * (static_cast<float>(t) / 1300.0f + static_cast<float>(p / 2) / static_cast<float>(n_branches_));
        rows.push_back(-1.0f + 0.05f * std::sin(phase) + 0.02f * normal(random));
      }
    }
    return rows;
  }

 private:
  const uint32_t n_branches_;
  std::vector<asr_graph_arc> arcs_;
  std::vector<uint32_t> begins_ = {0}, epsilon_begins_, pdf_of_;
  std::vector<float> final_costs_;
};

class PathCutsTest : public LoadFixture {
 protected:
  void SetUp() override {
    SearchFixture::SetUp();
    lattices_ = (entry().info.capabilities & ASR_BACKEND_PIECES) != 0;
  }

  // Options with a beam that no branch leaves.
  asr_search_options wide(float lattice_beam = 0) const {
    asr_search_options options = search_options(500);
    options.lattice_beam = lattices_ ? lattice_beam : 0;
    return options;
  }

  static void expect_cuts(const asr_graph_view &view, const Utterance &u, bool any) {
    EXPECT_EQ(!reference::cut_states(view, u.options, u.rows.data(), u.n_frames).empty(), any);
  }

  // Decodes `chunk` frames at a time.
  Outcome decode_by(const Device &device, const asr_graph_view &view, const Utterance &u, uint32_t chunk, bool takes_at_once) {
    const Loaded loaded(api(), device, view);
    const Channel channel(api(), device, loaded, u.options);
    Outcome outcome;
    for (uint32_t t = 0; t < u.n_frames; t += chunk) {
      const uint32_t n = std::min(chunk, u.n_frames - t);
      advance(device, channel, u.rows.data() + size_t{t} * view.n_pdfs, view.n_pdfs, n, n);
      if (takes_at_once && u.options.lattice_beam > 0) take_pieces(device, channel, &outcome);
    }
    finish(device, channel, u, &outcome);
    return outcome;
  }

  bool lattices_ = false;
};

TEST_P(PathCutsTest, AroundTheFrames) {
  const auto device = open();
  std::mt19937 random(1);
  const BranchedGraph graph(3);
  const std::vector<float> rows = graph.loglikes(9000, random);
  for (const uint32_t n_frames : {4096u, 4097u, kFirstCut - 1, kFirstCut, kFirstCut + 1, kFirstCut + kPeriod - 1,
                                  kFirstCut + kPeriod, kFirstCut + kPeriod + 1, 9000u}) {
    if (HasFailure()) return;
    SCOPED_TRACE(n_frames);
    const Utterance u{rows, n_frames, wide(), n_frames % 2 == 0};
    expect_cuts(graph.view(), u, n_frames >= kFirstCut);
    expect_same(decode_by(*device, graph.view(), u, 64, true), reference_outcome(graph.view(), u));
  }
}

// Each cut leaves one branch, so only the first removes tokens. Branches that begin later are cut later.
TEST_P(PathCutsTest, WindowsDoNotMatter) {
  const auto device = open();
  std::mt19937 random(2);
  const BranchedGraph graph(4);
  const Utterance u{graph.loglikes(7000, random), 7000, wide(6), true};
  expect_cuts(graph.view(), u, true);
  const Outcome want = reference_outcome(graph.view(), u);
  for (const uint32_t chunk : {1u, 7u, 500u, 1024u, 7000u}) {
    SCOPED_TRACE(chunk);
    if (HasFailure()) return;
    expect_same(decode_by(*device, graph.view(), u, chunk, chunk != 500), want);
  }
}

// Random graphs have parts that are never left; with wide beams their paths do not join.
TEST_P(PathCutsTest, OfRandomGraphs) {
  const auto device = open();
  std::mt19937 random(3);
  uint32_t n_cut = 0;
  for (int i = 0; i < 120 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    GraphShape shape = acyclic_shape(random);
    shape.n_states = 4 + 2 * (random() % 6);
    shape.emitting_arcs = 0.6 + 0.01 * (random() % 100);
    shape.epsilon_arcs = 0.3;
    RandomGraph random_graph(shape, random);
    const uint32_t n_frames = kFirstCut - 1 + random() % 1200;
    asr_search_options options = search_options(i % 4 == 0 ? 10.0f : 1e5f, 1 + random() % 20, random() % 6);
    options.lattice_beam = lattices_ && i % 2 == 0 ? 1.0f + static_cast<float>(random() % 6) : 0;
    const Utterance u{random_graph.loglikes(n_frames), n_frames, options, random() % 2 == 0};
    n_cut += reference::cut_states(random_graph.view(), options, u.rows.data(), n_frames).empty() ? 0 : 1;
    expect_same(decode_by(*device, random_graph.view(), u, 1 + random() % 300, i % 4 == 0),
                reference_outcome(random_graph.view(), u));
  }
  EXPECT_GT(n_cut, 5u);
}

// Buffers of a few entries overflow in frames with a cut, too, and traces are compacted between cuts.
TEST_P(PathCutsTest, LittleMemory) {
  std::mt19937 random(4);
  const BranchedGraph graph(5);
  const Utterance u{graph.loglikes(6500, random), 6500, wide(4), false};
  const Outcome want = reference_outcome(graph.view(), u);
  for (const uint32_t cluster_blocks : cluster_sizes({0, 1, 2, 16})) {
    const auto device = open_with(10, cluster_blocks);
    expect_same(decode_by(*device, graph.view(), u, 64, true), want);
  }
}

TEST_P(PathCutsTest, FewTokens) {
  const auto device = open();
  std::mt19937 random(5);
  for (const uint32_t n_branches : {1u, 2u}) {
    const BranchedGraph graph(n_branches);
    for (const uint32_t max_active : {1u, 2u, 3u}) {
      SCOPED_TRACE(testing::Message() << n_branches << " branches, max_active " << max_active);
      asr_search_options options = wide(3);
      options.max_active = max_active;
      const Utterance u{graph.loglikes(6200, random), 6200, options, true};
      expect_same(decode_by(*device, graph.view(), u, 100, true), reference_outcome(graph.view(), u));
    }
  }
}

// Best paths, with and without final costs, and the common path, right after a cut and beside it.
TEST_P(PathCutsTest, ResultsBetweenFrames) {
  const auto device = open();
  std::mt19937 random(6);
  const BranchedGraph graph(3);
  const asr_graph_view view = graph.view();
  const std::vector<float> rows = graph.loglikes(kFirstCut + 2, random);
  const asr_search_options options = wide();
  const bool has_common = (entry().info.capabilities & ASR_BACKEND_COMMON_PATH) != 0;
  const auto common = reference::common_arcs(view, options, rows.data(), kFirstCut + 2, kFirstCut - 1);
  EXPECT_GT(common[1], common[0] + 1000);
  const Loaded loaded(api(), *device, view);
  const Channel channel(api(), *device, loaded, options);
  advance(*device, channel, rows.data(), view.n_pdfs, kFirstCut - 1, 300);
  for (uint32_t n = kFirstCut - 1; n <= kFirstCut + 2 && !HasFailure(); ++n) {
    SCOPED_TRACE(n);
    for (const bool use_final : {true, false}) {
      const asr_path path = path_of(*device, channel.channel, final_if(use_final) | (has_common ? ASR_WANTS_COMMON : 0));
      const SearchResult want = reference::pruned_search(view, options, rows.data(), n, use_final);
      EXPECT_EQ(path.n_frames, n);
      EXPECT_EQ(path.reached_final != 0, want.reached_final);
      EXPECT_NEAR(path.total_cost, want.total_cost, 1e-9 * (1 + std::abs(want.total_cost)));
      if (has_common) {
        EXPECT_EQ(path.n_common_arcs, common[n - (kFirstCut - 1)]);
      }
      ASSERT_EQ(path.n_arcs, want.arcs.size());
      EXPECT_EQ(path.arcs[0].transition_id, want.arcs[0].transition_id);
    }
    if (n < kFirstCut + 2) advance(*device, channel, rows.data() + size_t{n} * view.n_pdfs, view.n_pdfs, 1, 1);
  }
}

// The beam dies in the frame that would have ended with a cut, and in the one after it.
TEST_P(PathCutsTest, TheBeamDies) {
  const auto device = open();
  std::mt19937 random(7);
  const BranchedGraph graph(2);
  for (const uint32_t last : {kFirstCut - 1, kFirstCut}) {
    SCOPED_TRACE(last);
    std::vector<float> rows = graph.loglikes(last + 10, random);
    for (uint32_t p = 0; p < graph.n_pdfs(); ++p) rows[size_t{last} * graph.n_pdfs() + p] = -HUGE_VALF;
    const Utterance u{rows, last + 10, wide(4), true};
    expect_cuts(graph.view(), u, last == kFirstCut);
    expect_same(decode_by(*device, graph.view(), u, 64, false), reference_outcome(graph.view(), u));
  }
}

// Several channels of a launch are cut in different frames.
TEST_P(PathCutsTest, OfManyChannels) {
  const auto device = open();
  std::mt19937 random(8);
  const BranchedGraph graph(3);
  const asr_graph_view view = graph.view();
  const Loaded loaded(api(), *device, view);
  std::vector<Utterance> utterances;
  std::vector<std::unique_ptr<Channel>> channels;
  for (uint32_t c = 0; c < 4; ++c) {
    utterances.push_back({graph.loglikes(6400, random), 6400, wide(c % 2 == 0 ? 4.0f : 0.0f), true});
    channels.push_back(std::make_unique<Channel>(api(), *device, loaded, utterances[c].options));
    advance(*device, *channels[c], utterances[c].rows.data(), view.n_pdfs, 40 * c, 64);
  }
  for (uint32_t t = 0; t < 6400; t += kWindow) {
    std::vector<asr_advance_job> jobs;
    for (uint32_t c = 0; c < 4; ++c) {
      const uint32_t first = t + 40 * c;
      if (first >= 6400) continue;
      jobs.push_back({channels[c]->channel, utterances[c].rows.data() + size_t{first} * view.n_pdfs, 0, 0,
                      std::min(kWindow, 6400 - first), 0});
    }
    device->check(api().advance(device->get(), nullptr, jobs.data(), jobs.size()));
    device->check(api().wait(device->get(), 0));
  }
  for (uint32_t c = 0; c < 4 && !HasFailure(); ++c) {
    SCOPED_TRACE(c);
    Outcome outcome;
    finish(*device, *channels[c], utterances[c], &outcome);
    expect_same(outcome, reference_outcome(view, utterances[c]));
  }
}

SENONE_INSTANTIATE(PathCutsTest);

}  // namespace
}  // namespace asr::test
