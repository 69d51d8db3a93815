// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/compact.h"

#include <algorithm>

#include "builder/graph/state_classes.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

// Returns the states ordered so that targets of epsilon arcs precede their sources.
std::vector<uint32_t> epsilon_post_order(const StateGraph &graph) {
  std::vector<uint32_t> order;
  order.reserve(graph.n_states());
  std::vector<bool> seen(graph.n_states());
  std::vector<std::pair<uint32_t, uint32_t>> stack;  // state, number of visited arcs
  for (uint32_t root = 0; root < graph.n_states(); ++root) {
    if (seen[root]) continue;
    seen[root] = true;
    stack.push_back({root, 0});
    while (!stack.empty()) {
      const auto [state, n_seen] = stack.back();
      if (n_seen == graph.n_arcs[state]) {
        order.push_back(state);
        stack.pop_back();
        continue;
      }
      ++stack.back().second;
      const StateArc &arc = graph.first_arc(state)[n_seen];
      if (arc.transition_id != 0 || seen[arc.next]) continue;
      seen[arc.next] = true;
      stack.push_back({arc.next, 0});
    }
  }
  return order;
}

std::vector<uint32_t> count_ways_in(const StateGraph &graph) {
  std::vector<uint32_t> n_in(graph.n_states());
  for (uint32_t state = 0; state < graph.n_states(); ++state) {
    for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc)
      n_in[arc->next] += arc->next != state;
  }
  ++n_in[graph.start];
  return n_in;
}

}  // namespace

void remove_epsilons(StateGraph *graph) {
  const std::vector<uint32_t> n_in = count_ways_in(*graph);
  std::vector<bool> done(graph->n_states());  // an unfinished state of a cycle counts as one without arcs
  std::vector<StateArc> arcs;
  for (uint32_t state : epsilon_post_order(*graph)) {
    arcs.clear();
    for (const StateArc *arc = graph->first_arc(state); arc != graph->last_arc(state); ++arc) {
      const uint32_t next = arc->next;
      const bool final = graph->final_costs[next] != kNotFinal;
      const StateArc *const first = graph->first_arc(next), *const last = done[next] ? graph->last_arc(next) : first;
      const auto has_word = [](const StateArc &a) { return a.word != 0; };
      const auto is_self_loop = [&](const StateArc &a) { return a.next == next; };
      bool take_out =
          arc->transition_id == 0 && (n_in[next] == 1 || last - first == 1) && std::none_of(first, last, is_self_loop);
      if (take_out && arc->word != 0) take_out = !final && std::none_of(first, last, has_word);
      if (take_out && final) take_out = graph->final_costs[state] == kNotFinal;
      if (!take_out) {
        arcs.push_back(*arc);
        continue;
      }
      for (const StateArc *then = first; then != last; ++then) {
        arcs.push_back({then->transition_id, arc->word + then->word, arc->cost + then->cost, then->next});
      }
      if (final) graph->final_costs[state] = arc->cost + graph->final_costs[next];
    }
    graph->replace_arcs(state, arcs);
    done[state] = true;
  }
}

std::vector<uint32_t> breadth_first_order(const StateGraph &graph) {
  std::vector<bool> seen(graph.n_states());
  std::vector<uint32_t> order = {graph.start};
  order.reserve(graph.n_states());
  seen[graph.start] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const StateArc *arc = graph.first_arc(order[i]); arc != graph.last_arc(order[i]); ++arc) {
      if (seen[arc->next]) continue;
      seen[arc->next] = true;
      order.push_back(arc->next);
    }
  }
  return order;
}

namespace {

constexpr uint32_t kNoTarget = 0xffffffffu;

void find_arcs_between_classes(const StateGraph &graph, uint32_t state, const std::vector<uint32_t> &class_of, bool in_order,
                               std::vector<StateArc> *arcs) {
  arcs->assign(graph.first_arc(state), graph.last_arc(state));
  for (StateArc &arc : *arcs) arc.next = class_of[arc.next];
  if (!in_order) return;
  std::sort(arcs->begin(), arcs->end(), [](const StateArc &a, const StateArc &b) {
    if (a.transition_id != b.transition_id) return a.transition_id < b.transition_id;
    if (a.word != b.word) return a.word < b.word;
    return a.next != b.next ? a.next < b.next : a.cost < b.cost;
  });
}

}  // namespace

