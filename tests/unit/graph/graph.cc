// SPDX-License-Identifier: Apache-2.0
// Tests graph.bin: round trips, and refusal of a file with any one field damaged, naming that field.
#include "core/graph/graph.h"

#include <gtest/gtest.h>
#include <sys/resource.h>

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

// Offsets of the fields of small_graph's file. No cost occurs twice, so each is in its record.
constexpr size_t kVersionAt = 8, kNumStates = 12, kStartState = 16, kNumTransitionIds = 20, kNumPdfs = 24, kNumWords = 28,
                 kNumArcs = 32, kNumEmitting = 40, kNumUnits = 48, kNumCosts = 52, kNumClasses = 56, kNumOtherIds = 60;
constexpr size_t kTransitions = 64, kClasses = 128, kFirstRecords = 192, kRecords = 256, kEnd = 316;
// Records in units of 4 bytes: header, arcs, costs, words; the last has a final cost after its header.
constexpr size_t kState0 = kRecords, kArc0 = kState0 + 4, kEpsilon0 = kState0 + 12, kCosts0 = kState0 + 20,
                 kWord0 = kState0 + 28;
constexpr size_t kState1 = kRecords + 32, kArc1 = kState1 + 4, kCost1 = kState1 + 12, kWord1 = kState1 + 16;
constexpr size_t kState2 = kRecords + 52, kFinal2 = kState2 + 4;

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
  Graph graph(path_);
  EXPECT_EQ(good_.size(), kEnd);
  EXPECT_EQ(graph.n_emitting_arcs(), 3u);
  const asr_graph_view &view = graph.unpack();
  EXPECT_EQ(view.n_states, 3u);
  EXPECT_EQ(view.start_state, 0u);
  EXPECT_EQ(view.n_transition_ids, 3u);
  EXPECT_EQ(view.n_pdfs, 2u);
  EXPECT_EQ(view.n_arcs, 4u);
  EXPECT_EQ(graph.n_words(), 3u);
  EXPECT_EQ(0, memcmp(view.emitting_begin, data.emitting_begin.data(), 16));
  EXPECT_EQ(0, memcmp(view.epsilon_begin, data.epsilon_begin.data(), 16));
  // NOLINTBEGIN(bugprone-suspicious-memory-comparison): the same bytes are wanted
  EXPECT_EQ(0, memcmp(view.arcs, data.arcs.data(), 4 * sizeof(asr_graph_arc)));
  EXPECT_EQ(0, memcmp(view.final_costs, data.final_costs.data(), 12));
  // NOLINTEND(bugprone-suspicious-memory-comparison)
  for (uint32_t id = 1; id <= 3; ++id) {
    const Transition &want = data.transitions[id], &got = graph.transition(id);
    EXPECT_EQ(view.pdf_of[id], want.pdf);
    EXPECT_EQ(got.phone, want.phone);
    EXPECT_EQ(got.position, want.position);
    EXPECT_EQ(got.hmm_state, want.hmm_state);
    EXPECT_EQ(got.self_loop, want.self_loop);
    EXPECT_EQ(got.pdf, want.pdf);
  }
}

TEST_F(GraphFileTest, MovesWithoutLosingItsArrays) {
  Graph first(path_);
  const Graph second(std::move(first));
  EXPECT_EQ(second.packed().arc(18).word, 1u);
  EXPECT_EQ(second.packed().pdf_of[3], 1u);
}

// The file is truncated, and then rewritten with indices out of range, while a back end reads the graph.
TEST_F(GraphFileTest, IsItsOwnWhateverBecomesOfTheFile) {
  Graph graph(path_);
  const asr_packed_graph &packed = graph.packed();
  std::filesystem::resize_file(path_, 0);
  EXPECT_EQ(packed.next_state(18), 13u);
  std::fstream(path_) << std::string(good_.size(), '\xff');
  EXPECT_EQ(packed.next_state(18), 13u);
  EXPECT_EQ(packed.state(13).final_cost, 0.75f);
  EXPECT_EQ(packed.arc(18).graph_cost, -1.5f);
  EXPECT_EQ(graph.unpack().epsilon_begin[3], 4u);
}

// A back end that takes arrays, and reports with in_use whether it still reads them.
template <uint32_t in_use>
asr_status take_arrays(asr_backend_device *, const asr_graph_view *view, asr_backend_graph **graph, uint32_t *still_read) {
  *still_read = in_use;
  *graph = reinterpret_cast<asr_backend_graph *>(const_cast<asr_graph_view *>(view));
  return view->arcs[2].next_state == 2 ? ASR_OK : ASR_INTERNAL;
}

