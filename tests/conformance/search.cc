// SPDX-License-Identifier: Apache-2.0
// Tests the search against its double and literal references (reference/viterbi.h), on thousands of small random graphs.
#include <cmath>
#include <limits>

#include "reference/random_gmm.h"
#include "reference/viterbi.h"
#include "tests/conformance/search_fixture.h"

namespace asr::test {
namespace {

using reference::SearchResult;

bool same_arc(const asr_path_arc &a, const asr_path_arc &b) {
  return a.frame == b.frame && a.transition_id == b.transition_id && a.word == b.word && a.graph_cost == b.graph_cost &&
         a.acoustic_cost == b.acoustic_cost;
}

// Compares paths by their arcs, bit for bit.
void expect_same(const SearchResult &got, const SearchResult &want) {
  EXPECT_EQ(got.n_frames, want.n_frames);
  EXPECT_EQ(got.beam_died, want.beam_died);
  EXPECT_EQ(got.reached_final, want.reached_final);
  EXPECT_EQ(got.n_tokens, want.n_tokens);
  EXPECT_EQ(got.n_arcs_expanded, want.n_arcs_expanded);
  EXPECT_NEAR(got.total_cost, want.total_cost, 1e-9 * (1 + std::abs(want.total_cost)));
  ASSERT_EQ(got.arcs.size(), want.arcs.size());
  for (size_t i = 0; i < got.arcs.size(); ++i) ASSERT_TRUE(same_arc(got.arcs[i], want.arcs[i])) << "arc " << i;
}

class SearchTest : public SearchFixture {
 protected:
  SearchResult best_path(const Device &device, const Channel &channel, bool use_final) {
    const asr_path path = path_of(device, channel.channel, final_if(use_final));
    return {{path.arcs, path.arcs + path.n_arcs},
            path.n_frames,
            path.reached_final != 0,
            path.beam_died != 0,
            path.total_cost,
            path.n_tokens,
            path.n_arcs_expanded};
  }

