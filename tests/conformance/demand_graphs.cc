// SPDX-License-Identifier: Apache-2.0
// Tests scores that a back end may make for some states alone (demand_fixture.h) while graphs come and go, windows follow each
// other without a wait, and rows are fused.
#include <memory>

#include "core/backend/asr_backend_fusion.h"
#include "tests/conformance/demand_fixture.h"

namespace asr::test {
namespace {

class DemandOfGraphsTest : public DemandTest {};

// Rows beyond the sizes of launches' row blocks.
TEST_P(DemandOfGraphsTest, ManyRows) {
  const auto device = open(backend_options(16, 64));
  const Model model(*device, model_of(11));
  std::mt19937 random(8);
  const SpreadGraph graph(12, 11, random);
  const Loaded loaded(api(), *device, graph.view());
  Pairs pairs;
  for (size_t p = 0; p < 3; ++p) pairs.push_back(std::make_unique<Pair>(api(), *device, loaded, lattice_options()));
  uint32_t window = 0;
  for (const uint32_t n : {40u, 64u, 65u, 128u, 129u, 300u, 1000u}) {
    const std::vector<float> rows = scored(model, window, n);
    advance(*device, model, pairs, {0, n / 2, n - 20}, 20, window++, rows);
  }
  expect_same_results(*device, pairs);
}

// Windows follow each other without a wait, while channels of further graphs join.
TEST_P(DemandOfGraphsTest, WithoutWaiting) {
  const auto device = open(backend_options(16, 64));
  const Model model(*device, model_of(14)), of_host(*device, model_of(14));
  std::mt19937 random(11);
  const SpreadGraph few(12, 11, random), some(40, 7, random), most(120, 1, random);
  const Loaded graphs[] = {{api(), *device, few.view()}, {api(), *device, some.view()}, {api(), *device, most.view()}};
  constexpr uint32_t kWindows = 18, kRows = 50;
  std::vector<std::vector<float>> features, rows;
  for (uint32_t window = 0; window < kWindows; ++window) {
    features.push_back(model.features_of(window, kRows));
    rows.push_back(of_host.rows(window, kRows));
  }
  Pairs pairs;
  std::vector<uint32_t> begins;
  for (uint32_t window = 0; window < kWindows; ++window) {
    if (window % 6 == 0 || window % 6 == 3) {
      pairs.push_back(std::make_unique<Pair>(api(), *device, graphs[window / 6], lattice_options()));
      begins.push_back(window);
    }
    const asr_score_job job{model.get(), features[window].data(), kRows, window % 2, nullptr};
    device->check(api().score(device->get(), &job, 1));
    std::vector<asr_advance_job> advances;
    for (const auto &pair : pairs) advances.push_back({pair->buffered.channel, nullptr, window % 2, 0, kRows, 0});
    device->check(api().advance(device->get(), model.get(), advances.data(), advances.size()));
  }
  device->check(api().wait(device->get(), 0));
  for (size_t p = 0; p < pairs.size(); ++p) {
    for (uint32_t window = begins[p]; window < kWindows; ++window) {
      LatticeTest::advance(*device, pairs[p]->hosted, rows[window].data(), kStates, kRows, kRows);
    }
  }
  expect_same_results(*device, pairs);
}

// Graphs come one after the other, each with a few more states, and go.
TEST_P(DemandOfGraphsTest, ManyGraphs) {
  const auto device = open(backend_options(4, 64));
  const Model model(*device, model_of(12));
  const asr_search_options search = lattice_options();
  std::mt19937 random(9);
  for (uint32_t g = 0, window = 0; g < 24; ++g) {
    const SpreadGraph graph(3, 1 + 6 * g, random);
    const Loaded loaded(api(), *device, graph.view());
    Pairs pairs;
    pairs.push_back(std::make_unique<Pair>(api(), *device, loaded, search));
    for (uint32_t i = 0; i < 1 + g % 3; ++i, ++window) {
      const std::vector<float> rows = scored(model, window, 9);
      advance(*device, model, pairs, {0}, 9, window, rows);
    }
    expect_same_results(*device, pairs);
  }
}

// The memory of a part is the model's. It is given back when graphs ask for most states.
TEST_P(DemandOfGraphsTest, MemoryOfParts) {
  if (bench() == nullptr || bench()->memory == nullptr) GTEST_SKIP() << entry().id << ": has no memory of its own";
  const auto device = open(backend_options(4, 64));
  const Model model(*device, model_of(13));
  const auto bytes = [&] {
    asr_backend_memory memory{};
    memory.size = sizeof(memory);
    device->check(bench()->memory(device->get(), &memory));
    return memory.acoustic_bytes;
  };
  const uint64_t of_whole = bytes();
  std::mt19937 random(10);
  const SpreadGraph few(12, 11, random), most(120, 1, random);
  for (const SpreadGraph *const graph : {&few, &most}) {
    const Loaded loaded(api(), *device, graph->view());
    Pairs pairs;
    pairs.push_back(std::make_unique<Pair>(api(), *device, loaded, search_options(11, 60)));
    for (uint32_t window = 0; window < 3; ++window) {
      const std::vector<float> rows = scored(model, window, 20);
      advance(*device, model, pairs, {0}, 20, window, rows);
    }
    if (graph == &few) {
      EXPECT_GT(bytes(), of_whole);
      EXPECT_LT(bytes(), of_whole + of_whole / 2);
    } else {
      EXPECT_EQ(bytes(), of_whole);
    }
  }
}

// A graph may have no emitting arcs, and no transition-ids at all. Others come to the same model later.
TEST_P(DemandOfGraphsTest, GraphsWithoutTransitions) {
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
    const std::vector<float> rows = scored(model, window, 20);
    advance(*device, model, pairs, std::vector<uint32_t>(pairs.size(), 0), 20, window, rows);
  }
  const asr_path got = path_of(*device, pairs[0]->buffered.channel, 0);
  EXPECT_EQ(got.n_frames, 0u);
  EXPECT_EQ(path_of(*device, pairs[1]->buffered.channel, 0).total_cost,
            path_of(*device, pairs[1]->hosted.channel, 0).total_cost);
}

// Rows that may wait for their scores, or have those of a graph's states alone, are fused. The host gets the rows of models
// that no channel has read.
TEST_P(DemandOfGraphsTest, FusedRows) {
  const auto *const fusion = extension_of<asr_backend_fusion_api>(api(), ASR_BACKEND_FUSION);
  if (fusion == nullptr) GTEST_SKIP() << entry().id << ": the host fuses the scores of this back end";
  const auto device = open(backend_options(4, 64));
  std::mt19937 random(8);
  const SpreadGraph graph(12, 11, random);
  const Loaded loaded(api(), *device, graph.view());
  using Models = Model[2];
  const Models models = {{*device, model_of(7)}, {*device, model_of(8)}},
               unread = {{*device, model_of(7)}, {*device, model_of(8)}};
  const asr_search_options search = lattice_options();
  Pairs pairs, of_second;
  pairs.push_back(std::make_unique<Pair>(api(), *device, loaded, search));
  of_second.push_back(std::make_unique<Pair>(api(), *device, loaded, search));
  constexpr uint32_t kRows = 20;
  const auto fuse = [&](const Models &of, uint32_t window, float *rows) {
    for (const Model &model : of) model.score(window, kRows);
    const asr_fuse_term terms[] = {{of[0].get(), 0, 0.25f}, {of[1].get(), 0, 0.75f}};
    const asr_fuse_job job{terms, 2, ASR_FUSE_SUM, 0, kRows};
    device->check(fusion->fuse(device->get(), of[0].get(), &job, 1, window % 2, rows));
    device->check(api().wait(device->get(), 0));
  };
  for (uint32_t window = 0; window < 10; ++window) {
    std::vector<float> rows(size_t{kRows} * kStates), again = rows;
    if (window >= 4 && window % 2 == 0) {
      fuse(unread, window, rows.data());
      const bool to_host = window % 4 == 0;
      fuse(models, window, to_host ? again.data() : nullptr);
      EXPECT_EQ(rows == again, to_host);
    } else {
      rows = scored(models[0], window, kRows);
    }
    advance(*device, models[0], pairs, {0}, kRows, window, rows);
    advance(*device, models[1], of_second, {0}, kRows, window, scored(models[1], window, kRows));
  }
  expect_same_results(*device, pairs);
  expect_same_results(*device, of_second);
}

SENONE_INSTANTIATE(DemandOfGraphsTest);

}  // namespace
}  // namespace asr::test
