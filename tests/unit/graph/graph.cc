// SPDX-License-Identifier: Apache-2.0
// graph.bin: what is written comes back, and a file with any one field damaged is refused with that field's name.
#include "core/graph/graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>

#include "tests/unit/scratch.h"

namespace asr::test {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

// Three states: 0 -> 1 emitting and by an epsilon with word 2, 1 loops, 1 -> 2 emitting; 2 is final.
GraphData small_graph() {
  GraphData graph;
  graph.start_state = 0;
  graph.emitting_begin = {0, 1, 3, 3};
  graph.epsilon_begin = {3, 4, 4, 4};
  graph.arcs = {{1, 1, 0, 0.5f}, {1, 2, 0, 0.25f}, {2, 3, 1, -1.5f}, {1, 0, 2, 3.0f}};
  graph.final_costs = {kInfinity, kInfinity, 0.75f};
  graph.transitions = {{}, {4, 1, 0, false, 0}, {4, 1, 0, true, 0}, {5, 0xff, 2, false, 1}};
  graph.n_pdfs = 2;
  graph.n_words = 3;
  return graph;
}

// Where the fields of small_graph's file lie.
constexpr size_t kVersionAt = 8, kNumStates = 12, kStartState = 16, kNumTransitionIds = 20, kNumPdfs = 24, kNumWords = 28,
                 kNumArcs = 32;
constexpr size_t kEmittingBegin = 64, kEpsilonBegin = 128, kArcs = 192, kFinalCosts = 256, kTransitions = 320;

class GraphFileTest : public testing::Test {
 protected:
  void SetUp() override {
    write_graph(small_graph(), path_);
    good_ = slurp(path_);
  }

  template <typename T>
  void expect_refused(size_t at, T value, const std::string &field) {
    ASSERT_LE(at + sizeof(value), good_.size());
    std::string bytes = good_;
    memcpy(bytes.data() + at, &value, sizeof(value));
    ASSERT_NE(bytes, good_);
    spill(path_, bytes);
    SCOPED_TRACE(testing::Message() << field << " at byte " << at);
    expect_error([&] { Graph graph(path_); }, ASR_BAD_FILE, field);
    expect_error([&] { Graph graph(path_); }, ASR_BAD_FILE, path_);
  }