std::vector<uint32_t> minimise(StateGraph *graph, const BuildProgress &progress, uint64_t max_steps, uint32_t n_threads) {
  const std::vector<uint32_t> order = breadth_first_order(*graph);
  std::vector<uint32_t> class_of = find_state_classes(*graph, order, progress, max_steps, n_threads);
  const bool merges = !class_of.empty();
  class_of.resize(graph->n_states());
  for (uint32_t i = 0; !merges && i < order.size(); ++i) class_of[order[i]] = i;
  std::vector<uint32_t> states;  // first state of each class
  std::vector<StateArc> arcs;
  for (const uint32_t state : order) {
    find_arcs_between_classes(*graph, state, class_of, merges, &arcs);
    const uint32_t number = class_of[state];
    if (number == states.size()) {  // classes are numbered by their first states
      states.push_back(state);
      graph->replace_arcs(state, arcs);
      continue;
    }
    const uint32_t as = states[number];
    if (graph->n_arcs[as] != arcs.size() || !std::equal(arcs.begin(), arcs.end(), graph->first_arc(as)) ||
        graph->final_costs[as] != graph->final_costs[state]) {
      fail(ASR_INTERNAL,
           "minimising the graph met two equal hashes of different states; change an option of senone graph slightly");
    }
  }
  graph->start = class_of[graph->start];
  return states;
}

std::vector<uint32_t> number_reachable(StateGraph *graph) {
  std::vector<uint32_t> order = breadth_first_order(*graph);
  std::vector<uint32_t> number_of(graph->n_states());
  for (uint32_t i = 0; i < order.size(); ++i) number_of[order[i]] = i;
  for (const uint32_t state : order) {
    StateArc *const first = graph->arcs.data() + graph->begin[state];
    for (StateArc *arc = first; arc != first + graph->n_arcs[state]; ++arc) arc->next = number_of[arc->next];
  }
  graph->start = number_of[graph->start];
  return order;
}

namespace {

// Returns the classes in breadth-first order.
std::vector<uint32_t> order_of_classes(const StateGraph &graph, const std::vector<uint32_t> &states) {
  std::vector<bool> seen(states.size());
  std::vector<uint32_t> order = {graph.start};
  order.reserve(states.size());
  seen[graph.start] = true;
  for (size_t i = 0; i < order.size(); ++i) {
    const uint32_t state = states[order[i]];
    for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc) {
      if (seen[arc->next]) continue;
      seen[arc->next] = true;
      order.push_back(arc->next);
    }
  }
  return order;
}

// Moves values to their distinct targets; values without a target end up behind them.
void permute(GrowingArray<StateArc> *values, std::vector<uint32_t> *targets, size_t n_targets) {
  size_t next_free = n_targets;
  for (uint32_t &target : *targets) {
    if (target == kNoTarget) target = static_cast<uint32_t>(next_free++);
  }
  for (size_t i = 0; i < values->size(); ++i) {
    while ((*targets)[i] != i) {
      const uint32_t target = (*targets)[i];
      std::swap((*values)[i], (*values)[target]);
      std::swap((*targets)[i], (*targets)[target]);
    }
  }
}

}  // namespace

GraphData pack(StateGraph graph, std::vector<uint32_t> states, const std::vector<Transition> &transitions, uint32_t n_pdfs,
               uint32_t n_words) {
  const std::vector<uint32_t> order = order_of_classes(graph, states);
  GraphData data;
  data.n_pdfs = n_pdfs;
  data.n_words = n_words;
  data.transitions = transitions;
  std::vector<uint32_t> targets(graph.arcs.size(), kNoTarget);
  uint32_t n_arcs = 0;
  for (const bool emitting : {true, false}) {
    std::vector<uint32_t> &begin = emitting ? data.emitting_begin : data.epsilon_begin;
    begin.reserve(order.size() + 1);
    for (const uint32_t number : order) {
      const uint32_t state = states[number], first = graph.begin[state];
      begin.push_back(n_arcs);
      for (uint32_t a = first; a < first + graph.n_arcs[state]; ++a) {
        if ((graph.arcs[a].transition_id != 0) == emitting) targets[a] = n_arcs++;
      }
    }
    begin.push_back(n_arcs);
  }
  data.final_costs.reserve(order.size());
  for (const uint32_t number : order) data.final_costs.push_back(graph.final_costs[states[number]]);
  graph.begin = graph.n_arcs = {};
  graph.final_costs = {};
  std::vector<uint32_t>().swap(states);  // assigning {} would keep the memory
  std::vector<uint32_t> number_of(order.size());
  for (uint32_t i = 0; i < order.size(); ++i) number_of[order[i]] = i;
  permute(&graph.arcs, &targets, n_arcs);
  graph.arcs.resize(n_arcs);
  data.arcs = std::move(graph.arcs).turned_into<asr_graph_arc>([&](const StateArc &arc) {
    return asr_graph_arc{number_of[arc.next], arc.transition_id, arc.word, arc.cost};
  });
  return data;
}

}  // namespace asr
