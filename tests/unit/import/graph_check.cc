// SPDX-License-Identifier: Apache-2.0
// Tests which graphs made elsewhere pass as decoding graphs of a model: random ones in both orders of self-loops, those of
// other models and of earlier stages, and the graphs of SENONE_TEST_DATA.
#include "builder/import/graph_check.h"

#include <cmath>
#include <cstdlib>
#include <random>

#include "builder/import/kaldi.h"
#include "builder/import/openfst_file.h"
#include "core/model/bundle.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

// A model of phones with so many states each, left to right, with Kaldi's numbering of transition-ids.
HmmSet model_of(const std::vector<uint32_t> &n_states) {
  HmmSet set;
  set.transitions.push_back({0, kAnyPosition, 0, false, 0});
  for (uint32_t phone = 0; phone < n_states.size(); ++phone) {
    Topology topology;
    topology.n_states = n_states[phone];
    Hmm hmm{phone, {}};
    for (uint32_t state = 0; state < n_states[phone]; ++state) {
      topology.arcs.push_back({state, state, 0.7f});
      topology.arcs.push_back({state, state + 1, 0.7f});
      for (const bool loop : {true, false}) {
        set.transitions.push_back({phone, kAnyPosition, static_cast<uint16_t>(state), loop, set.n_pdfs});
      }
      hmm.pdfs.push_back(set.n_pdfs++);
    }
    topology.arcs.push_back({kEntry, 0, 0});
    set.topologies.push_back(topology);
    set.hmms.push_back(hmm);
    set.phones.push_back({"P" + std::to_string(phone), false, phone});
  }
  return set;
}

struct Lists {
  std::vector<std::vector<asr_graph_arc>> arcs;
  std::vector<float> final_costs;
  uint32_t add() {
    arcs.emplace_back();
    final_costs.push_back(INFINITY);
    return static_cast<uint32_t>(arcs.size() - 1);
  }
};

GraphData data_of(const Lists &lists, const HmmSet &set) {
  GraphData graph;
  std::vector<asr_graph_arc> epsilons;
  for (size_t state = 0; state < lists.arcs.size(); ++state) {
    graph.emitting_begin.push_back(static_cast<uint32_t>(graph.arcs.size()));
    graph.epsilon_begin.push_back(static_cast<uint32_t>(epsilons.size()));
    graph.final_costs.push_back(lists.final_costs[state]);
    for (const asr_graph_arc &arc : lists.arcs[state]) {
      if (arc.transition_id == 0) epsilons.push_back(arc);
      if (arc.transition_id != 0) graph.arcs.append(&arc, 1);
    }
  }
  const auto n = static_cast<uint32_t>(graph.arcs.size());
  graph.emitting_begin.push_back(n);
  graph.epsilon_begin.push_back(static_cast<uint32_t>(epsilons.size()));
  for (uint32_t &begin : graph.epsilon_begin) begin += n;
  graph.arcs.append(epsilons.data(), epsilons.size());
  graph.transitions = set.transitions;
  graph.n_pdfs = set.n_pdfs;
  return graph;
}

// Words of random phones in a loop. Self-loops stand before the transition that leaves their state, or behind it.
Lists graph_of(const HmmSet &set, std::mt19937 *random, bool loops, bool behind) {
  Lists lists;
  const uint32_t start = lists.add();
  for (uint32_t word = 1; word <= 5; ++word) {
    uint32_t at = start;
    for (uint32_t n = 1 + (*random)() % 4; n > 0; --n) {
      const uint32_t phone = (*random)() % static_cast<uint32_t>(set.phones.size());
      for (uint32_t id = 1; id < set.transitions.size(); ++id) {
        if (set.transitions[id].phone != phone || set.transitions[id].self_loop) continue;
        if (!behind && at == start) {  // loops of several words cannot share the start
          const uint32_t first = lists.add();
          lists.arcs[start].push_back({first, 0, 0, 0});
          at = first;
        }
        const uint32_t next = lists.add();
        lists.arcs[at].push_back({next, id, n == 1 ? word : 0, 0.1f});
        const uint32_t loop_at = behind ? next : at;
        if (loops) lists.arcs[loop_at].push_back({loop_at, id - 1, 0, 0.1f});
        at = next;
      }
    }
    lists.final_costs[at] = 0;
    lists.arcs[at].push_back({start, 0, 0, 0.5f});
  }
  return lists;
}

std::string outcome(const GraphData &graph, const HmmSet &set) {
  return test::outcome_of([&] { check_decoding_graph(graph, set, "HCLG.fst"); }).message;
}

TEST(GraphCheck, GraphsOfTheModelPass) {
  std::mt19937 random(1);
  for (int i = 0; i < 100; ++i) {
    std::vector<uint32_t> n_states;
    for (uint32_t n = 2 + random() % 5; n > 0; --n) n_states.push_back(1 + random() % 5);
    const HmmSet set = model_of(n_states);
    for (const bool behind : {false, true}) {
      EXPECT_EQ(outcome(data_of(graph_of(set, &random, true, behind), set), set), "");
      EXPECT_NE(outcome(data_of(graph_of(set, &random, false, behind), set), set).find("has no self-loops"), std::string::npos);
    }
  }
}

