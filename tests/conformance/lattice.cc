// SPDX-License-Identifier: Apache-2.0
// Tests lattices of the search against the literal reference (reference/lattice.h), bit for bit, and against every path
// of small graphs.
#include <cmath>
#include <tuple>

#include "tests/conformance/lattice_fixture.h"

namespace asr::test {
namespace {

using reference::LatticePath;
using reference::RawLattice;

TEST_P(LatticeTest, IsTheOneDefined) {
  const auto device = open();
  std::mt19937 random(1);
  uint32_t n_died = 0, n_final = 0, n_wide = 0;
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomGraph graph(acyclic_shape(random), random);
    const uint32_t n_frames = random() % 60;
    const std::vector<float> rows = graph.loglikes(n_frames);
    asr_search_options options = search_options(0.5f + static_cast<float>(random() % 20), 1 + random() % 12, random() % 6);
    options.lattice_beam = 0.25f + static_cast<float>(random() % 60) * 0.25f;
    options.word_insertion_cost = static_cast<float>(random() % 3) * 0.5f;
    const bool use_final = random() % 2 == 0;
    const RawLattice want = reference::lattice(graph.view(), options, rows.data(), n_frames, use_final);
    expect_same(decode(*device, graph.view(), options, rows, n_frames, use_final, 1 + random() % 30), want);
    n_died += want.beam_died ? 1 : 0;
    n_final += want.reached_final ? 1 : 0;
    n_wide += want.arcs.size() > size_t{3} * n_frames ? 1 : 0;
  }
  EXPECT_GT(n_died, 100u);
  EXPECT_GT(n_final, 100u);
  EXPECT_GT(n_wide, 1000u);
}

// Returns paths of cost at most `limit`, ordered by arcs, then by cost.
std::vector<LatticePath> sorted_within(std::vector<LatticePath> paths, double limit) {
  const auto key = [](const asr_raw_arc &arc) {
    return std::tie(arc.transition_id, arc.word, arc.graph_cost, arc.acoustic_cost);
  };
  paths.erase(std::remove_if(paths.begin(), paths.end(), [&](const LatticePath &path) { return path.cost > limit; }),
              paths.end());
  std::sort(paths.begin(), paths.end(), [&](const LatticePath &a, const LatticePath &b) {
    const auto differ = std::mismatch(a.arcs.begin(), a.arcs.end(), b.arcs.begin(), b.arcs.end(), same_arc);
    if (differ.first == a.arcs.end() && differ.second == b.arcs.end()) return a.cost < b.cost;
    if (differ.first == a.arcs.end() || differ.second == b.arcs.end()) return differ.first == a.arcs.end();
    return key(*differ.first) < key(*differ.second);
  });
  return paths;
}

// Without pruning, the lattice and the graph have the same paths within the lattice beam.
TEST_P(LatticeTest, HasEveryPathWithinItsBeam) {
  constexpr size_t kMaxPaths = 20000;
  const auto device = open();
  std::mt19937 random(2);
  size_t n_compared = 0, n_paths = 0;
  for (int i = 0; i < 3000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    GraphShape shape = acyclic_shape(random);
    shape.n_states = 2 * (1 + random() % 4);
    shape.emitting_arcs = std::min(shape.emitting_arcs, 2.0);
    RandomGraph graph(shape, random);
    const uint32_t n_frames = random() % 6;
    const std::vector<float> rows = graph.loglikes(n_frames);
    asr_search_options options = search_options(1e6f);
    options.lattice_beam = 0.5f + static_cast<float>(random() % 40) * 0.25f;
    options.word_insertion_cost = 0.25f;
    const bool use_final = random() % 2 == 0;
    auto want = reference::all_paths(graph.view(), options, rows.data(), n_frames, use_final, kMaxPaths);
    if (!want || want->empty()) continue;
    const RawLattice raw = decode(*device, graph.view(), options, rows, n_frames, use_final);
    auto got = reference::all_paths(raw, options, kMaxPaths);
    ASSERT_TRUE(got);
    const auto dearer = [](const LatticePath &a, const LatticePath &b) { return a.cost < b.cost; };
    const double best = std::min_element(want->begin(), want->end(), dearer)->cost;
    // Chooses a limit that no path's cost is near, so that rounding does not decide.
    double limit = best + double{options.lattice_beam};
    const auto near_limit = [&](const LatticePath &path) { return std::abs(path.cost - limit) < 1e-4; };
    while (std::any_of(want->begin(), want->end(), near_limit)) limit -= 1e-3;
    const std::vector<LatticePath> all = sorted_within(*want, limit), kept = sorted_within(*got, limit);
    ASSERT_EQ(kept.size(), all.size());
    for (size_t p = 0; p < all.size(); ++p) {
      ASSERT_EQ(kept[p].arcs.size(), all[p].arcs.size());
      for (size_t a = 0; a < all[p].arcs.size(); ++a) ASSERT_TRUE(same_arc(kept[p].arcs[a], all[p].arcs[a]));
      EXPECT_NEAR(kept[p].cost, all[p].cost, 1e-4);
    }
    ++n_compared;
    n_paths += all.size();
  }
  EXPECT_GT(n_compared, 1000u);
  EXPECT_GT(n_paths, 10 * n_compared);
}

// The best path is the same as without lattices, and its cost is the lattice's best cost.
TEST_P(LatticeTest, BestPathIsTheSame) {
  const auto device = open();
  std::mt19937 random(3);
  for (int i = 0; i < 500 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomGraph graph(acyclic_shape(random), random);
    const Loaded loaded(api(), *device, graph.view());
    const std::vector<float> rows = graph.loglikes(40);
    asr_search_options options = search_options(8, 10);
    const Channel plain(api(), *device, loaded, options);
    options.lattice_beam = 4;
    const Channel with_lattice(api(), *device, loaded, options);
    advance(*device, plain, rows.data(), graph.view().n_pdfs, 40, 40);
    const asr_path want = path_of(*device, plain.channel, ASR_WANTS_FINAL);
    advance(*device, with_lattice, rows.data(), graph.view().n_pdfs, 40, 40);
    const RawLattice raw = lattice(*device, with_lattice, true);
    const asr_path got = path_of(*device, with_lattice.channel, ASR_WANTS_FINAL);
    EXPECT_EQ(got.total_cost, want.total_cost);
    EXPECT_EQ(got.n_tokens, want.n_tokens);
    EXPECT_EQ(got.n_arcs_expanded, want.n_arcs_expanded);
    ASSERT_EQ(got.n_arcs, want.n_arcs);
    for (size_t a = 0; a < got.n_arcs; ++a) {
      EXPECT_EQ(got.arcs[a].transition_id, want.arcs[a].transition_id);
      EXPECT_EQ(got.arcs[a].acoustic_cost, want.arcs[a].acoustic_cost);
    }
    std::vector<double> cost(raw.frames.size(), HUGE_VAL);
    cost[0] = 0;
    double best = HUGE_VAL;
    for (size_t s = 0; s < cost.size(); ++s) {
      for (uint64_t a = raw.arc_begin[s]; a < raw.arc_begin[s + 1]; ++a) {
        const asr_raw_arc &arc = raw.arcs[a];
        ASSERT_GT(arc.next_state, s);
        double &to = cost[arc.next_state];
        to = std::min(to, cost[s] + double{arc.graph_cost} + double{options.acoustic_scale} * double{arc.acoustic_cost});
      }
      best = std::min(best, cost[s] + double{raw.final_costs[s]});
    }
    EXPECT_NEAR(best, want.total_cost, 1e-4);
  }
}

// Audio long enough for many prunings; intermediate requests for lattices and best paths change nothing.
TEST_P(LatticeTest, LongAudioAndChunks) {
  const auto device = open();
  std::mt19937 random(4);
  RandomGraph graph({30, 6, 6, 3.0, 0.8, 0.3, false}, random);
  constexpr uint32_t kFrames = 2000;
  const std::vector<float> rows = graph.loglikes(kFrames);
  asr_search_options options = search_options(12);
  options.lattice_beam = 6;
  const RawLattice want = reference::lattice(graph.view(), options, rows.data(), kFrames, true);
  const Loaded loaded(api(), *device, graph.view());
  for (const uint32_t chunk : {1u, 7u, 64u, 200u}) {
    const Channel channel(api(), *device, loaded, options);
    for (uint32_t t = 0; t < kFrames; t += 200) {
      advance(*device, channel, rows.data() + size_t{t} * 6, 6, 200, chunk);
      if (chunk == 64) continue;
      EXPECT_EQ(lattice(*device, channel, t % 400 == 0).n_frames, t + 200);
    }
    expect_same(lattice(*device, channel, true), want);
    expect_same(lattice(*device, channel, true), want);
  }
}

// Eight channels advanced together on four threads must equal each alone.
TEST_P(LatticeTest, LanesDoNotMatter) {
  const auto device = open(backend_options(8, 64, 4));
  std::mt19937 random(5);
  RandomGraph graph({28, 5, 6, 2.5, 0.7, 0.3, false}, random);
  asr_search_options options = search_options(9, 12);
  options.lattice_beam = 5;
  const Loaded loaded(api(), *device, graph.view());
  std::vector<std::vector<float>> rows;
  std::vector<std::unique_ptr<Channel>> channels;
  for (int c = 0; c < 8; ++c) {
    rows.push_back(graph.loglikes(320));
    channels.push_back(std::make_unique<Channel>(api(), *device, loaded, options));
  }
  for (uint32_t t = 0; t < 320; t += 64) {
    std::vector<asr_advance_job> jobs;
    for (int c = 0; c < 8; ++c) jobs.push_back({channels[c]->channel, rows[c].data() + size_t{t} * 5, 0, 0, 64, 0});
    device->check(api().advance(device->get(), nullptr, jobs.data(), jobs.size()));
    device->check(api().wait(device->get(), 0));
  }
  for (int c = 0; c < 8; ++c) {
    expect_same(lattice(*device, *channels[c], true), reference::lattice(graph.view(), options, rows[c].data(), 320, true));
  }
}

// Scores that are not finite, and a beam that dies of them.
TEST_P(LatticeTest, InfiniteAndNotANumber) {
  const auto device = open();
  std::mt19937 random(6);
  RandomGraph graph({12, 3, 3, 3.0, 0.5, 0.5, false}, random);
  asr_search_options options = search_options(10);
  options.lattice_beam = 8;
  std::vector<float> rows = graph.loglikes(50);
  rows[size_t{12} * 3] = std::nanf("");
  rows[size_t{13} * 3] = HUGE_VALF;
  for (uint32_t p = 0; p < 3; ++p) rows[40 * 3 + p] = -HUGE_VALF;
  const RawLattice dead = decode(*device, graph.view(), options, rows, 50, true);
  EXPECT_TRUE(dead.beam_died);
  EXPECT_EQ(dead.n_frames, 40u);
  expect_same(dead, reference::lattice(graph.view(), options, rows.data(), 50, true));
}

TEST_P(LatticeTest, BadArgumentsAreRefused) {
  const auto device = open();
  std::mt19937 random(7);
  RandomGraph graph({4, 2, 2, 2.0, 0.0, 0.5, false}, random);
  const Loaded loaded(api(), *device, graph.view());
  asr_search_options options = search_options(10);
  for (const float lattice_beam : {-1.0f, std::nanf(""), HUGE_VALF}) {
    options.lattice_beam = lattice_beam;
    asr_backend_channel *channel = nullptr;
    EXPECT_EQ(api().channel_begin(device->get(), loaded.graph, &options, &channel), ASR_INVALID_ARGUMENT);
    EXPECT_STRNE(api().last_error(), "");
  }
  options.lattice_beam = 0;
  const Channel channel(api(), *device, loaded, options);
  asr_raw_lattice raw{};
  EXPECT_EQ(api().lattices(device->get(), &channel.channel, 1, ASR_WANTS_FINAL, &raw), ASR_INVALID_ARGUMENT);
}

// A graph with such a cycle can still be searched.
TEST_P(LatticeTest, CycleOfEpsilonArcs) {
  const auto device = open();
  const asr_graph_arc arcs[] = {{0, 1, 0, 1.0f}, {1, 0, 0, 0.5f}, {0, 0, 0, 0.25f}};
  const uint32_t emitting_begin[] = {0, 1, 1}, epsilon_begin[] = {1, 2, 3}, pdf_of[] = {0, 0};
  const float final_costs[] = {0, 0};
  const asr_graph_view view{sizeof(view), 2, 0, 1, 1, 3, emitting_begin, epsilon_begin, arcs, final_costs, pdf_of, nullptr};
  EXPECT_FALSE(reference::epsilon_ranks(view));
  const Loaded loaded(api(), *device, view);
  asr_search_options options = search_options(10);
  options.lattice_beam = 5;
  const Channel channel(api(), *device, loaded, options);
  const float rows[] = {-1, -2, -3};
  advance(*device, channel, rows, 1, 3, 3);
  asr_raw_lattice raw{};
  EXPECT_EQ(api().lattices(device->get(), &channel.channel, 1, ASR_WANTS_FINAL, &raw), ASR_UNSUPPORTED);
  EXPECT_EQ(path_of(*device, channel.channel, ASR_WANTS_FINAL).n_arcs, 3u);
}

SENONE_INSTANTIATE(LatticeTest);

}  // namespace
}  // namespace asr::test