  const Scratch scratch_;
  const std::string path_ = scratch_ / "graph.bin";
  std::string good_;
};

TEST_F(GraphFileTest, ComesBack) {
  const GraphData data = small_graph();
  const Graph graph(path_);
  const asr_graph_view &view = *graph.view();
  EXPECT_EQ(view.n_states, 3u);
  EXPECT_EQ(view.start_state, 0u);
  EXPECT_EQ(view.n_transition_ids, 3u);
  EXPECT_EQ(view.n_pdfs, 2u);
  EXPECT_EQ(view.n_arcs, 4u);
  EXPECT_EQ(graph.n_words(), 3u);
  EXPECT_EQ(0, memcmp(view.emitting_begin, data.emitting_begin.data(), 16));
  EXPECT_EQ(0, memcmp(view.epsilon_begin, data.epsilon_begin.data(), 16));
  EXPECT_EQ(0, memcmp(view.arcs, data.arcs.data(), 4 * sizeof(asr_graph_arc)));
  EXPECT_EQ(0, memcmp(view.final_costs, data.final_costs.data(), 12));
  for (uint32_t id = 1; id <= 3; ++id) {
    const Transition &want = data.transitions[id], &got = graph.transition(id);
    EXPECT_EQ(view.pdf_of[id], want.pdf);
    EXPECT_EQ(got.phone, want.phone);
    EXPECT_EQ(got.position, want.position);
    EXPECT_EQ(got.hmm_state, want.hmm_state);
    EXPECT_EQ(got.self_loop, want.self_loop);
    EXPECT_EQ(got.pdf, want.pdf);
  }
  EXPECT_EQ(reinterpret_cast<uintptr_t>(view.arcs) % 64, 0u);
}

TEST_F(GraphFileTest, MovesWithoutLosingItsArrays) {
  Graph first(path_);
  const Graph second(std::move(first));
  EXPECT_EQ(second.view()->arcs[2].word, 1u);
  EXPECT_EQ(second.view()->pdf_of[3], 1u);
}

// The file is cut off, and then written anew with indices out of range, while a back end reads the view.
TEST_F(GraphFileTest, IsItsOwnWhateverBecomesOfTheFile) {
  const Graph graph(path_);
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(graph.view()->arcs[2].next_state, 2u);
  std::fstream(path_) << std::string(good_.size(), '\xff');
  EXPECT_EQ(graph.view()->arcs[2].next_state, 2u);
  EXPECT_EQ(graph.view()->final_costs[2], 0.75f);
  EXPECT_EQ(graph.view()->epsilon_begin[3], 4u);
}

TEST_F(GraphFileTest, FreesItsArraysOnlyWhenTold) {
  Graph graph(path_);
  const asr_graph_view &view = *graph.view();
  ASSERT_NE(view.arrays_in_use, nullptr);
  graph.release_pages();
  EXPECT_EQ(view.arcs[2].next_state, 2u);
  *view.arrays_in_use = 0;
  graph.release_pages();
  EXPECT_EQ(view.arcs, nullptr);
  EXPECT_EQ(view.pdf_of[3], 1u);
  EXPECT_EQ(graph.transition(3).phone, 5u);
}

TEST_F(GraphFileTest, OneStateAndNoArcs) {
  GraphData graph;
  graph.emitting_begin = graph.epsilon_begin = {0, 0};
  graph.final_costs = {0};
  graph.transitions.resize(1);
  write_graph(graph, path_);
  EXPECT_EQ(Graph(path_).view()->n_arcs, 0u);
}

TEST_F(GraphFileTest, HeaderFields) {
  expect_refused(0, 'X', "SenoneGR");
  expect_refused(kVersionAt, 2u, "version 2");
  expect_refused(kNumStates, 0u, "n_states");
  expect_refused(kNumStates, 0xffffffffu, "n_states");
  expect_refused(kNumStates, 0x10000000u, "emitting_begin");
  expect_refused(kStartState, 3u, "start_state");
  expect_refused(kNumTransitionIds, 0xffffffffu, "n_transition_ids");
  expect_refused(kNumTransitionIds, 2u, "announces");
  expect_refused(kNumPdfs, 1u, "transitions[3]: pdf");
  expect_refused(kNumPdfs, 0xffffffffu, "n_pdfs");
  expect_refused(kNumWords, 2u, "arcs[3]: word");
  expect_refused(kNumArcs, ~uint64_t{0}, "n_arcs");
  expect_refused(kNumArcs, uint64_t{1} << 31, "arcs");
  expect_refused(kNumArcs, uint64_t{3}, "byte 240");  // of the arc that is now too many
}

TEST_F(GraphFileTest, Ranges) {
  expect_refused(kEmittingBegin, 1u, "emitting_begin[0]");
  expect_refused(kEmittingBegin + 4, 4u, "emitting_begin[1]");
  expect_refused(kEmittingBegin + 12, 4u, "epsilon_begin[0]");
  expect_refused(kEpsilonBegin, 2u, "epsilon_begin[0]");
  expect_refused(kEpsilonBegin + 4, 5u, "epsilon_begin[1]");
  expect_refused(kEpsilonBegin + 12, 3u, "epsilon_begin[3]");
}

TEST_F(GraphFileTest, Arcs) {
  expect_refused(kArcs, 3u, "arcs[0]: next_state");
  expect_refused(kArcs + 4, 0u, "arcs[0]: transition_id");
  expect_refused(kArcs + 4, 4u, "arcs[0]: transition_id");
  expect_refused(kArcs + 8, 3u, "arcs[0]: word");
  expect_refused(kArcs + 12, std::nanf(""), "arcs[0]: graph_cost");
  expect_refused(kArcs + 3 * 16, 0xffffffffu, "arcs[3]: next_state");
  expect_refused(kArcs + 3 * 16 + 4, 1u, "arcs[3]: transition_id");
  expect_refused(kArcs + 3 * 16 + 12, kInfinity, "arcs[3]: graph_cost");
}

TEST_F(GraphFileTest, FinalCosts) {
  expect_refused(kFinalCosts, std::nanf(""), "final_costs[0]");
  expect_refused(kFinalCosts + 8, -kInfinity, "final_costs[2]");
}

TEST_F(GraphFileTest, Transitions) {
  expect_refused(kTransitions + 12 + 4, 2u, "transitions[1]: pdf");
  expect_refused(kTransitions + 3 * 12 + 11, uint8_t{2}, "transitions[3]: self_loop");
}

TEST_F(GraphFileTest, LengthOfTheFile) {
  for (size_t size = 0; size < good_.size(); ++size) {
    spill(path_, good_.substr(0, size));
    expect_error([&] { Graph graph(path_); }, ASR_BAD_FILE, path_);
  }
  spill(path_, good_ + std::string(64, '\0'));
  expect_error([&] { Graph graph(path_); }, ASR_BAD_FILE, "announces");
}

// Whatever is accepted after a byte was changed must still be safe to search.
TEST_F(GraphFileTest, AnyByteChanged) {
  const size_t refused = count_refused_damages(path_, [&] {
    const Graph graph(path_);
    const asr_graph_view &view = *graph.view();
    for (uint32_t s = 0; s < view.n_states; ++s) {
      ASSERT_LE(view.emitting_begin[s + 1], view.n_arcs);
      ASSERT_LE(view.epsilon_begin[s + 1], view.n_arcs);
      for (uint32_t a = view.emitting_begin[s]; a < view.emitting_begin[s + 1]; ++a) {
        ASSERT_LT(view.arcs[a].next_state, view.n_states);
        ASSERT_LT(view.pdf_of[view.arcs[a].transition_id], view.n_pdfs);
      }
    }
  });
  EXPECT_GT(refused, good_.size());  // every truncation, and more
}

TEST_F(GraphFileTest, MissingFile) {
  expect_error([&] { Graph graph(scratch_ / "absent.bin"); }, ASR_NOT_FOUND, "absent.bin");
}

TEST_F(GraphFileTest, ArraysThatDoNotFitAreNotWritten) {
  GraphData graph = small_graph();
  graph.epsilon_begin.pop_back();
  expect_error([&] { write_graph(graph, scratch_ / "other.bin"); }, ASR_INTERNAL, "other.bin");
  EXPECT_EQ(scratch_.n_entries(), 1u);
}

}  // namespace
}  // namespace asr::test
