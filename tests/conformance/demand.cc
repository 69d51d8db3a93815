// SPDX-License-Identifier: Apache-2.0
// Tests channels that advance over score buffers whose scores the host does not want. A back end may then score only the
// states that searches ask for. Paths and lattices must have the bits of those over rows that `score` gives to the host.
#include <memory>

#include "core/backend/asr_backend_fusion.h"
#include "tests/conformance/lattice_fixture.h"
#include "tests/reference/random_gmm.h"

namespace asr::test {
namespace {

constexpr uint32_t kStates = 150;

// A random graph without cycles of epsilon arcs, whose pdfs are spread over the states of a model.
class SpreadGraph {
 public:
  SpreadGraph(uint32_t n_pdfs, uint32_t step, std::mt19937 &random)
      : graph_({40, n_pdfs, 5, 3.0, 0.5, 0.3, false}, random), view_(graph_.view()) {
    for (uint32_t id = 0; id <= view_.n_transition_ids; ++id) pdf_of_.push_back(view_.pdf_of[id] * step % kStates);
    view_.n_pdfs = kStates;
    view_.pdf_of = pdf_of_.data();
  }
  const asr_graph_view &view() const { return view_; }

 private:
  RandomGraph graph_;
  asr_graph_view view_;
  std::vector<uint32_t> pdf_of_;
};

class DemandTest : public LatticeTest {
 protected:
  bool needs_lattices() const override { return false; }
  bool makes_lattices() const { return (entry().info.capabilities & ASR_BACKEND_LATTICES) != 0; }

  class Model {
   public:
    Model(const Device &device, const reference::RandomGmm &options) : device_(device), options_(options) {
      const AcousticModel model = reference::random_gmm(options);
      const AcousticView view(model);
      device.check(device.api()->load_acoustic(device.get(), view.get(), &acoustic_));
    }
    ~Model() { device_.api()->free_acoustic(acoustic_); }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    asr_backend_acoustic *get() const { return acoustic_; }

    // Scores n rows into a buffer. Returns them if the host wants them. The features are gone afterwards.
    std::vector<float> score(uint32_t window, uint32_t n, bool to_host) const {
      reference::RandomGmm of_window = options_;
      of_window.seed += 100 * window;
      const std::vector<float> features = reference::random_features(of_window, n);
      std::vector<float> rows(to_host ? size_t{n} * kStates : 0);
      const asr_score_job job{acoustic_, features.data(), n, window % 2, to_host ? rows.data() : nullptr};
      device_.check(device_.api()->score(device_.get(), &job, 1));
      device_.check(device_.api()->wait(device_.get(), 0));
      return rows;
    }

   private:
    const Device &device_;
    const reference::RandomGmm options_;
    asr_backend_acoustic *acoustic_ = nullptr;
  };

  // Two channels over the same rows, one reads the buffers and the other the host's rows.
  struct Pair {
    Pair(const asr_backend_api &api, const Device &device, const Loaded &graph, const asr_search_options &options)
        : buffered(api, device, graph, options), hosted(api, device, graph, options) {}
    const Channel buffered, hosted;
  };
  using Pairs = std::vector<std::unique_ptr<Pair>>;

  // Advances pairs over rows of a window: pair p over those from first_rows[p] on.
  void advance(const Device &device, const Model &model, const Pairs &pairs, const std::vector<uint32_t> &first_rows,
               uint32_t n, uint32_t window, const std::vector<float> &rows) {
    std::vector<asr_advance_job> buffered, hosted;
    for (size_t p = 0; p < pairs.size(); ++p) {
      buffered.push_back({pairs[p]->buffered.channel, nullptr, window % 2, first_rows[p], n, 0});
      hosted.push_back({pairs[p]->hosted.channel, rows.data() + size_t{first_rows[p]} * kStates, 0, 0, n, 0});
    }
    device.check(api().advance(device.get(), model.get(), buffered.data(), buffered.size()));
    device.check(api().wait(device.get(), 0));
    device.check(api().advance(device.get(), nullptr, hosted.data(), hosted.size()));
    device.check(api().wait(device.get(), 0));
  }

  void expect_same_results(const Device &device, const Pairs &pairs) {
    for (const auto &pair : pairs) {
      const asr_path got = path_of(device, pair->buffered.channel, ASR_WANTS_FINAL);
      const std::vector<asr_path_arc> arcs(got.arcs, got.arcs + got.n_arcs);
      const asr_path want = path_of(device, pair->hosted.channel, ASR_WANTS_FINAL);
      EXPECT_EQ(got.total_cost, want.total_cost);
      EXPECT_EQ(got.n_tokens, want.n_tokens);
      EXPECT_EQ(got.n_frames, want.n_frames);
      ASSERT_EQ(arcs.size(), want.n_arcs);
      for (size_t i = 0; i < arcs.size(); ++i) {
        ASSERT_EQ(arcs[i].transition_id, want.arcs[i].transition_id);
        ASSERT_EQ(arcs[i].acoustic_cost, want.arcs[i].acoustic_cost);
      }
      if (!makes_lattices()) continue;
      expect_same(lattice(device, pair->buffered, true), lattice(device, pair->hosted, true));
    }
  }