TEST_F(GraphFileTest, FreesItsArraysOnlyWhenTold) {
  asr_backend_api api{};
  asr_backend_graph *loaded = nullptr;
  for (const bool in_use : {true, false}) {
    Graph graph(path_);
    api.load_graph = in_use ? take_arrays<1> : take_arrays<0>;
    ASSERT_EQ(graph.load(api, false, nullptr, &loaded), ASR_OK);
    const auto &view = *reinterpret_cast<const asr_graph_view *>(loaded);
    EXPECT_EQ(view.arcs != nullptr, in_use);
    EXPECT_EQ(view.pdf_of[3], 1u);
    EXPECT_EQ(graph.transition(3).phone, 5u);
  }
}

asr_status take_packed(asr_backend_device *, const asr_graph_view *view, asr_backend_graph **, uint32_t *) {
  return view->arcs == nullptr && view->packed->next_state(18) == 13u ? ASR_OK : ASR_INTERNAL;
}

// A device that takes arrays is lost, and the CPU takes the packed graph.
TEST_F(GraphFileTest, IsLoadedAgain) {
  Graph graph(path_);
  asr_backend_api arrays{}, packed{};
  arrays.load_graph = take_arrays<1>;
  packed.load_graph = take_packed;
  asr_backend_graph *loaded = nullptr, *second = nullptr;
  ASSERT_EQ(graph.load(arrays, false, nullptr, &loaded, true), ASR_OK);
  EXPECT_EQ(graph.load(packed, true, nullptr, &second, true), ASR_OK);
  EXPECT_NE(reinterpret_cast<const asr_graph_view *>(loaded)->arcs, nullptr);  // still read
}

// Loads from bytes that were never in a file.
TEST_F(GraphFileTest, IsReadFromMemory) {
  EXPECT_EQ(graph_bytes(small_graph()), good_);
  const std::string shifted = "." + good_;
  Graph graph(FileCopy(shifted.data() + 1, good_.size(), "bytes"), "bytes");
  EXPECT_EQ(graph.unpack().n_arcs, 4u);
  expect_error([&] { Graph graph(FileCopy(good_.data(), 70, "bytes"), "bytes"); }, ASR_BAD_FILE, "bytes: ends");
}

TEST_F(GraphFileTest, OneStateAndNoArcs) {
  GraphData graph;
  graph.emitting_begin = graph.epsilon_begin = {0, 0};
  graph.final_costs = {0};
  graph.transitions.resize(1);
  write_graph(graph, path_);
  EXPECT_EQ(Graph(path_).unpack().n_arcs, 0u);
}

TEST_F(GraphFileTest, HeaderFields) {
  expect_refused(0, 'X', "SenoneGR");
  expect_refused(kVersionAt, 1u, "version 1");
  expect_refused(kVersionAt, 3u, "version 3");
  expect_refused(kNumStates, 0u, "n_states");
  expect_refused(kNumStates, 0xffffffffu, "n_states");
  expect_refused(kNumStates, 4u, "n_states is not the number of records");
  expect_refused(kStartState, 1u, "start_state");
  expect_refused(kStartState, 0xffffffffu, "start_state");
  expect_refused(kNumTransitionIds, 0xffffffffu, "n_transition_ids");
  expect_refused(kNumTransitionIds, 2u, "between sections");
  expect_refused(kNumPdfs, 1u, "transitions[3]: pdf");
  expect_refused(kNumPdfs, 0xffffffffu, "n_pdfs");
  expect_refused(kNumWords, 2u, "records[0]: word");
  expect_refused(kNumArcs, ~uint64_t{0}, "n_arcs");
  expect_refused(kNumArcs, uint64_t{3}, "n_arcs is not the number");
  expect_refused(kNumEmitting, uint64_t{4}, "n_emitting_arcs");
  expect_refused(kNumUnits, 0xffffffffu, "n_units");
  expect_refused(kNumUnits, 1000u, "records");
  expect_refused(kNumUnits, 14u, "announces");
  expect_refused(kNumCosts, 1u << 30, "costs");
  expect_refused(kNumClasses, 0u, "");
  expect_refused(kNumClasses, 0xffffffffu, "classes");
  expect_refused(kNumOtherIds, 0xffffffffu, "other_ids");
}

TEST_F(GraphFileTest, Classes) {
  expect_refused(kClasses + 16, 1u, "classes[1]: pdf");
  expect_refused(kClasses + 16 + 4, std::nanf(""), "classes[1]: cost");
  expect_refused(kClasses + 16 + 8, 4u, "classes[1]: loop_id");
  expect_refused(kClasses + 16 + 8, 0u, "class");
  expect_refused(kClasses + 12, 0u, "classes[0]: entry_id");
  expect_refused(kClasses + 12, 4u, "classes[0]: entry_id");
}

