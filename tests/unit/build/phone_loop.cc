// SPDX-License-Identifier: Apache-2.0
// Tests the background: its paths and their costs.
#include "builder/graph/phone_loop.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace asr {
namespace {

// Makes two phones of one and of two states, and a third that may be skipped without a frame.
HmmSet three_phones() {
  HmmSet set;
  const float half = std::log(2.0f);
  set.topologies = {{1, {{0, 0, half}, {0, 1, half}, {kEntry, 0, 0}}},
                    {2, {{0, 0, half}, {0, 1, half}, {1, 1, half}, {1, 2, half}, {kEntry, 0, 0}}},
                    {1, {{0, 0, half}, {0, 1, half}, {kEntry, 0, half}, {kEntry, 1, half}}}};
  set.hmms = {{0, {0}}, {1, {1, 2}}, {2, {3}}};
  set.phones = {{"SIL", true, 0}, {"A", false, 1}, {"B", false, 2}};
  set.silence = 0;
  set.n_pdfs = 4;
  return set;
}

TEST(PhoneLoop, HasEveryPhoneFromItsStart) {
  const GraphData graph = make_phone_loop(three_phones(), {});
  EXPECT_EQ(graph.n_pdfs, 4u);
  EXPECT_EQ(graph.n_words, 4u);
  EXPECT_EQ(graph.final_costs[graph.start_state], 0);
  std::set<uint32_t> words, pdfs;
  for (uint32_t a = graph.emitting_begin[graph.start_state]; a < graph.emitting_begin[graph.start_state + 1]; ++a) {
    words.insert(graph.arcs[a].word);
    pdfs.insert(graph.transitions[graph.arcs[a].transition_id].pdf);
    EXPECT_GE(graph.arcs[a].graph_cost, std::log(3.0f) - 0.01f);
  }
  EXPECT_EQ(words, (std::set<uint32_t>{1, 2, 3}));
  EXPECT_EQ(pdfs, (std::set<uint32_t>{0, 1, 3}));
}

// Every other state has a self-loop, and every epsilon arc leads back to the start: there is no cycle of epsilons.
TEST(PhoneLoop, EndsEveryPhoneInItsStart) {
  const GraphData graph = make_phone_loop(three_phones(), {});
  EXPECT_EQ(graph.n_states(), 5u);
  EXPECT_EQ(graph.epsilon_begin[graph.start_state], graph.epsilon_begin[graph.start_state + 1]);
  uint32_t n_ends = 0;
  for (uint32_t a = graph.epsilon_begin.front(); a < graph.epsilon_begin.back(); ++a) {
    EXPECT_EQ(graph.arcs[a].next_state, graph.start_state);
    EXPECT_EQ(graph.arcs[a].word, 0u);
    ++n_ends;
  }
  EXPECT_EQ(n_ends, 3u);
}

}  // namespace
}  // namespace asr
