// SPDX-License-Identifier: Apache-2.0
#include "builder/import/graph_check.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <unordered_set>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr size_t kMaxSources = 20000;   // states from whose arcs the graph is walked
constexpr size_t kMaxFollowing = 4096;  // arcs looked at behind one arc
constexpr size_t kMaxEpsilons = 1024;   // states reached through epsilons behind one arc

class Walk {
 public:
  Walk(const GraphData &graph, const HmmSet &set, const std::string &source)
      : graph_(graph), set_(set), source_(source.c_str()) {
    for (const BasePhone &phone : set.phones) exits_.push_back(ends_of(set.topologies[set.hmms[phone.hmm].topology]));
  }

  void run() {
    refuse_acceptor();
    refuse_without_self_loops();
    for (const uint32_t state : reached(graph_.start_state)) {
      follow(state, [&](uint32_t id) {
        if (set_.transitions[id].hmm_state != 0) refuse("begins with " + name(id) + ", which begins no phone");
      });
    }
    const size_t n_states = graph_.n_states(), step = std::max<size_t>(1, n_states / kMaxSources);
    for (size_t state = 0; state < n_states; state += step) check_state(static_cast<uint32_t>(state));
  }

 private:
  using Ends = std::vector<std::vector<bool>>;  // [HMM state][destination]; the last destination is the exit

  const GraphData &graph_;
  const HmmSet &set_;
  const char *const source_;
  std::vector<Ends> exits_;  // [base phone]

  static Ends ends_of(const Topology &topology) {
    Ends ends(topology.n_states, std::vector<bool>(topology.n_states + 1, false));
    for (const TopologyArc &arc : topology.arcs) {
      if (arc.from != kEntry) ends[arc.from][arc.to] = true;
    }
    return ends;
  }

  [[noreturn]] void refuse(const std::string &what) const {
    fail(ASR_INVALID_ARGUMENT,
         "%s: %s; it was made for another model, or is no finished graph (G, LG, CLG). Give the HCLG.fst of this very model",
         source_, what.c_str());
  }

  std::string name(uint32_t id) const {
    const Transition &t = set_.transitions[id];
    return format("transition-id %u (phone %s, state %u%s)", id, set_.phones[t.phone].name.c_str(), unsigned{t.hmm_state},
                  t.self_loop ? ", self-loop" : "");
  }

  // A grammar has words on both sides.
  void refuse_acceptor() const {
    const bool is_acceptor = std::all_of(graph_.arcs.begin(), graph_.arcs.end(),
                                         [](const asr_graph_arc &arc) { return arc.transition_id == arc.word; });
    if (is_acceptor && graph_.arcs.size() > 0) {
      fail(ASR_INVALID_ARGUMENT,
           "%s: all arcs have the same label on both sides, as a grammar has (G.fst); give the HCLG.fst that was made of it",
           source_);
    }
  }

  void refuse_without_self_loops() const {
    const auto is_loop = [](const Transition &transition) { return transition.self_loop; };
    if (std::none_of(set_.transitions.begin(), set_.transitions.end(), is_loop)) return;
    for (const asr_graph_arc &arc : graph_.arcs) {
      if (arc.transition_id != 0 && set_.transitions[arc.transition_id].self_loop) return;
    }
    fail(ASR_INVALID_ARGUMENT,
         "%s: has no self-loops, as a graph before the last step of mkgraph.sh (HCLGa.fst) has none; give its HCLG.fst",
         source_);
  }

  // Returns the states that epsilons lead to from here, with this one.
  std::vector<uint32_t> reached(uint32_t state) const {
    std::vector<uint32_t> states = {state};
    std::unordered_set<uint32_t> seen = {state};
    for (size_t i = 0; i < states.size() && states.size() < kMaxEpsilons; ++i) {
      for (uint32_t a = graph_.epsilon_begin[states[i]]; a < graph_.epsilon_begin[states[i] + 1]; ++a) {
        if (seen.insert(graph_.arcs[a].next_state).second) states.push_back(graph_.arcs[a].next_state);
      }
    }
    return states;
  }

  template <typename Use>
  void follow(uint32_t state, const Use &use) const {
    for (uint32_t a = graph_.emitting_begin[state]; a < graph_.emitting_begin[state + 1]; ++a)
      use(graph_.arcs[a].transition_id);
  }

  void check_state(uint32_t state) const {
    for (uint32_t a = graph_.emitting_begin[state]; a < graph_.emitting_begin[state + 1]; ++a) {
      const asr_graph_arc &arc = graph_.arcs[a];
      size_t n_following = 0;
      for (const uint32_t next : reached(arc.next_state)) {
        if (n_following > kMaxFollowing) break;
        if (std::isfinite(graph_.final_costs[next]) && !may_end(arc.transition_id)) {
          refuse("ends behind " + name(arc.transition_id) + ", which leaves no phone");
        }
        follow(next, [&](uint32_t id) {
          ++n_following;
          if (!may_follow(arc.transition_id, id))
            refuse(name(id) + " follows " + name(arc.transition_id) + ", which cannot be");
        });
      }
    }
  }

  bool goes(const Transition &from, uint32_t to) const {
    const Ends &ends = exits_[from.phone];
    return from.hmm_state < ends.size() && to < ends[from.hmm_state].size() && ends[from.hmm_state][to];
  }

  bool may_end(uint32_t id) const {
    const Transition &t = set_.transitions[id];
    return goes(t, static_cast<uint32_t>(exits_[t.phone].size()));
  }

  bool may_follow(uint32_t before, uint32_t after) const {
    const Transition &a = set_.transitions[before], &b = set_.transitions[after];
    const bool same_phone = a.phone == b.phone && a.position == b.position;
    if (same_phone && a.hmm_state == b.hmm_state && (a.self_loop || b.self_loop)) return true;
    if (same_phone && a.hmm_state != b.hmm_state && goes(a, b.hmm_state)) return true;
    return may_end(before) && b.hmm_state == 0;
  }
};

}  // namespace

void check_decoding_graph(const GraphData &graph, const HmmSet &set, const std::string &source) {
  Walk(graph, set, source).run();
}

void check_are_words(const std::vector<std::string> &symbols, const HmmSet &set, const std::string &source) {
  std::set<std::string> phones;
  for (const BasePhone &phone : set.phones) phones.insert(phone.name);
  size_t n = 0, n_placed = 0, n_disambiguation = 0;
  for (const std::string &symbol : symbols) {
    if (symbol == "<eps>") continue;
    if (symbol[0] == '#') {
      ++n_disambiguation;
      continue;
    }
    const size_t stem = symbol.size() < 3 ? 0 : symbol.size() - 2;
    const bool is_placed = stem > 0 && symbol[stem] == '_' && phones.count(symbol.substr(0, stem)) > 0;
    if (!is_placed && phones.count(symbol) == 0) return;  // a word
    ++n;
    n_placed += is_placed;
  }
  // A recogniser of phones has them as words, without positions, and needs no symbols for homophones but #0.
  if (n == 0 || (n_placed == 0 && n_disambiguation < 2)) return;
  fail(ASR_INVALID_ARGUMENT, "%s: lists phones, not words; give the words.txt of the graph", source.c_str());
}

}  // namespace asr