  // Windows of all lengths, with two channels over the same rows, and one over others. Later another graph comes.
  void expect_same_as_on_the_host(const Device &device, const reference::RandomGmm &options) {
    std::mt19937 random(7);
    const SpreadGraph few(12, 11, random), some(40, 7, random), most(120, 1, random);
    const Loaded graphs[] = {{api(), device, few.view()}, {api(), device, some.view()}, {api(), device, most.view()}};
    asr_search_options search = search_options(11, 60);
    if (makes_lattices()) search.lattice_beam = 4;
    const Model model(device, options);
    Pairs pairs;
    uint32_t window = 0;
    for (const Loaded &graph : graphs) {
      for (size_t p = 0; p < 3; ++p) pairs.push_back(std::make_unique<Pair>(api(), device, graph, search));
      for (const uint32_t n : {1u, 13u, 60u, 31u, 48u, 49u, 7u}) {
        std::vector<uint32_t> first_rows;
        for (size_t p = 0; p < pairs.size(); ++p) first_rows.push_back(p % 3 == 2 ? 0 : n + 1);
        const std::vector<float> rows = model.score(window, 2 * n + 1, true);
        model.score(window, 2 * n + 1, false);
        advance(device, model, pairs, first_rows, n, window++, rows);
      }
      expect_same_results(device, pairs);
    }
  }

