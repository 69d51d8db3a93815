// SPDX-License-Identifier: Apache-2.0
// Tests OpenFst files made here byte by byte, whole and damaged, and the graphs of SENONE_TEST_DATA, whose sizes are known.
#include "builder/import/openfst_file.h"

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "builder/import/kaldi.h"
#include "core/model/bundle.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::Scratch;

struct Arc {
  int32_t input, output;
  float cost;
  int32_t next_state;
};

template <typename T>
void put(std::string &out, T value) {
  char bytes[sizeof(T)];
  memcpy(bytes, &value, sizeof(T));
  out.append(bytes, sizeof(T));
}

void put_text(std::string &out, const std::string &text) {
  put(out, static_cast<int32_t>(text.size()));
  out += text;
}

enum class Kind { kVector, kConst, kAlignedConst };

struct State {
  float final_cost;
  std::vector<Arc> arcs;
};

std::string fst_file(Kind kind, const std::vector<State> &states, bool symbols = false) {
  std::string out;
  put(out, int32_t{2125659606});
  put_text(out, kind == Kind::kVector ? "vector" : "const");
  put_text(out, "standard");
  put(out, int32_t{2});
  put(out, (symbols ? 1u : 0u) | (kind == Kind::kAlignedConst ? 4u : 0u));
  put(out, uint64_t{3});
  put(out, int64_t{1});  // start
  put(out, static_cast<int64_t>(states.size()));
  int64_t n_arcs = 0;
  for (const State &state : states) n_arcs += static_cast<int64_t>(state.arcs.size());
  put(out, kind == Kind::kVector ? int64_t{0} : n_arcs);
  if (symbols) {
    put(out, int32_t{2125658996});
    put_text(out, "words");
    put(out, int64_t{1});
    put(out, int64_t{1});
    put_text(out, "<eps>");
    put(out, int64_t{0});
  }
  const auto align = [&] {
    while (kind == Kind::kAlignedConst && out.size() % 16 != 0) out += '\0';
  };
  const auto put_arcs = [&](const State &state) {
    for (const Arc &arc : state.arcs) put(out, arc);
  };
  align();
  uint32_t first = 0;
  for (const State &state : states) {
    put(out, state.final_cost);
    if (kind == Kind::kVector) {
      put(out, static_cast<int64_t>(state.arcs.size()));
      put_arcs(state);
    } else {
      const auto n = static_cast<uint32_t>(state.arcs.size());
      for (const uint32_t value : {first, n, 0u, 0u}) put(out, value);
      first += n;
    }
  }
  align();
  if (kind != Kind::kVector) {
    for (const State &state : states) put_arcs(state);
  }
  return out;
}

HmmSet small_set() {
  HmmSet set;
  set.n_pdfs = 3;
  set.transitions = {{0, kAnyPosition, 0, false, 0}, {0, kAnyPosition, 0, true, 1}, {0, kAnyPosition, 0, false, 2}};
  return set;
}

const std::vector<State> kStates = {{INFINITY, {{0, 1, 0.5f, 1}, {2, 0, -0.25f, 1}, {1, 0, INFINITY, 0}}},
                                    {1.5f, {{1, 3, 1, 0}, {0, 0, 2, 2}, {2, 0, 3, 2}}},
                                    {0, {}}};

class Kinds : public ::testing::TestWithParam<Kind> {
 protected:
  Scratch scratch_;
  std::string path_ = scratch_ / "HCLG.fst";
};
INSTANTIATE_TEST_SUITE_P(OpenFst, Kinds, ::testing::Values(Kind::kVector, Kind::kConst, Kind::kAlignedConst));

// Every state of a const file claims all arcs: the graph would be their product.
TEST(OpenFst, StatesHaveArcsOfTheirOwn) {
  const Scratch scratch;
  std::string bytes = fst_file(Kind::kConst, {{0, {{1, 0, 1, 0}, {2, 0, 1, 1}}}, {0, {{1, 0, 1, 0}}}});
  const size_t second = bytes.size() - 3 * sizeof(Arc) - 20;
  const uint32_t shared[2] = {0, 3};  // first arc and number of arcs
  memcpy(bytes.data() + second + 4, shared, sizeof shared);
  test::spill(scratch / "HCLG.fst", bytes);
  test::expect_error([&] { read_openfst_graph(scratch / "HCLG.fst", small_set(), 4); }, ASR_BAD_FILE,
                     "state 1 has arcs of another state");
}