// Models with the same number of transition-ids and other phones, and transition-ids off by one or more.
TEST(GraphCheck, GraphsOfOtherModelsAreRefused) {
  std::mt19937 random(2);
  const std::vector<std::pair<std::vector<uint32_t>, std::vector<uint32_t>>> pairs = {{{5, 3, 3, 3}, {3, 5, 3, 3}},
                                                                                      {{5, 3, 3, 3}, {3, 3, 3, 5}},
                                                                                      {{2, 2, 2}, {3, 3}},
                                                                                      {{3, 3, 3, 3}, {4, 4, 4}},
                                                                                      {{1, 1, 1, 3}, {3, 3}}};
  for (const auto &[first, second] : pairs) {
    const HmmSet one = model_of(first), other = model_of(second);
    ASSERT_EQ(one.transitions.size(), other.transitions.size());
    for (const bool behind : {false, true}) {
      Lists lists = graph_of(one, &random, true, behind);
      EXPECT_NE(outcome(data_of(lists, one), other).find("HCLG.fst of this very model"), std::string::npos);
      for (const uint32_t shift : {1u, 2u, 3u}) {
        Lists shifted = lists;
        for (auto &arcs : shifted.arcs) {
          for (asr_graph_arc &arc : arcs) {
            if (arc.transition_id != 0)
              arc.transition_id = 1 + (arc.transition_id - 1 + shift) % static_cast<uint32_t>(one.transitions.size() - 1);
          }
        }
        EXPECT_NE(outcome(data_of(shifted, one), one), "") << shift;
      }
    }
  }
}

TEST(GraphCheck, EarlierStagesAreRefused) {
  const HmmSet set = model_of({5, 3, 3});
  Lists grammar, phones;
  for (Lists *lists : {&grammar, &phones}) {
    lists->add();
    lists->final_costs[0] = 1;
  }
  for (uint32_t word = 1; word <= 6; ++word) grammar.arcs[0].push_back({0, word, word, 1});
  for (uint32_t phone = 1; phone <= 3; ++phone) phones.arcs[0].push_back({0, phone, phone + 1, 1});
  EXPECT_NE(outcome(data_of(grammar, set), set).find("as a grammar has (G.fst)"), std::string::npos);
  EXPECT_NE(outcome(data_of(phones, set), set).find("(G, LG, CLG)"), std::string::npos);
}

TEST(GraphCheck, TablesOfPhonesAreNoWords) {
  const HmmSet set = model_of({3, 3});
  const auto check = [&](const std::vector<std::string> &symbols) {
    return test::outcome_of([&] { check_are_words(symbols, set, "phones.txt"); }).message;
  };
  EXPECT_NE(check({"<eps>", "P0", "P1", "#0", "#1"}).find("phones.txt: lists phones"), std::string::npos);
  EXPECT_NE(check({"<eps>", "P0_B", "P0_E", "P0_I", "P0_S", "P1"}).find("lists phones"), std::string::npos);
  EXPECT_EQ(check({"<eps>", "P0", "P1", "#0"}), "") << "words of a recogniser of phones";
  EXPECT_EQ(check({"<eps>", "P0", "word", "#0", "#1", "<s>", "</s>"}), "");
  EXPECT_EQ(check({"<eps>"}), "");
}

// Each real graph passes for its own model and for no other.
TEST(GraphCheck, RealGraphsFitTheirModels) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  struct System {
    std::string model, phones, graph;
  };
  const std::string indonesian = std::string(data) + "/kaldi_indonesian/", yesno = std::string(data) + "/kaldi_yesno/exp/mono/";
  const std::vector<System> systems = {
      {indonesian + "exp/mono/40.mdl", indonesian + "data/lang/phones.txt", indonesian + "exp/mono/graph/HCLG.fst"},
      {indonesian + "exp/tri1/40.mdl", indonesian + "data/lang/phones.txt", indonesian + "exp/tri1/graph/HCLG.fst"},
      {yesno + "40.mdl", yesno + "graph/phones.txt", yesno + "graph/HCLG.fst"}};
  for (size_t m = 0; m < systems.size(); ++m) {
    KaldiOptions options;
    options.model = systems[m].model;
    options.phones = systems[m].phones;
    options.features_only = true;
    const HmmSet set = import_kaldi(options).hmms;
    for (size_t g = 0; g < systems.size(); ++g) {
      const auto outcome = test::outcome_of(
          [&] { check_decoding_graph(read_openfst_graph(systems[g].graph, set, 1000000), set, systems[g].graph); });
      EXPECT_EQ(outcome.message.empty(), m == g) << systems[m].model << " " << systems[g].graph << ": " << outcome.message;
    }
  }
}

}  // namespace
}  // namespace asr