  static reference::RandomGmm model_of(uint32_t seed) {
    reference::RandomGmm options;
    options.n_states = kStates;
    options.seed = seed;
    return options;
  }
};

TEST_P(DemandTest, OwnCodebooks) {
  for (const uint32_t n_threads : {1u, 3u}) {
    const auto device = open(backend_options(4, 64, n_threads));
    expect_same_as_on_the_host(*device, model_of(1));
  }
}

TEST_P(DemandTest, FullCovariances) {
  const auto device = open(backend_options(4, 64));
  reference::RandomGmm options = model_of(2);
  options.covariance = ASR_COVARIANCE_FULL;
  options.max_gaussians = 3;
  expect_same_as_on_the_host(*device, options);
}

TEST_P(DemandTest, SharedCodebooks) {
  const auto device = open(backend_options(4, 64));
  reference::RandomGmm options = model_of(3);
  options.n_codebooks = 5;
  options.min_gaussians = options.max_gaussians = 37;
  options.zero_weights = 0.2;
  expect_same_as_on_the_host(*device, options);
}

// Streams may group the states differently.
TEST_P(DemandTest, Streams) {
  for (const uint32_t n_codebooks : {0u, 1u, 4u}) {
    const auto device = open(backend_options(4, 64));
    reference::RandomGmm options = model_of(4);
    options.stream_dims = {13, 2, 7};
    options.n_codebooks = n_codebooks;
    expect_same_as_on_the_host(*device, options);
  }
}

TEST_P(DemandTest, SixteenBits) {
  for (const auto covariance : {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL}) {
    asr_backend_options backend = backend_options(4, 64);
    backend.model_bits = 16;
    const auto device = open(backend);
    reference::RandomGmm options = model_of(5);
    options.covariance = covariance;
    options.max_gaussians = 3;
    expect_same_as_on_the_host(*device, options);
  }
}

TEST_P(DemandTest, TheBestGaussiansAlone) {
  require(ASR_BACKEND_SELECTION, "it mixes all Gaussians");
  if (IsSkipped()) return;
  asr_backend_options backend = backend_options(4, 64);
  backend.n_best_gaussians = 4;
  const auto device = open(backend);
  reference::RandomGmm options = model_of(6);
  options.n_codebooks = 3;
  options.min_gaussians = options.max_gaussians = 40;
  expect_same_as_on_the_host(*device, options);
}

TEST_P(DemandTest, TheNearestClustersOfStates) {
  require(ASR_BACKEND_CLUSTERS, "it scores all states");
  if (IsSkipped()) return;
  asr_backend_options backend = backend_options(4, 64);
  backend.cluster_share = 0.3f;
  for (const std::vector<uint32_t> &stream_dims : {std::vector<uint32_t>{13}, std::vector<uint32_t>{7, 2}}) {
    const auto device = open(backend);
    reference::RandomGmm options = model_of(10);
    options.stream_dims = stream_dims;
    options.min_gaussians = options.max_gaussians = 4;
    expect_same_as_on_the_host(*device, options);
  }
}

// A row beyond all Gaussians has none that could be chosen.
TEST_P(DemandTest, TheBestGaussiansOfExtremeRows) {
  require(ASR_BACKEND_SELECTION, "it mixes all Gaussians");
  if (IsSkipped()) return;
  reference::RandomGmm options = model_of(6);
  options.n_codebooks = 3;
  options.min_gaussians = options.max_gaussians = 6;
  const AcousticModel model = reference::random_gmm(options);
  const AcousticView view(model);
  std::vector<std::vector<float>> scores;
  for (const uint32_t n_best : {0u, 4u}) {
    asr_backend_options backend = backend_options(4, 64);
    backend.n_best_gaussians = n_best;
    const auto device = open(backend);
    asr_backend_acoustic *acoustic = nullptr;
    device->check(api().load_acoustic(device->get(), view.get(), &acoustic));
    const std::vector<float> features(size_t{5} * view.get()->n_dims, 3e38f);
    scores.emplace_back(size_t{5} * kStates);
    const asr_score_job job{acoustic, features.data(), 5, 0, scores.back().data()};
    device->check(api().score(device->get(), &job, 1));
    device->check(api().wait(device->get(), 0));
    api().free_acoustic(acoustic);
  }
  EXPECT_EQ(scores[0], scores[1]);
}

// A graph may have no emitting arcs, and no transition-ids at all. Others come to the same model later.
TEST_P(DemandTest, GraphsWithoutTransitions) {
  const auto device = open(backend_options(4, 64));
  const Model model(*device, model_of(9));
  const uint32_t emitting_begin[] = {0, 0}, epsilon_begin[] = {0, 0}, pdf_of[] = {0};
  const float final_costs[] = {0};
  const asr_graph_arc none{};
  const asr_graph_view view{sizeof(view),  1,     0,           0,      kStates, 0, emitting_begin,
                            epsilon_begin, &none, final_costs, pdf_of, nullptr};
  std::mt19937 random(8);
  const SpreadGraph some(12, 11, random);
  const Loaded empty(api(), *device, view), loaded(api(), *device, some.view());
  Pairs pairs;
  pairs.push_back(std::make_unique<Pair>(api(), *device, empty, search_options(11, 60)));
  for (uint32_t window = 0; window < 8; ++window) {
    if (window == 4) pairs.push_back(std::make_unique<Pair>(api(), *device, loaded, search_options(11, 60)));
    const std::vector<float> rows = model.score(window, 20, true);
    model.score(window, 20, false);
    advance(*device, model, pairs, std::vector<uint32_t>(pairs.size(), 0), 20, window, rows);
  }
  const asr_path got = path_of(*device, pairs[0]->buffered.channel, 0);
  EXPECT_EQ(got.n_frames, 0u);
  EXPECT_EQ(path_of(*device, pairs[1]->buffered.channel, 0).total_cost,
            path_of(*device, pairs[1]->hosted.channel, 0).total_cost);
}

// Rows that may wait for their scores are fused.
TEST_P(DemandTest, FusedRows) {
  const auto *const fusion = extension_of<asr_backend_fusion_api>(api(), ASR_BACKEND_FUSION);
  if (fusion == nullptr) GTEST_SKIP() << entry().id << ": the host fuses the scores of this back end";
  const auto device = open(backend_options(4, 64));
  std::mt19937 random(8);
  const SpreadGraph graph(12, 11, random);
  const Loaded loaded(api(), *device, graph.view());
  const Model models[] = {{*device, model_of(7)}, {*device, model_of(8)}};
  Pairs pairs;
  asr_search_options search = search_options(11, 60);
  if (makes_lattices()) search.lattice_beam = 4;
  pairs.push_back(std::make_unique<Pair>(api(), *device, loaded, search));
  constexpr uint32_t kRows = 20;
  const auto fused_rows = [&](uint32_t window, bool to_host) {
    for (const Model &model : models) model.score(window, kRows, false);
    const asr_fuse_term terms[] = {{models[0].get(), 0, 0.25f}, {models[1].get(), 0, 0.75f}};
    const asr_fuse_job job{terms, 2, ASR_FUSE_SUM, 0, kRows};
    std::vector<float> rows(size_t{kRows} * kStates);
    device->check(fusion->fuse(device->get(), models[0].get(), &job, 1, window % 2, to_host ? rows.data() : nullptr));
    device->check(api().wait(device->get(), 0));
    return rows;
  };
  for (uint32_t window = 0; window < 6; ++window) {
    const bool fuses = window % 2 != 0;
    const std::vector<float> rows = fuses ? fused_rows(window, true) : models[0].score(window, kRows, true);
    if (fuses) {
      fused_rows(window, false);
    } else {
      models[0].score(window, kRows, false);
    }
    advance(*device, models[0], pairs, {0}, kRows, window, rows);
  }
  expect_same_results(*device, pairs);
}

SENONE_INSTANTIATE(DemandTest);

}  // namespace
}  // namespace asr::test
