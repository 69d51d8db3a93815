// SPDX-License-Identifier: Apache-2.0
// Common code of the tests of channels that advance over score buffers whose scores the host does not want. A back end may then
// score only the states that searches ask for, or those of their graphs. Paths and lattices must have the bits of those over
// rows that `score` gives to the host.
#pragma once

#include <memory>

#include "reference/random_gmm.h"
#include "tests/conformance/lattice_fixture.h"

namespace asr::test {

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
  asr_search_options lattice_options() const {
    asr_search_options options = search_options(11, 60);
    if (makes_lattices()) options.lattice_beam = 4;
    return options;
  }

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

    std::vector<float> features_of(uint32_t window, uint32_t n) const {
      reference::RandomGmm of_window = options_;
      of_window.seed += uint64_t{100} * window;
      return reference::random_features(of_window, n);
    }
    // Scores the n rows of a window into the window's buffer; their features are gone afterwards.
    void score(uint32_t window, uint32_t n) const { score(window, n, window % 2, nullptr); }
    // Returns them to the host. The window's buffer keeps other rows, unless the rows stay there.
    std::vector<float> rows(uint32_t window, uint32_t n, bool stay = false) const {
      std::vector<float> rows(size_t{n} * kStates);
      score(window, n, (window + (stay ? 0 : 1)) % 2, rows.data());
      return rows;
    }

   private:
    void score(uint32_t window, uint32_t n, uint32_t buffer, float *loglikes) const {
      const std::vector<float> features = features_of(window, n);
      const asr_score_job job{acoustic_, features.data(), n, buffer, loglikes};
      device_.check(device_.api()->score(device_.get(), &job, 1));
      device_.check(device_.api()->wait(device_.get(), 0));
    }

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

  // Scores a window's rows for the host and, once more, into the window's buffer. In some windows they stay there at once.
  static std::vector<float> scored(const Model &model, uint32_t window, uint32_t n) {
    const bool stay = window % 5 == 3;
    std::vector<float> rows = model.rows(window, n, stay);
    if (!stay) model.score(window, n);
    return rows;
  }

  // Windows of all lengths, with two channels over the same rows, and one over others. Later another graph comes.
  void expect_same_as_on_the_host(const Device &device, const reference::RandomGmm &options) {
    std::mt19937 random(7);
    const SpreadGraph few(12, 11, random), some(40, 7, random), most(120, 1, random);
    const Loaded graphs[] = {{api(), device, few.view()}, {api(), device, some.view()}, {api(), device, most.view()}};
    const asr_search_options search = lattice_options();
    const Model model(device, options);
    Pairs pairs;
    uint32_t window = 0;
    for (const Loaded &graph : graphs) {
      for (size_t p = 0; p < 3; ++p) pairs.push_back(std::make_unique<Pair>(api(), device, graph, search));
      for (const uint32_t n : {1u, 13u, 60u, 31u, 48u, 49u, 7u}) {
        std::vector<uint32_t> first_rows;
        for (size_t p = 0; p < pairs.size(); ++p) first_rows.push_back(p % 3 == 2 ? 0 : n + 1);
        const std::vector<float> rows = scored(model, window, 2 * n + 1);
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

}  // namespace asr::test
