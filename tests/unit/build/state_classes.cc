// SPDX-License-Identifier: Apache-2.0
// Compares the classes that find_state_classes() finds, in whole rounds and after them, with plain refinement.
#include "builder/graph/state_classes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <tuple>

#include "builder/graph/compact.h"

namespace asr {
namespace {

const BuildProgress kQuiet = [](double, const std::string &) {};

// Refines by comparison until nothing changes, and numbers classes by their first states in `order`.
std::vector<uint32_t> plain_classes(const StateGraph &graph, const std::vector<uint32_t> &order) {
  using Label = std::tuple<uint32_t, uint32_t, float, uint32_t>;
  using Key = std::tuple<uint32_t, float, std::vector<Label>>;
  std::vector<uint32_t> class_of(graph.n_states(), 0);
  for (size_t n = 0;;) {
    std::map<Key, uint32_t> numbers;
    std::vector<uint32_t> refined(graph.n_states());
    for (const uint32_t state : order) {
      std::vector<Label> labels;
      for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc)
        labels.emplace_back(arc->transition_id, arc->word, arc->cost, class_of[arc->next]);
      std::sort(labels.begin(), labels.end());
      const auto number = static_cast<uint32_t>(numbers.size());
      refined[state] = numbers.try_emplace({class_of[state], graph.final_costs[state], labels}, number).first->second;
    }
    class_of.swap(refined);
    if (numbers.size() == n) return class_of;
    n = numbers.size();
  }
}

// A graph of long chains with few labels, whose states have arcs to themselves and now and then to another chain.
StateGraph random_chains(uint32_t seed, uint32_t n_chains, uint32_t length) {
  std::mt19937 random(seed);
  StateGraph graph;
  graph.start = graph.add_state();
  std::vector<StateArc> first;
  for (uint32_t chain = 0; chain < n_chains; ++chain) {
    first.push_back({1, 0, 0, graph.n_states()});
    for (uint32_t i = 0; i < length; ++i) graph.add_state();
  }
  graph.set_arcs(graph.start, first);
  for (uint32_t state = 1; state < graph.n_states(); ++state) {
    std::vector<StateArc> arcs = {{2, 0, 0.25f, state}};
    if (state % length != 0) arcs.push_back({random() % 50 == 0 ? 3u : 2u, 0, 0.5f, state + 1});
    if (random() % 40 == 0) arcs.push_back({4, 1, 0, 1 + static_cast<uint32_t>(random() % (graph.n_states() - 1))});
    if (state % length == 0 || random() % 200 == 0) graph.final_costs[state] = 0;
    graph.set_arcs(state, arcs);
  }
  return graph;
}

TEST(StateClasses, AreThoseOfPlainRefinement) {
  for (uint32_t seed = 0; seed < 30; ++seed) {
    const StateGraph graph = random_chains(seed, 2 + seed % 5, 20 + 40 * (seed % 7));
    const std::vector<uint32_t> order = breadth_first_order(graph);
    ASSERT_EQ(find_state_classes(graph, order, kQuiet, uint64_t{1} << 40), plain_classes(graph, order)) << "seed " << seed;
  }
}

// Enough states for several threads to share a round.
TEST(StateClasses, DoNotDependOnThreads) {
  const StateGraph graph = random_chains(7, 3, 60000);
  const std::vector<uint32_t> order = breadth_first_order(graph);
  ASSERT_GT(order.size(), 65536u);
  const std::vector<uint32_t> of_one = find_state_classes(graph, order, kQuiet, uint64_t{1} << 40, 1);
  for (const uint32_t n_threads : {2, 7, 0}) {
    EXPECT_EQ(find_state_classes(graph, order, kQuiet, uint64_t{1} << 40, n_threads), of_one) << n_threads << " threads";
  }
}

// Equal chains merge, however long; the work after the whole rounds is a few steps for each state.
TEST(StateClasses, OfLongChains) {
  StateGraph graph;
  graph.start = graph.add_state();
  constexpr uint32_t kLength = 20000;
  std::vector<StateArc> first;
  for (uint32_t chain = 0; chain < 3; ++chain) {
    first.push_back({1 + chain, 0, 0, graph.n_states()});
    for (uint32_t i = 0; i < kLength; ++i) {
      const uint32_t state = graph.add_state();
      if (i + 1 < kLength) graph.set_arcs(state, {{1, 0, 0, state + 1}});
    }
    graph.final_costs.back() = 0;
  }
  graph.set_arcs(graph.start, first);
  const std::vector<uint32_t> order = breadth_first_order(graph);
  const std::vector<uint32_t> class_of = find_state_classes(graph, order, kQuiet, 20 * kLength);
  ASSERT_FALSE(class_of.empty());
  EXPECT_EQ(*std::max_element(class_of.begin(), class_of.end()), kLength);
}

// Chains of unlike lengths that end in one state: a class of most states goes on splitting, whichever of its states come first.
TEST(StateClasses, OfChainsOfUnlikeLengths) {
  for (const bool long_first : {false, true}) {
    StateGraph graph;
    graph.start = graph.add_state();
    const uint32_t last = graph.add_state();
    graph.final_costs[last] = 0;
    constexpr uint32_t kChains = 200;
    std::vector<StateArc> first;
    for (uint32_t chain = 0; chain < kChains; ++chain) {
      const uint32_t length = 2 * (long_first ? kChains - chain : chain + 1);
      first.push_back({1, chain, 0, graph.n_states()});
      for (uint32_t i = 0; i < length; ++i) {
        const uint32_t state = graph.add_state();
        graph.set_arcs(state, {{2, 0, 0, i + 1 < length ? state + 1 : last}});
      }
    }
    graph.set_arcs(graph.start, first);
    const std::vector<uint32_t> order = breadth_first_order(graph);
    const std::vector<uint32_t> class_of = find_state_classes(graph, order, kQuiet, uint64_t{20} * graph.n_states());
    ASSERT_FALSE(class_of.empty());
    EXPECT_EQ(*std::max_element(class_of.begin(), class_of.end()), 2 * kChains + 1);
  }
}

}  // namespace
}  // namespace asr