TEST_F(GraphFileTest, Records) {
  expect_refused(kFirstRecords, uint8_t{1}, "first_records[0]");
  uint32_t header;
  memcpy(&header, good_.data() + kState1, sizeof(header));
  expect_refused(kState1, header | StateRecord::kLoopMask, "records[8]: self-loop has no place");
  expect_refused(kState1, header & ~StateRecord::kOwnCosts, "records[8]: header does not tell");
  expect_refused(kState1, header & ~StateRecord::kEnteredByEpsilon, "records[0]: next_state does not tell");
  expect_refused(kState1, header | StateRecord::kMoreEmitting << StateRecord::kEmittingAt, "records[8]: has more arcs");
  expect_refused(kState1, header | 7u << StateRecord::kClassAt, "records[8]: class");
  expect_refused(kState0, header & ~StateRecord::kEnteredByEpsilon, "records");
  expect_refused(kState2, 0u, "records");
}

TEST_F(GraphFileTest, Arcs) {
  expect_refused(kArc0, 15u, "records[0]: next_state");
  expect_refused(kArc0, 9u, "records[0]: next_state");
  expect_refused(kArc0, 0xffffffffu, "records[0]: next_state");
  expect_refused(kArc0 + 4, 0x3ffffffeu, "records[0]: pdf");    // the pdf of an epsilon arc
  expect_refused(kArc0 + 4, 0u, "records[0]: cost of an arc");  // the table is empty
  expect_refused(kEpsilon0 + 4, 0xbffffffcu, "records[0]: pdf");
  expect_refused(kArc0 + 4, 0x3ffffffdu, "records[0]: pdf of an arc is not that of its transition-id");
  expect_refused(kArc0 + 4, 0x7ffffffcu, "records[0]: label of an arc does not tell");
  expect_refused(kEpsilon0 + 4, 0xfffffffeu, "records[0]: label of an arc does not tell");
  expect_refused(kArc1, 14u, "records[8]: next_state");
  expect_refused(kCosts0, std::nanf(""), "records[0]: graph_cost");
  expect_refused(kCost1, kInfinity, "records[8]: graph_cost");
  expect_refused(kWord0, 3u, "records[0]: word");
  expect_refused(kWord1, 0u, "records[8]: word");
}

TEST_F(GraphFileTest, FinalCosts) {
  expect_refused(kFinal2, std::nanf(""), "records[13]: final cost");
  expect_refused(kFinal2, -kInfinity, "records[13]: final cost");
}

TEST_F(GraphFileTest, Transitions) {
  expect_refused(kTransitions + 12 + 4, 2u, "transitions[1]: pdf");
  expect_refused(kTransitions + size_t{3} * 12 + 11, uint8_t{2}, "transitions[3]: self_loop");
}

TEST_F(GraphFileTest, LengthOfTheFile) {
  for (size_t size = 0; size < good_.size(); ++size) {
    spill(path_, good_.substr(0, size));
    expect_error([&] { Graph graph(path_); }, ASR_BAD_FILE, path_);
  }
  spill(path_, good_ + std::string(64, '\0'));
  expect_error([&] { Graph graph(path_); }, ASR_BAD_FILE, "announces");
}

BundleFile listing_of(const std::string &path) {
  const FileSum sum = sum_file(path);
  return {sum.size, sum.checksum};
}

// The file's length is compared before memory is allocated.
TEST_F(GraphFileTest, ALongFileTakesNoMemory) {
  const BundleFile listed = listing_of(path_);
  constexpr uint64_t kLong = uint64_t{1} << 30;
  std::filesystem::resize_file(path_, kLong);
  const auto max_kilobytes = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss;
  };
  const long before = max_kilobytes();
  expect_error([&] { Graph graph(path_, &listed); }, ASR_BAD_FILE, "senone.json lists 316");
  expect_error([&] { Graph graph(path_); }, ASR_BAD_FILE, "its header announces 316");
  const BundleFile lie{kLong, listed.checksum};
  expect_error([&] { Graph graph(path_, &lie); }, ASR_BAD_FILE, "its header announces 316");
  EXPECT_LT(max_kilobytes() - before, 100 << 10);
}

TEST_F(GraphFileTest, IsComparedWithTheIndexOfItsBundle) {
  const BundleFile listed = listing_of(path_);
  const Graph graph(path_, &listed);
  EXPECT_EQ(graph.packed().records, Graph(path_, &listed).packed().records);  // shared
  const BundleFile other{listed.size, listed.checksum + 1};
  expect_error([&] { Graph damaged(path_, &other); }, ASR_BAD_FILE, "checksum differs");
}

// A file accepted after a change of a byte must still be safe to search.
TEST_F(GraphFileTest, AnyByteChanged) {
  const size_t refused = count_refused_damages(path_, [&] {
    Graph graph(path_);
    const asr_graph_view &view = graph.unpack();
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
