// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/open_graph.h"

#include <map>
#include <unordered_map>
#include <utility>

#include "builder/graph/compact.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

const auto kSilent = [](double, const std::string &) {};

// Returns the graph of the states kept by minimise.
OpenGraph compacted(Expansion expansion) {
  remove_epsilons(&expansion.graph);
  const std::vector<uint32_t> states = minimise(&expansion.graph, kSilent);
  OpenGraph open;
  open.graph.start = expansion.graph.start;
  for (const uint32_t state : states) {
    const uint32_t number = open.graph.add_state();
    open.graph.final_costs[number] = expansion.graph.final_costs[state];
    open.graph.set_arcs(number, {expansion.graph.first_arc(state), expansion.graph.last_arc(state)});
  }
  open.transitions = std::move(expansion.transitions);
  open.ports = std::move(expansion.ports);
  return open;
}

}  // namespace

OpenGraph build_open_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon, const Grammar &grammar,
                           const GraphOptions &options) {
  double cost_of_none = 0;
  const std::vector<Filler> fillers = make_fillers(set, options, &cost_of_none);
  const LexicalGraph lexical = make_lexical_graph(grammar, lexicon, cost_of_none, kSilent);
  return compacted(expand_contexts(lexical, set, contexts, fillers, options.scales, kSilent));
}

ClassGrammar class_grammar(const Grammar &grammar, const std::string &source) {
  if (grammar.final_costs[grammar.start] != kNotFinal) {
    fail(ASR_BAD_FILE, "%s: a phrase of a class must have words; leave out what may be said or not", source.c_str());
  }
  ClassGrammar of_class;
  Grammar &phrases = of_class.grammar;
  for (uint32_t state = 0; state < grammar.n_states(); ++state) phrases.add_state();
  const uint32_t end = phrases.add_state();
  phrases.start = grammar.start;
  phrases.final_costs[end] = 0;
  phrases.words = {grammar.words[0]};
  if (!grammar.labels.empty()) phrases.labels = {grammar.labels[0]};
  of_class.ends_phrase = {false};
  std::vector<uint32_t> symbols[2];  // [is the end of a phrase][word]; 0: none yet
  for (std::vector<uint32_t> &of_words : symbols) of_words.resize(grammar.words.size());
  const auto symbol_of = [&](uint32_t word, bool ends_phrase) {
    uint32_t &symbol = symbols[ends_phrase][word];
    if (symbol != 0 || word == 0) return symbol;
    symbol = static_cast<uint32_t>(phrases.words.size());
    phrases.words.push_back(grammar.words[word]);
    if (!grammar.labels.empty()) phrases.labels.push_back(grammar.labels[word]);
    of_class.ends_phrase.push_back(ends_phrase);
    return symbol;
  };
  for (uint32_t state = 0; state < grammar.n_states(); ++state) {
    for (const GrammarArc &arc : grammar.arcs[state]) {
      if (!grammar.arcs[arc.next].empty()) phrases.arcs[state].push_back({symbol_of(arc.word, false), arc.cost, arc.next});
      const float final_cost = grammar.final_costs[arc.next];
      if (final_cost != kNotFinal) phrases.arcs[state].push_back({symbol_of(arc.word, true), arc.cost + final_cost, end});
    }
  }
  phrases = connect(phrases, source);
  return of_class;
}

OpenGraph build_class_graph(const HmmSet &set, const ContextTable &contexts, const Lexicon &lexicon,
                            const ClassGrammar &of_class, const GraphOptions &options) {
  double cost_of_none = 0;
  const std::vector<Filler> fillers = make_fillers(set, options, &cost_of_none);
  Grammar grammar = of_class.grammar;
  uint32_t end = 0;
  while (grammar.final_costs[end] == kNotFinal) ++end;
  grammar.final_costs[end] = kNotFinal;  // the continuation is unknown
  const LexicalGraph lexical = make_lexical_graph(grammar, lexicon, cost_of_none, kSilent);
  return compacted(expand_class(lexical, end, set, contexts, fillers, options.scales));
}

namespace {

class Joiner {
 public:
  Joiner(const OpenGraph &open, const std::vector<uint32_t> &words, const std::vector<std::vector<ClassFilling>> &fillings,
         const std::string &source)
      : open_(open), words_(words), fillings_(fillings), source_(source) {
    for (size_t i = 1; i < open.transitions.size(); ++i) transitions_.id(open.transitions[i]);
  }

