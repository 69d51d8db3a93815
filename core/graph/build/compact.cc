// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/compact.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/graph/build/hash.h"

namespace asr {
namespace {

// States in an order in which those that epsilon arcs lead to come before those they leave.
std::vector<uint32_t> epsilon_post_order(const StateGraph &graph) {
  std::vector<uint32_t> order;
  order.reserve(graph.n_states());
  std::vector<bool> seen(graph.n_states());
  std::vector<std::pair<uint32_t, uint32_t>> stack;  // state, arcs looked at
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

StateGraph remove_epsilons(const StateGraph &graph) {
  const std::vector<uint32_t> n_in = count_ways_in(graph);
  StateGraph out;
  out.start = graph.start;
  out.begin.resize(graph.n_states());
  out.n_arcs.resize(graph.n_states());
  out.final_costs = graph.final_costs;
  std::vector<StateArc> arcs;
  for (uint32_t state : epsilon_post_order(graph)) {
    arcs.clear();
    for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc) {
      const uint32_t next = arc->next;
      const bool final = out.final_costs[next] != kNotFinal;
      const auto has_word = [](const StateArc &a) { return a.word != 0; };
      const auto is_self_loop = [&](const StateArc &a) { return a.next == next; };
      bool take_out = arc->transition_id == 0 && (n_in[next] == 1 || out.n_arcs[next] == 1) &&
                      std::none_of(out.first_arc(next), out.last_arc(next), is_self_loop);
      if (take_out && arc->word != 0) take_out = !final && std::none_of(out.first_arc(next), out.last_arc(next), has_word);
      if (take_out && final) take_out = out.final_costs[state] == kNotFinal;
      if (!take_out) {
        arcs.push_back(*arc);
        continue;
      }
      for (const StateArc *then = out.first_arc(next); then != out.last_arc(next); ++then) {
        arcs.push_back({then->transition_id, arc->word + then->word, arc->cost + then->cost, then->next});
      }
      if (final) out.final_costs[state] = arc->cost + out.final_costs[next];
    }
    out.set_arcs(state, arcs);
  }
  return out;
}

namespace {

uint64_t hash_state(const StateGraph &graph, uint32_t state, const std::vector<uint32_t> &class_of) {
  uint64_t sum = 0;  // does not depend on the order of arcs
  for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc) {
    sum += mix_hash(0x51ed, arc->transition_id, arc->word, float_bits(arc->cost), class_of[arc->next]);
  }
  return mix_hash(float_bits(graph.final_costs[state]), sum, class_of[state]);
}

// Numbers equal hashes alike, from 0, by the first state that has them. Returns how many there are.
uint32_t number_classes(const std::vector<uint64_t> &hash, std::vector<uint32_t> *class_of) {
  size_t capacity = 16;
  while (capacity < 2 * hash.size()) capacity *= 2;
  std::vector<uint32_t> first_state(capacity, 0xffffffffu);
  uint32_t n_classes = 0;
  for (uint32_t state = 0; state < hash.size(); ++state) {
    size_t slot = hash[state] * 0x9e3779b97f4a7c15ull & (capacity - 1);
    while (first_state[slot] != 0xffffffffu && hash[first_state[slot]] != hash[state]) slot = (slot + 1) & (capacity - 1);
    if (first_state[slot] == 0xffffffffu) {
      first_state[slot] = state;
      (*class_of)[state] = n_classes++;
    } else {
      (*class_of)[state] = (*class_of)[first_state[slot]];
    }
  }
  return n_classes;
}

std::vector<StateArc> arcs_between_classes(const StateGraph &graph, uint32_t state, const std::vector<uint32_t> &class_of) {
  std::vector<StateArc> arcs(graph.first_arc(state), graph.last_arc(state));
  for (StateArc &arc : arcs) arc.next = class_of[arc.next];
  std::sort(arcs.begin(), arcs.end(), [](const StateArc &a, const StateArc &b) {
    if (a.transition_id != b.transition_id) return a.transition_id < b.transition_id;
    if (a.word != b.word) return a.word < b.word;
    return a.next != b.next ? a.next < b.next : a.cost < b.cost;
  });
  return arcs;
}

}  // namespace

StateGraph minimise(const StateGraph &graph, const BuildProgress &progress, uint64_t most_steps) {
  const uint32_t n = graph.n_states();
  std::vector<uint32_t> class_of(n, 0), refined(n);
  std::vector<uint64_t> hash(n);
  uint32_t n_classes = 0;
  const uint64_t steps_a_round = n + graph.arcs.size();
  for (uint64_t round = 0;; ++round) {
    if (round >= kSureMinimisingRounds && round * steps_a_round > most_steps) return graph;
    for (uint32_t state = 0; state < n; ++state) hash[state] = hash_state(graph, state, class_of);
    const uint32_t n_refined = number_classes(hash, &refined);
    class_of.swap(refined);
    if (n_refined == n_classes) break;
    n_classes = n_refined;
    progress(double(n_classes) / n, format("minimising: %u of %u states differ", n_classes, n));
  }
  StateGraph out;
  out.start = class_of[graph.start];
  std::vector<StateArc> arcs;
  for (uint32_t state = 0; state < n; ++state) {
    arcs = arcs_between_classes(graph, state, class_of);
    if (class_of[state] == out.n_states()) {  // classes are numbered by their first state
      out.add_state();
      out.set_arcs(class_of[state], arcs);
      out.final_costs.back() = graph.final_costs[state];
      continue;
    }
    const uint32_t as = class_of[state];
    if (out.n_arcs[as] != arcs.size() || !std::equal(arcs.begin(), arcs.end(), out.first_arc(as)) ||
        out.final_costs[as] != graph.final_costs[state]) {
      fail(ASR_INTERNAL,
           "minimising the graph met two equal hashes of different states; change an option of senone graph slightly");
    }
  }
  return out;
}

StateGraph order_breadth_first(const StateGraph &graph) {
  constexpr uint32_t kUnseen = 0xffffffffu;
  std::vector<uint32_t> number(graph.n_states(), kUnseen), order = {graph.start};
  number[graph.start] = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    for (const StateArc *arc = graph.first_arc(order[i]); arc != graph.last_arc(order[i]); ++arc) {
      if (number[arc->next] != kUnseen) continue;
      number[arc->next] = static_cast<uint32_t>(order.size());
      order.push_back(arc->next);
    }
  }
  StateGraph out;
  std::vector<StateArc> arcs;
  for (uint32_t state : order) {
    arcs.assign(graph.first_arc(state), graph.last_arc(state));
    for (StateArc &arc : arcs) arc.next = number[arc.next];
    out.set_arcs(out.add_state(), arcs);
    out.final_costs.back() = graph.final_costs[state];
  }
  return out;
}

GraphData pack(const StateGraph &graph, const std::vector<Transition> &transitions, uint32_t n_pdfs, uint32_t n_words) {
  if (graph.arcs.size() >= 0xffffffffu)
    fail(ASR_UNSUPPORTED, "the graph has more than 2^32 arcs; prune the language model more");
  GraphData data;
  data.start_state = graph.start;
  data.n_pdfs = n_pdfs;
  data.n_words = n_words;
  data.transitions = transitions;
  data.final_costs = graph.final_costs;
  data.arcs.reserve(graph.arcs.size());
  for (const bool emitting : {true, false}) {
    std::vector<uint32_t> &begin = emitting ? data.emitting_begin : data.epsilon_begin;
    for (uint32_t state = 0; state < graph.n_states(); ++state) {
      begin.push_back(static_cast<uint32_t>(data.arcs.size()));
      for (const StateArc *arc = graph.first_arc(state); arc != graph.last_arc(state); ++arc) {
        if ((arc->transition_id != 0) == emitting) data.arcs.push_back({arc->next, arc->transition_id, arc->word, arc->cost});
      }
    }
    begin.push_back(static_cast<uint32_t>(data.arcs.size()));
  }
  return data;
}

}  // namespace asr
