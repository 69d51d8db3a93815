// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/grammar_scores.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();
constexpr double kCostStep = 1.0 / (1 << 24);  // sets whose costs round to the same multiples are equal

void lower(std::map<uint32_t, double> *set, uint32_t state, double cost) {
  const auto [found, is_new] = set->emplace(state, cost);
  if (!is_new) found->second = std::min(found->second, cost);
}

// Returns the arcs of a word among a state's arcs, which are sorted by word.
std::pair<const GrammarArc *, const GrammarArc *> arcs_of(const std::vector<GrammarArc> &arcs, uint32_t word) {
  struct ByWord {
    bool operator()(const GrammarArc &arc, uint32_t w) const { return arc.word < w; }
    bool operator()(uint32_t w, const GrammarArc &arc) const { return w < arc.word; }
  };
  const auto [begin, end] = std::equal_range(arcs.begin(), arcs.end(), word, ByWord());
  return {arcs.data() + (begin - arcs.begin()), arcs.data() + (end - arcs.begin())};
}

}  // namespace

GrammarScores::GrammarScores(Grammar grammar, const std::vector<std::string> &symbols, const std::vector<bool> &ignored)
    : grammar_(std::move(grammar)), word_of_(symbols.size(), 0), ignored_(ignored) {
  std::unordered_map<std::string, uint32_t> numbers;
  for (uint32_t word = 1; word < grammar_.words.size(); ++word) numbers.emplace(grammar_.words[word], word);
  for (size_t i = 1; i < symbols.size(); ++i) {
    const auto found = numbers.find(symbols[i]);
    if (found != numbers.end()) word_of_[i] = found->second;
  }
  for (std::vector<GrammarArc> &arcs : grammar_.arcs) {
    std::stable_sort(arcs.begin(), arcs.end(), [](const GrammarArc &a, const GrammarArc &b) { return a.word < b.word; });
  }
}

// Adds all states that the set's states back off to, with their least costs. Back-offs have no cycles, so this ends.
GrammarScores::Set GrammarScores::with_back_offs(const Set &set) const {
  Set all = set;
  std::vector<std::pair<uint32_t, double>> todo(set.begin(), set.end());
  while (!todo.empty()) {
    const auto [state, cost] = todo.back();
    todo.pop_back();
    if (cost > all[state]) continue;
    const auto [begin, end] = arcs_of(grammar_.arcs[state], 0);
    for (const GrammarArc *arc = begin; arc != end; ++arc) {
      const double next_cost = cost + static_cast<double>(arc->cost);
      const auto found = all.find(arc->next);
      if (found != all.end() && found->second <= next_cost) continue;
      all[arc->next] = next_cost;
      todo.emplace_back(arc->next, next_cost);
    }
  }
  return all;
}

// Numbers the set after subtracting its least cost, which is returned.
double GrammarScores::add(const Set &set, uint32_t *state) {
  double least = kNever;
  for (const auto &[s, cost] : set) least = std::min(least, cost);
  Set needed;
  for (const auto &[s, cost] : set) {
    Set others = set;
    others.erase(s);
    const Set reached = with_back_offs(others);
    const auto found = reached.find(s);
    if (found == reached.end() || found->second > cost) needed.emplace(s, std::round((cost - least) / kCostStep) * kCostStep);
  }
  const auto [found, is_new] = number_of_.emplace(needed, static_cast<uint32_t>(sets_.size()));
  if (is_new) sets_.push_back(std::move(needed));
  *state = found->second;
  return least;
}

uint32_t GrammarScores::start() {
  uint32_t state = 0;
  add({{grammar_.start, 0.0}}, &state);
  return state;
}

double GrammarScores::advance(uint32_t state, uint32_t word, uint32_t *next) {
  *next = state;
  const uint32_t own_word = word < word_of_.size() ? word_of_[word] : 0;
  if (own_word == 0) return word < ignored_.size() && ignored_[word] ? 0 : kNever;
  Set set;
  for (const auto &[from, cost] : with_back_offs(sets_[state])) {
    const auto [begin, end] = arcs_of(grammar_.arcs[from], own_word);
    for (const GrammarArc *arc = begin; arc != end; ++arc) lower(&set, arc->next, cost + static_cast<double>(arc->cost));
  }
  return set.empty() ? kNever : add(set, next);
}

double GrammarScores::end(uint32_t state) {
  double least = kNever;
  for (const auto &[s, cost] : with_back_offs(sets_[state])) {
    least = std::min(least, cost + static_cast<double>(grammar_.final_costs[s]));
  }
  return least;
}

}  // namespace asr