TEST_P(Kinds, ArcsAreSplitIntoEmittingAndEpsilon) {
  test::spill(path_, fst_file(GetParam(), kStates, true));
  const GraphData g = read_openfst_graph(path_, small_set(), 4);
  EXPECT_EQ(g.start_state, 1u);
  EXPECT_EQ(g.emitting_begin, (std::vector<uint32_t>{0, 1, 3, 3}));
  EXPECT_EQ(g.epsilon_begin, (std::vector<uint32_t>{3, 4, 5, 5}));
  EXPECT_EQ(g.final_costs, (std::vector<float>{INFINITY, 1.5f, 0}));
  ASSERT_EQ(g.arcs.size(), 5u);
  EXPECT_EQ(g.arcs[0].transition_id, 2u);
  EXPECT_EQ(g.arcs[0].graph_cost, -0.25f);
  EXPECT_EQ(g.arcs[1].word, 3u);
  EXPECT_EQ(g.arcs[3].word, 1u);
  EXPECT_EQ(g.arcs[4].next_state, 2u);
  EXPECT_EQ(g.transitions.size(), 3u);
  write_graph(g, scratch_ / "graph.bin");
  EXPECT_EQ(Graph(scratch_ / "graph.bin").packed().pdf_of[2], 2u);
}

// A table of output symbols in the file is that of the words.
TEST_P(Kinds, ItsOwnSymbolsAreThoseOfTheWords) {
  std::string bytes = fst_file(GetParam(), kStates, true);
  const size_t flags = bytes.find("standard") + 8 + 4;
  bytes[flags] = static_cast<char>((bytes[flags] & ~1) | 2);  // the table is of the output
  test::spill(path_, bytes);
  const auto read = [&](const std::vector<std::string> &words) { read_openfst_graph(path_, small_set(), words, "words.txt"); };
  read({"<eps>", "a", "b", "c"});
  test::expect_error(
      [&] {
        read({"eps", "a", "b", "c"});
      },
      ASR_INVALID_ARGUMENT, "its own table of symbols says that word 0 is \"<eps>\", but words.txt says \"eps\"");
}

TEST_P(Kinds, LabelsAndStatesThatDoNotExist) {
  const auto read = [&](const Arc &arc) {
    test::spill(path_, fst_file(GetParam(), {{0, {}}, {0, {arc}}}));
    read_openfst_graph(path_, small_set(), 4);
  };
  test::expect_error([&] { read({3, 0, 0, 0}); }, ASR_BAD_FILE, "state 1: an arc has the input label 3");
  test::expect_error([&] { read({-1, 0, 0, 0}); }, ASR_BAD_FILE, "input label -1");
  test::expect_error([&] { read({1, 4, 0, 0}); }, ASR_BAD_FILE, "the word 4");
  test::expect_error([&] { read({1, 0, NAN, 0}); }, ASR_BAD_FILE, "not a number");
  test::expect_error([&] { read({1, 0, 0, 2}); }, ASR_BAD_FILE, "a state that the graph does not have");
  EXPECT_EQ(test::outcome_of([&] { read({1, 0, 0, 1}); }).message, "");
}

TEST_P(Kinds, NoDamageCrashes) {
  test::spill(path_, fst_file(GetParam(), kStates, true));
  const size_t refused = test::count_refused_damages(path_, [&] { read_openfst_graph(path_, small_set(), 4); });
  EXPECT_GE(refused, test::slurp(path_).size());  // every truncation, and the relevant changes
}

TEST(OpenFst, OtherTypesAndModels) {
  Scratch scratch;
  const std::string path = scratch / "HCLG.fst";
  std::string bytes = fst_file(Kind::kVector, kStates);
  bytes.replace(bytes.find("standard"), 8, "log____4");
  test::spill(path, bytes);
  test::expect_error([&] { read_openfst_graph(path, small_set(), 4); }, ASR_BAD_FILE, "with log____4 arcs");
  test::spill(path, "0 1 2 3\n");
  test::expect_error([&] { read_openfst_graph(path, small_set(), 4); }, ASR_BAD_FILE, "fstcompile");
  test::expect_error([&] { read_openfst_graph(path, HmmSet(), 4); }, ASR_INVALID_ARGUMENT, "transition-ids");
}

struct RealGraph {
  const char *model, *folder;
  uint32_t n_states, n_arcs, n_epsilons;
};

class RealGraphs : public ::testing::TestWithParam<RealGraph> {};
INSTANTIATE_TEST_SUITE_P(Kaldi, RealGraphs,
                         ::testing::Values(RealGraph{"kaldi_indonesian/exp/mono", "graph", 38985, 88107, 10883},
                                           RealGraph{"kaldi_indonesian/exp/tri1", "graph", 49847, 113663, 14805},
                                           RealGraph{"kaldi_yesno/exp/mono", "graph", 24, 54, 14}));

TEST_P(RealGraphs, HaveTheSizesThatOpenFstTells) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/" + GetParam().model, graph_folder = folder + "/" + GetParam().folder;
  KaldiOptions options;
  options.model = folder + "/40.mdl";
  options.features_only = true;
  const HmmSet set = import_kaldi(options).hmms;
  const auto n_words = static_cast<uint32_t>(read_symbols(graph_folder + "/words.txt").size());
  const GraphData g = read_openfst_graph(graph_folder + "/HCLG.fst", set, n_words);
  EXPECT_EQ(g.n_states(), GetParam().n_states);
  EXPECT_EQ(g.arcs.size(), GetParam().n_arcs);
  EXPECT_EQ(g.epsilon_begin.back() - g.epsilon_begin.front(), GetParam().n_epsilons);
}

}  // namespace
}  // namespace asr