  GraphData join(uint32_t n_pdfs, uint32_t n_words) {
    graph_.start = open_.graph.start;
    for (uint32_t state = 0; state < open_.graph.n_states(); ++state) {
      graph_.final_costs[graph_.add_state()] = open_.graph.final_costs[state];
    }
    for (uint32_t state = 0; state < open_.graph.n_states(); ++state) copy_arcs(state);
    while (!copies_to_make_.empty()) {
      const Copy copy = copies_to_make_.back();
      copies_to_make_.pop_back();
      copy_class(copy);
    }
    drop_dead_ends();
    remove_epsilons(&graph_);
    std::vector<uint32_t> states = number_reachable(&graph_);
    return pack(std::move(graph_), std::move(states), transitions_.transitions(), n_pdfs, n_words);
  }

 private:
  // A class is copied once for each name and each state whose ports lead on after it.
  struct Copy {
    const ClassFilling *filling;
    uint32_t first_state;
    uint32_t returns;  // state of the open graph
  };

  const OpenGraph &open_;
  const std::vector<uint32_t> &words_;
  const std::vector<std::vector<ClassFilling>> &fillings_;
  const std::string &source_;
  StateGraph graph_;
  TransitionTable transitions_;
  std::map<std::pair<const ClassFilling *, uint32_t>, uint32_t> first_states_;
  std::vector<Copy> copies_to_make_;
  uint64_t n_copied_arcs_ = 0;
  std::map<const OpenGraph *, std::vector<uint32_t>> transition_ids_;  // [class]: its transition-ids -> ids of this graph
  using Begins = std::unordered_map<NeighbourSet, std::vector<const StateArc *>>;
  std::map<const OpenGraph *, std::vector<Begins>> begins_;  // [list]: arcs into it, by the neighbours of their ports

  static const Port &port_of(const OpenGraph &graph, const StateArc &arc) { return graph.ports[arc.word - 1]; }

  void copy_arcs(uint32_t state) {
    std::vector<StateArc> arcs;
    for (const StateArc *arc = open_.graph.first_arc(state); arc != open_.graph.last_arc(state); ++arc) {
      if (arc->transition_id != kPortArc) {
        arcs.push_back({arc->transition_id, words_[arc->word], arc->cost, arc->next});
        continue;
      }
      const uint32_t word = port_of(open_, *arc).word;
      if (word == 0) return;  // a state for the continuation of a class; the copies provide it
      for (const ClassFilling &filling : fillings_[word]) enter(filling, *arc, &arcs);
    }
    check_size(0, arcs.size());
    graph_.set_arcs(state, arcs);
  }

  // Throws if the additional states or arcs make the graph too large.
  void check_size(uint64_t n_states, uint64_t n_arcs) const {
    if (graph_.n_states() + n_states <= kMaxJoinedStates && graph_.arcs.size() + n_copied_arcs_ + n_arcs <= kMaxJoinedArcs) {
      return;
    }
    fail(ASR_UNSUPPORTED, "%s: with its classes it has more than %u states or %u arcs; use classes at fewer places",
         source_.c_str(), kMaxJoinedStates, kMaxJoinedArcs);
  }

  const std::vector<Begins> &begins_of(const OpenGraph &list) {
    std::vector<Begins> &by_left = begins_[&list];
    if (!by_left.empty()) return by_left;
    by_left.resize(kMaxNeighbours + 1);
    for (const StateArc *arc = list.graph.first_arc(list.graph.start); arc != list.graph.last_arc(list.graph.start); ++arc) {
      const Port &port = port_of(list, *arc);
      by_left[port.left][port.right].push_back(arc);
    }
    return by_left;
  }

  // Enters the copy of a list through the matching port, if a phrase of the list begins that way.
  void enter(const ClassFilling &filling, const StateArc &arc, std::vector<StateArc> *arcs) {
    const Port &used = port_of(open_, arc);
    const Begins &begins = begins_of(*filling.graph)[used.left];
    const auto found = begins.find(used.right);
    if (found == begins.end()) return;
    const uint32_t first_state = first_state_of(filling, arc.next);
    for (const StateArc *begin : found->second) {
      arcs->push_back({0, 0, arc.cost + filling.cost + begin->cost, first_state + begin->next});
    }
  }

  uint32_t first_state_of(const ClassFilling &filling, uint32_t returns) {
    const auto [known, is_new] = first_states_.try_emplace({&filling, returns}, graph_.n_states());
    if (!is_new) return known->second;
    const StateGraph &list = filling.graph->graph;
    check_size(list.n_states(), list.arcs.size());
    n_copied_arcs_ += list.arcs.size();
    for (uint32_t i = 0; i < list.n_states(); ++i) graph_.add_state();
    copies_to_make_.push_back({&filling, known->second, returns});
    return known->second;
  }

