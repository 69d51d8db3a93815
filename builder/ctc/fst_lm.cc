// SPDX-License-Identifier: Apache-2.0
#include "builder/ctc/fst_lm.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

#include "builder/import/openfst_file.h"
#include "builder/import/tokens.h"
#include "builder/text/text_file.h"
#include "core/graph/graph.h"
#include "core/model/bundle.h"

namespace asr {
namespace {

constexpr double kNoPath = std::numeric_limits<double>::infinity();

// A set in which every word is a transition, as read_openfst_graph checks input labels by it.
HmmSet one_transition_a_word(size_t n_words) {
  HmmSet set;
  set.transitions.resize(std::max<size_t>(n_words, 1));
  set.n_pdfs = 1;
  return set;
}

}  // namespace

FstLm::FstLm(const std::string &path, const std::string &words) {
  const std::vector<std::string> symbols = parse_symbols(read_text(words, {"a table of words and their numbers"}), words);
  const GraphData graph = read_openfst_graph(path, one_transition_a_word(symbols.size()), symbols, words);
  start_ = graph.start_state;
  finals_.assign(graph.final_costs.begin(), graph.final_costs.end());
  first_.push_back(0);
  arcs_.reserve(graph.arcs.size());
  for (uint32_t s = 0; s < graph.n_states(); ++s) {
    for (const auto *begin : {&graph.emitting_begin, &graph.epsilon_begin}) {
      for (uint32_t i = (*begin)[s]; i < (*begin)[s + 1]; ++i) {
        arcs_.push_back({graph.arcs[i].word, graph.arcs[i].next_state, graph.arcs[i].graph_cost});
      }
    }
    std::sort(arcs_.begin() + first_.back(), arcs_.end(), [](const Arc &a, const Arc &b) { return a.word < b.word; });
    first_.push_back(static_cast<uint32_t>(arcs_.size()));
  }
}

// Adds the places that arcs without a word lead to, where that is cheaper. Loops of negative cost are followed once a state.
void FstLm::follow_epsilons(std::vector<Place> *places) const {
  std::unordered_map<uint32_t, size_t> number;
  for (size_t k = 0; k < places->size(); ++k) number.emplace((*places)[k].state, k);
  const size_t most_visits = places->size() + 1000 + finals_.size();
  std::vector<size_t> waiting(places->size());
  for (size_t k = 0; k < waiting.size(); ++k) waiting[k] = k;
  for (size_t visit = 0; visit < waiting.size() && visit < most_visits; ++visit) {
    const Place from = (*places)[waiting[visit]];
    for (uint32_t i = first_[from.state]; i < first_[from.state + 1] && arcs_[i].word == 0; ++i) {
      const double cost = from.cost + arcs_[i].cost;
      const auto [found, is_new] = number.emplace(arcs_[i].next, places->size());
      if (is_new) {
        places->push_back({arcs_[i].next, cost});
      } else if (cost < (*places)[found->second].cost) {
        (*places)[found->second].cost = cost;
      } else {
        continue;
      }
      waiting.push_back(found->second);
    }
  }
}

double FstLm::cost(const uint32_t *words, size_t n_words) const {
  std::vector<Place> places{{start_, 0}};
  for (size_t k = 0; k < n_words; ++k) {
    follow_epsilons(&places);
    std::unordered_map<uint32_t, double> next;
    for (const Place &place : places) {
      const auto begin = arcs_.begin() + first_[place.state], end = arcs_.begin() + first_[place.state + 1];
      auto arc = std::lower_bound(begin, end, words[k], [](const Arc &a, uint32_t word) { return a.word < word; });
      for (; arc != end && arc->word == words[k]; ++arc) {
        const double cost = place.cost + arc->cost;
        const auto [found, is_new] = next.emplace(arc->next, cost);
        if (!is_new) found->second = std::min(found->second, cost);
      }
    }
    places.clear();
    for (const auto &[state, cost] : next) places.push_back({state, cost});
  }
  follow_epsilons(&places);
  double best = kNoPath;
  for (const Place &place : places) best = std::min(best, place.cost + finals_[place.state]);
  return best;
}

}  // namespace asr