  SearchResult decode(const Device &device, const asr_graph_view &view, const asr_search_options &options,
                      const std::vector<float> &rows, uint32_t n_frames, bool use_final, uint32_t chunk = 64) {
    const Loaded loaded(api(), device, view);
    const Channel channel(api(), device, loaded, options);
    advance(device, channel, rows.data(), view.n_pdfs, n_frames, chunk);
    return best_path(device, channel, use_final);
  }
};

TEST_P(SearchTest, PrunedSearchIsTheOneDefined) {
  const auto device = open();
  std::mt19937 random(1);
  uint32_t n_died = 0, n_final = 0, n_cut = 0;
  for (int i = 0; i < 4000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    const GraphShape shape = random_shape(random);
    RandomGraph graph(shape, random);
    const uint32_t n_frames = random() % 40;
    const std::vector<float> rows = graph.loglikes(n_frames);
    asr_search_options options = search_options(0.5f + static_cast<float>(random() % 20), 1 + random() % 12, random() % 6);
    options.word_insertion_cost = static_cast<float>(random() % 3) * 0.5f;
    const bool use_final = random() % 2 == 0;
    const SearchResult want = reference::pruned_search(graph.view(), options, rows.data(), n_frames, use_final);
    expect_same(decode(*device, graph.view(), options, rows, n_frames, use_final), want);
    n_died += want.beam_died ? 1 : 0;
    n_final += want.reached_final ? 1 : 0;
    n_cut += want.n_tokens == uint64_t{want.n_frames} * options.max_active ? 1 : 0;
  }
  EXPECT_GT(n_died, 100u);
  EXPECT_GT(n_final, 100u);
  EXPECT_GT(n_cut, 100u);
}

TEST_P(SearchTest, WideBeamFindsTheBestPathOfAll) {
  const auto device = open();
  std::mt19937 random(2);
  for (int i = 0; i < 2000 && !HasFailure(); ++i) {
    SCOPED_TRACE(i);
    RandomGraph graph(random_shape(random), random);
    const uint32_t n_frames = random() % 30;
    const std::vector<float> rows = graph.loglikes(n_frames);
    asr_search_options options = search_options(1e6f);
    options.word_insertion_cost = 0.25f;
    const bool use_final = random() % 2 == 0;
    const reference::BestCost want = reference::best_cost(graph.view(), options, rows.data(), n_frames, use_final);
    const SearchResult got = decode(*device, graph.view(), options, rows, n_frames, use_final);
    ASSERT_EQ(got.beam_died, std::isinf(want.cost));
    if (got.beam_died) continue;
    EXPECT_EQ(got.reached_final, want.reached_final);
    EXPECT_NEAR(got.total_cost, want.cost, 1e-4 * (1 + std::abs(want.cost)));
  }
}

TEST_P(SearchTest, NegativeWordInsertionCost) {
  const auto device = open();
  std::mt19937 random(3);
  for (int i = 0; i < 300 && !HasFailure(); ++i) {
    GraphShape shape = random_shape(random);
    shape.n_states += shape.n_states % 2;  // no epsilon cycles
    RandomGraph graph(shape, random);
    const std::vector<float> rows = graph.loglikes(20);
    asr_search_options options = search_options(6, 5);
    options.word_insertion_cost = -0.75f;
    expect_same(decode(*device, graph.view(), options, rows, 20, true),
                reference::pruned_search(graph.view(), options, rows.data(), 20, true));
  }
}

TEST_P(SearchTest, ChunksDoNotMatter) {
  const auto device = open();
  std::mt19937 random(4);
  RandomGraph graph({25, 5, 6, 2.5, 0.7, 0.3, false}, random);
  const std::vector<float> rows = graph.loglikes(500);
  const asr_search_options options = search_options(8, 10);
  const SearchResult all = decode(*device, graph.view(), options, rows, 500, true, 500);
  ASSERT_EQ(all.n_frames, 500u);
  for (const uint32_t chunk : {1u, 3u, 64u}) expect_same(decode(*device, graph.view(), options, rows, 500, true, chunk), all);
}

// More arcs of a token, emitting ones and epsilon ones, than a block's lists may count.
TEST_P(SearchTest, MoreArcsThanAListCounts) {
  constexpr uint32_t kArcs = 300000, kStates = 400, kPdfs = 7;
  std::mt19937 random(6);
  std::uniform_real_distribution<float> costs(0, 4);
  const auto device = open();
  for (const bool emitting : {true, false}) {
    std::vector<asr_graph_arc> arcs;
    const auto below = [&random](uint32_t n) { return static_cast<uint32_t>(random()) % n; };
    const auto add = [&](uint32_t to, bool emits) { arcs.push_back({to, emits ? 1 + below(kPdfs) : 0, 0, costs(random)}); };
    std::vector<uint32_t> emitting_begin{0}, epsilon_begin;
    for (uint32_t i = 0; emitting && i < kArcs; ++i) add(1 + below(kStates - 1), true);
    emitting_begin.push_back(static_cast<uint32_t>(arcs.size()));
    for (uint32_t state = 1; state < kStates; ++state) {
      add(emitting ? 0 : 1 + below(kStates - 1), true);
      emitting_begin.push_back(static_cast<uint32_t>(arcs.size()));
    }
    epsilon_begin.push_back(static_cast<uint32_t>(arcs.size()));
    for (uint32_t i = 0; !emitting && i < kArcs; ++i) add(1 + below(kStates - 1), false);
    epsilon_begin.resize(kStates + 1, static_cast<uint32_t>(arcs.size()));
    std::vector<uint32_t> pdf_of(kPdfs + 1);
    for (uint32_t i = 1; i <= kPdfs; ++i) pdf_of[i] = i - 1;
    const std::vector<float> final_costs(kStates, 0.0f);
    const asr_graph_view view{sizeof(view),
                              kStates,
                              0,
                              kPdfs,
                              kPdfs,
                              static_cast<uint32_t>(arcs.size()),
                              emitting_begin.data(),
                              epsilon_begin.data(),
                              arcs.data(),
                              final_costs.data(),
                              pdf_of.data(),
                              nullptr};
    std::vector<float> rows(4 * kPdfs);
    for (float &value : rows) value = -costs(random);
    const asr_search_options options = search_options(20);
    const SearchResult want = reference::pruned_search(view, options, rows.data(), 4, true);
    EXPECT_GT(want.n_arcs_expanded, kArcs);
    expect_same(decode(*device, view, options, rows, 4, true), want);
  }
}

// Eight channels with their own rows, advanced together on four threads, must equal each alone on one.
TEST_P(SearchTest, LanesDoNotMatter) {
  const auto one = open();
  const auto many = open(backend_options(8, 64, 4));
  std::mt19937 random(5);
  RandomGraph graph({29, 5, 6, 2.5, 0.7, 0.3, false}, random);
  const asr_search_options options = search_options(9, 12);
  const Loaded loaded(api(), *many, graph.view());
  std::vector<std::vector<float>> rows;
  std::vector<std::unique_ptr<Channel>> channels;
  for (int c = 0; c < 8; ++c) {
    rows.push_back(graph.loglikes(320));
    channels.push_back(std::make_unique<Channel>(api(), *many, loaded, options));
  }
  for (uint32_t t = 0; t < 320; t += 64) {
    std::vector<asr_advance_job> jobs;
    for (int c = 0; c < 8; ++c) jobs.push_back({channels[c]->channel, rows[c].data() + size_t{t} * 5, 0, 0, 64, 0});
    many->check(api().advance(many->get(), nullptr, jobs.data(), jobs.size()));
    many->check(api().wait(many->get(), 0));
  }
  for (int c = 0; c < 8; ++c) {
    expect_same(best_path(*many, *channels[c], true), decode(*one, graph.view(), options, rows[c], 320, true));
  }
}

// Audio long enough for many compactions of the trace; intermediate requests for best paths change nothing.
TEST_P(SearchTest, LongAudio) {
  const auto device = open();
  std::mt19937 random(6);
  RandomGraph graph({31, 6, 6, 3.0, 0.8, 0.3, false}, random);
  constexpr uint32_t kFrames = 30000;
  const std::vector<float> rows = graph.loglikes(kFrames);
  const asr_search_options options = search_options(15);
  const Loaded loaded(api(), *device, graph.view());
  const Channel channel(api(), *device, loaded, options);
  for (uint32_t t = 0; t < kFrames; t += 5000) {
    advance(*device, channel, rows.data() + size_t{t} * 6, 6, 5000, 64);
    EXPECT_EQ(best_path(*device, channel, false).n_frames, t + 5000);
  }
  expect_same(best_path(*device, channel, true), reference::pruned_search(graph.view(), options, rows.data(), kFrames, true));
}

// A beam that keeps every token of a graph with many states, so that a back end's initial tables and lists overflow.
TEST_P(SearchTest, MoreTokensThanExpected) {
  const auto device = open();
  std::mt19937 random(11);
  RandomGraph graph({60000, 5, 6, 3.0, 0.5, 0.01, false}, random);
  const std::vector<float> rows = graph.loglikes(14);
  const asr_search_options options = search_options(1e6f, 1000000);
  const SearchResult got = decode(*device, graph.view(), options, rows, 14, true, 6);
  EXPECT_GT(got.n_tokens, 60000u);
  expect_same(got, reference::pruned_search(graph.view(), options, rows.data(), 14, true));
}

// A limit of active tokens among many of the same cost, where only the state's number decides.
TEST_P(SearchTest, ManyTokensOfOneCost) {
  const auto device = open();
  constexpr uint32_t kFrames = 4;
  constexpr float kLargest = std::numeric_limits<float>::max();
  for (const uint32_t n : {1u, 2u, 127u, 128u, 129u, 257u, 1000u, 5000u}) {
    for (const bool one_cost : {true, false}) {
      const FanGraph graph(n, one_cost);
      const Loaded loaded(api(), *device, graph.view());
      const std::vector<float> rows = FanGraph::loglikes(kFrames, one_cost);
      for (const float beam : {1e-45f, 3.0f, 1e30f, kLargest}) {
        for (const ActiveLimits limits :
             {ActiveLimits{1, 0}, ActiveLimits{1, 1}, ActiveLimits{127, 0}, ActiveLimits{128, 128}, ActiveLimits{129, 0},
              ActiveLimits{200, 130}, ActiveLimits{999, 999}, ActiveLimits{5, 300}, ActiveLimits{UINT32_MAX, UINT32_MAX}}) {
          if (HasFailure()) return;
          SCOPED_TRACE(testing::Message() << n << " states, one cost " << one_cost << ", beam " << beam << ", at most "
                                          << limits.max_active << ", at least " << limits.min_active);
          const asr_search_options options = search_options(beam, limits.max_active, limits.min_active);
          const Channel channel(api(), *device, loaded, options);
          advance(*device, channel, rows.data(), FanGraph::kPdfs, kFrames, 64);
          expect_same(best_path(*device, channel, true),
                      reference::pruned_search(graph.view(), options, rows.data(), kFrames, true));
        }
      }
    }
  }
}

TEST_P(SearchTest, NoFrames) {
  const auto device = open();
  std::mt19937 random(7);
  RandomGraph graph({6, 2, 3, 1.0, 1.0, 0.5, false}, random);
  const asr_search_options options = search_options(10);
  expect_same(decode(*device, graph.view(), options, {}, 0, true),
              reference::pruned_search(graph.view(), options, nullptr, 0, true));
}

// Log-likelihoods that are not finite close their arcs; with all closed the beam dies, is reported, and stays dead.
TEST_P(SearchTest, InfiniteAndNotANumber) {
  const auto device = open();
  std::mt19937 random(8);
  RandomGraph graph({12, 3, 3, 3.0, 0.5, 0.5, false}, random);
  const asr_search_options options = search_options(10);
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> rows = graph.loglikes(30);
  rows[size_t{12} * 3] = std::nanf("");
  rows[size_t{13} * 3] = kInfinity;
  rows[14 * 3 + 1] = -kInfinity;
  const SearchResult alive = decode(*device, graph.view(), options, rows, 30, true);
  EXPECT_EQ(alive.n_frames, 30u);
  expect_same(alive, reference::pruned_search(graph.view(), options, rows.data(), 30, true));
  for (uint32_t p = 0; p < 3; ++p) rows[20 * 3 + p] = -kInfinity;
  const SearchResult dead = decode(*device, graph.view(), options, rows, 30, true);
  EXPECT_TRUE(dead.beam_died);
  EXPECT_EQ(dead.n_frames, 20u);
  expect_same(dead, reference::pruned_search(graph.view(), options, rows.data(), 30, true));
}

// Rows read from a score buffer must equal the rows that `score` returns to the host.
TEST_P(SearchTest, ScoreBufferAndHostRows) {
  for (const uint32_t n_threads : {1u, 3u}) {
    const auto device = open(backend_options(2, 32, n_threads));
    std::mt19937 random(9);
    RandomGraph graph({20, 4, 4, 2.5, 0.6, 0.3, false}, random);
    const uint32_t dims[] = {0, 1, 2};
    const asr_gmm_stream stream{3, dims};
    std::vector<asr_gmm_codebook> codebooks;
    std::vector<uint32_t> covariance_of, state_codebook;
    std::vector<uint64_t> precision_at, state_weight;
    std::vector<float> means, precisions, log_weights;
    std::normal_distribution<float> normal;
    for (uint32_t s = 0; s < 4; ++s) {
      codebooks.push_back({0, 1, s, uint64_t{s} * 3});
      covariance_of.push_back(s);
      precision_at.push_back(uint64_t{s} * 3);
      state_codebook.push_back(s);
      state_weight.push_back(s);
      log_weights.push_back(0);
      for (int d = 0; d < 3; ++d) means.push_back(normal(random));
      for (int d = 0; d < 3; ++d) precisions.push_back(1.0f);
    }
    const asr_acoustic_view view{sizeof(view),
                                 ASR_COVARIANCE_DIAGONAL,
                                 3,
                                 4,
                                 1,
                                 4,
                                 4,
                                 4,
                                 &stream,
                                 codebooks.data(),
                                 means.data(),
                                 precisions.data(),
                                 log_weights.data(),
                                 covariance_of.data(),
                                 precision_at.data(),
                                 state_codebook.data(),
                                 state_weight.data()};
    asr_backend_acoustic *acoustic = nullptr;
    device->check(api().load_acoustic(device->get(), &view, &acoustic));
    {
      const asr_search_options options = search_options(9, 12);
      const Loaded loaded(api(), *device, graph.view());
      const Channel buffered(api(), *device, loaded, options), hosted(api(), *device, loaded, options);
      std::vector<float> features(size_t{10} * 64 * 3);
      for (float &x : features) x = normal(random);
      std::vector<Guarded<float>> rows(10, Guarded<float>(size_t{64} * 4));
      const auto score = [&](uint32_t window) {
        const asr_score_job job{acoustic, features.data() + size_t{window} * 64 * 3, 64, window % 2, rows[window].data()};
        device->check(api().score(device->get(), &job, 1));
      };
      score(0);
      for (uint32_t window = 0; window < 10; ++window) {
        if (window + 1 < 10) score(window + 1);
        const asr_advance_job job{buffered.channel, nullptr, window % 2, 5, 50, 0};
        device->check(api().advance(device->get(), acoustic, &job, 1));
      }
      device->check(api().wait(device->get(), 0));
      for (const Guarded<float> &window : rows) {
        EXPECT_TRUE(window.bands_intact());
        EXPECT_EQ(window.n_unwritten(), 0u);
        advance(*device, hosted, window.data() + size_t{5} * 4, 4, 50, 50);
      }
      expect_same(best_path(*device, buffered, true), best_path(*device, hosted, true));
      const asr_advance_job beyond{buffered.channel, nullptr, 0, 60, 5, 0};
      EXPECT_NE(api().advance(device->get(), acoustic, &beyond, 1), ASR_OK);
    }
    api().free_acoustic(acoustic);
  }
}

TEST_P(SearchTest, BadArgumentsAreRefused) {
  const auto device = open();
  std::mt19937 random(10);
  RandomGraph graph({4, 2, 2, 2.0, 0.0, 0.5, false}, random);
  const Loaded loaded(api(), *device, graph.view());
  const auto refused = [&](void (*change)(asr_search_options &)) {
    asr_search_options options = search_options(10);
    change(options);
    asr_backend_channel *channel = nullptr;
    EXPECT_EQ(api().channel_begin(device->get(), loaded.graph, &options, &channel), ASR_INVALID_ARGUMENT);
    EXPECT_STRNE(api().last_error(), "");
    EXPECT_EQ(channel, nullptr);
  };
  refused([](asr_search_options &o) { o.beam = 0; });
  refused([](asr_search_options &o) { o.beam = std::nanf(""); });
  refused([](asr_search_options &o) { o.max_active = 0; });
  refused([](asr_search_options &o) { o.acoustic_scale = -1; });
  refused([](asr_search_options &o) { o.word_insertion_cost = std::numeric_limits<float>::infinity(); });
}

// A back end that reports a copy of the arrays must not read them again; one that does not finds them unchanged.
TEST_P(SearchTest, ArraysThatAreNotInUseMayGo) {
  const auto device = open();
  std::vector<asr_graph_arc> arcs = {{1, 1, 3, 0.5f}};
  std::vector<uint32_t> emitting_begin = {0, 1, 1}, epsilon_begin = {1, 1, 1}, pdf_of = {0, 0};
  std::vector<float> final_costs = {std::numeric_limits<float>::infinity(), 0.25f};
  const asr_graph_view view{
      sizeof(view),  2,      0, 1, 1, 1, emitting_begin.data(), epsilon_begin.data(), arcs.data(), final_costs.data(),
      pdf_of.data(), nullptr};
  const Loaded loaded(api(), *device, view);
  if (loaded.in_use == 0) {
    for (auto *begin : {&emitting_begin, &epsilon_begin, &pdf_of}) begin->assign(begin->size(), 0xffffffff);
    arcs[0] = {0xffffffff, 0xffffffff, 0xffffffff, std::nanf("")};
    final_costs.assign(2, std::nanf(""));
  }
  const Channel channel(api(), *device, loaded, search_options(10));
  const float row = -2;
  advance(*device, channel, &row, 1, 1, 1);
  const asr_path path = path_of(*device, channel.channel, ASR_WANTS_FINAL);
  EXPECT_NEAR(path.total_cost, 0.5 + 0.7 * 2 + 0.25, 1e-5);
  ASSERT_EQ(path.n_arcs, 1u);
  EXPECT_EQ(path.arcs[0].word, 3u);
  EXPECT_EQ(path.arcs[0].transition_id, 1u);
}

// An epsilon cycle of negative cost is an error with a message, not an endless loop.
TEST_P(SearchTest, NegativeEpsilonCycle) {
  const auto device = open();
  const asr_graph_arc arcs[] = {{0, 1, 0, 1.0f}, {1, 0, 0, -0.5f}, {0, 0, 0, 0.25f}};
  const uint32_t emitting_begin[] = {0, 1, 1}, epsilon_begin[] = {1, 2, 3}, pdf_of[] = {0, 0};
  const float final_costs[] = {0, 0};
  const asr_graph_view view{sizeof(view), 2, 0, 1, 1, 3, emitting_begin, epsilon_begin, arcs, final_costs, pdf_of, nullptr};
  const Loaded loaded(api(), *device, view);
  const asr_search_options options = search_options(10);
  asr_backend_channel *channel = nullptr;
  EXPECT_EQ(api().channel_begin(device->get(), loaded.graph, &options, &channel), ASR_INVALID_ARGUMENT);
  EXPECT_STRNE(api().last_error(), "");
}

// A graph whose channels fail in their first frame: after it they find a cycle of epsilon arcs with a negative cost.
struct FailingGraph {
  const asr_graph_arc arcs[3] = {{1, 1, 0, 1.0f}, {2, 0, 0, -0.5f}, {1, 0, 0, 0.25f}};
  const uint32_t emitting_begin[4] = {0, 1, 1, 1}, epsilon_begin[4] = {1, 1, 2, 3}, pdf_of[2] = {0, 0};
  const float final_costs[3] = {0, 0, 0};
  const asr_graph_view view{sizeof(view), 3, 0, 1, 1, 3, emitting_begin, epsilon_begin, arcs, final_costs, pdf_of, nullptr};
};

// A channel fails in the same wait as scores. Its failure must not keep them from the host, and is no failure of the wait.
TEST_P(SearchTest, ScoresComeThoughAChannelFails) {
  const auto device = open();
  const FailingGraph graph;
  const Loaded loaded(api(), *device, graph.view);
  const Channel channel(api(), *device, loaded, search_options(10));
  const reference::RandomGmm shape;
  const AcousticModel model = reference::random_gmm(shape);
  asr_backend_acoustic *acoustic = nullptr;
  check(api().load_acoustic(device->get(), AcousticView(model).get(), &acoustic));
  constexpr uint32_t kRows = 5;
  const std::vector<float> features = reference::random_features(shape, kRows);
  Guarded<float> loglikes(size_t{kRows} * model.n_states);
  const asr_score_job score{acoustic, features.data(), kRows, 0, loglikes.data()};
  check(api().score(device->get(), &score, 1));
  const float row = -1.0f;
  const asr_advance_job advance{channel.channel, &row, 0, 0, 1, 0};
  check(api().advance(device->get(), nullptr, &advance, 1));
  check(api().wait(device->get(), 0));
  EXPECT_EQ(api().outcome(device->get(), channel.channel), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(loglikes.n_unwritten(), 0u);
  api().free_acoustic(acoustic);
}

// Channels of two advances, which may run at a time, fail before one wait, and one of them has ended by then. No wait reports
// them, because it could not say whose failure it is.
TEST_P(SearchTest, WaitsReportNoChannelsFailure) {
  const auto device = open();
  const FailingGraph graph;
  const Loaded loaded(api(), *device, graph.view);
  const Channel channels[] = {{api(), *device, loaded, search_options(10)}, {api(), *device, loaded, search_options(10)}};
  const float row = -1.0f;
  {
    const Channel ended(api(), *device, loaded, search_options(10));
    const asr_advance_job advance{ended.channel, &row, 0, 0, 1, 0};
    check(api().advance(device->get(), nullptr, &advance, 1));
  }
  for (const Channel &channel : channels) {
    const asr_advance_job advance{channel.channel, &row, 0, 0, 1, 0};
    check(api().advance(device->get(), nullptr, &advance, 1));
  }
  check(api().wait(device->get(), 0));
  for (const Channel &channel : channels) EXPECT_EQ(api().outcome(device->get(), channel.channel), ASR_INVALID_ARGUMENT);
}

SENONE_INSTANTIATE(SearchTest);

}  // namespace
}  // namespace asr::test