  const std::vector<uint32_t> &transition_ids_of(const OpenGraph *list) {
    std::vector<uint32_t> &ids = transition_ids_[list];
    if (ids.empty()) {
      ids.push_back(0);
      for (size_t i = 1; i < list->transitions.size(); ++i) ids.push_back(transitions_.id(list->transitions[i]));
    }
    return ids;
  }

  void copy_class(const Copy &copy) {
    const OpenGraph &list = *copy.filling->graph;
    const std::vector<uint32_t> &ids = transition_ids_of(&list);
    n_copied_arcs_ -= list.graph.arcs.size();
    const ArcsByLeft after = returns_by_left(copy.returns);
    std::vector<StateArc> arcs;
    for (uint32_t state = 0; state < list.graph.n_states(); ++state) {
      if (state == list.graph.start) continue;
      arcs.clear();
      for (const StateArc *arc = list.graph.first_arc(state); arc != list.graph.last_arc(state); ++arc) {
        if (arc->transition_id == kPortArc) {
          leave(port_of(list, *arc), arc->cost, after, &arcs);
        } else {
          arcs.push_back({ids[arc->transition_id], copy.filling->words[arc->word], arc->cost, copy.first_state + arc->next});
        }
      }
      check_size(0, arcs.size());
      graph_.set_arcs(copy.first_state + state, arcs);
    }
  }

  using ArcsByLeft = std::vector<std::vector<const StateArc *>>;  // [neighbour before the port]

  ArcsByLeft returns_by_left(uint32_t returns) const {
    ArcsByLeft arcs(kMaxNeighbours + 1);
    for (const StateArc *arc = open_.graph.first_arc(returns); arc != open_.graph.last_arc(returns); ++arc) {
      arcs[port_of(open_, *arc).left].push_back(arc);
    }
    return arcs;
  }

  // Continues after the class, with the phones that may follow the last phone of the phrase.
  void leave(const Port &end, float cost, const ArcsByLeft &after, std::vector<StateArc> *arcs) const {
    for (const StateArc *arc : after[end.left]) {
      if ((port_of(open_, *arc).right & end.right).any()) arcs->push_back({0, 0, cost + arc->cost, arc->next});
    }
  }

  // Removes arcs from which no end is reachable: their guessed phone begins or follows no phrase of the class.
  void drop_dead_ends() {
    const uint32_t n = graph_.n_states();
    std::vector<uint32_t> begin(n + 2), before(graph_.arcs.size());
    const auto for_all_arcs = [&](const auto &action) {
      for (uint32_t state = 0; state < n; ++state) {
        for (const StateArc *arc = graph_.first_arc(state); arc != graph_.last_arc(state); ++arc) action(state, *arc);
      }
    };
    for_all_arcs([&](uint32_t, const StateArc &arc) { ++begin[arc.next + 2]; });
    for (uint32_t i = 1; i < n + 2; ++i) begin[i] += begin[i - 1];
    for_all_arcs([&](uint32_t state, const StateArc &arc) { before[begin[arc.next + 1]++] = state; });
    std::vector<bool> ends(n);
    std::vector<uint32_t> todo;
    const auto add = [&](uint32_t state) {
      if (!ends[state]) todo.push_back(state);
      ends[state] = true;
    };
    for (uint32_t state = 0; state < n; ++state) {
      if (graph_.final_costs[state] != kNotFinal) add(state);
    }
    while (!todo.empty()) {
      const uint32_t state = todo.back();
      todo.pop_back();
      for (uint32_t i = begin[state]; i < begin[state + 1]; ++i) add(before[i]);
    }
    if (!ends[graph_.start])
      fail(ASR_BAD_FILE, "%s: no sentence can be said with it; check the phrases of its classes", source_.c_str());
    std::vector<StateArc> arcs;
    for (uint32_t state = 0; state < n; ++state) {
      arcs.clear();
      for (const StateArc *arc = graph_.first_arc(state); arc != graph_.last_arc(state); ++arc) {
        if (ends[arc->next]) arcs.push_back(*arc);
      }
      graph_.replace_arcs(state, arcs);
    }
  }
};

}  // namespace

GraphData join_classes(const OpenGraph &open, const std::vector<uint32_t> &words,
                       const std::vector<std::vector<ClassFilling>> &fillings, uint32_t n_pdfs, uint32_t n_words,
                       const std::string &source) {
  return Joiner(open, words, fillings, source).join(n_pdfs, n_words);
}

}  // namespace asr
