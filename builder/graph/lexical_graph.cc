// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/lexical_graph.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>

#include "builder/graph/hash.h"
#include "core/base/error.h"

namespace asr {

float on_cost_grid(double cost) { return static_cast<float>(std::round(cost / kCostGrid) * kCostGrid + 0.0); }

namespace {

// One pronunciation of one word that a grammar state allows.
struct Entry {
  uint32_t pronunciation;
  uint32_t word;
  float cost;
  uint32_t next;  // grammar state; also the number of its root in the lexical graph
};

class TreeBuilder {
 public:
  TreeBuilder(const Grammar &grammar, const Lexicon &lexicon, double word_cost) : grammar_(grammar), word_cost_(word_cost) {
    for (const std::vector<uint32_t> &phones : lexicon.pronunciations) spellings_.push_back(spell(phones));
    rank_spellings();
    for (const std::string &word : grammar.words) {
      const auto found = lexicon.pronunciations_of.find(word);
      pronunciations_of_.push_back(found == lexicon.pronunciations_of.end() ? nullptr : &found->second);
      const auto costs = lexicon.costs_of.find(word);
      costs_of_.push_back(costs == lexicon.costs_of.end() ? nullptr : &costs->second);
    }
  }

  LexicalGraph build(const BuildProgress &progress) {
    const uint32_t n_roots = grammar_.n_states();
    graph_.start = grammar_.start;
    graph_.begin.resize(n_roots);
    graph_.n_arcs.resize(n_roots);
    graph_.final_costs.assign(n_roots, kNotFinal);
    for (uint32_t state = 0; state < n_roots; ++state) {
      build_root(state);
      if (state % 1024 == 0) progress(double(state) / n_roots, format("spelling words: state %u of %u", state, n_roots));
    }
    return std::move(graph_);
  }

 private:
  const Grammar &grammar_;
  const double word_cost_;
  std::vector<std::vector<uint32_t>> spellings_;                  // [pronunciation]: phone labels
  std::vector<uint32_t> rank_;                                    // [pronunciation]: index in sorted order of spellings
  std::vector<const std::vector<uint32_t> *> pronunciations_of_;  // [grammar word]
  std::vector<const std::vector<float> *> costs_of_;              // [grammar word]: of its pronunciations; nullptr: 0
  std::vector<Entry> entries_;
  LexicalGraph graph_;
  HashIndex states_by_hash_;

  static std::vector<uint32_t> spell(const std::vector<uint32_t> &phones) {
    std::vector<uint32_t> labels;
    for (size_t i = 0; i < phones.size(); ++i) {
      labels.push_back(phone_label(phones[i], position_in_word(i, phones.size())));
    }
    return labels;
  }

  void rank_spellings() {
    std::vector<uint32_t> order(spellings_.size());
    for (uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return spellings_[a] < spellings_[b]; });
    rank_.resize(order.size());
    for (uint32_t i = 0; i < order.size(); ++i) rank_[order[i]] = i;
  }

  void build_root(uint32_t state) {
    entries_.clear();
    std::vector<LexicalArc> arcs, others;  // others: classes and garbage
    for (const GrammarArc &arc : grammar_.arcs[state]) {
      if (!grammar_.is_class.empty() && grammar_.is_class[arc.word]) {
        others.push_back({class_label(arc.word), 0, on_cost_grid(arc.cost), arc.next});
        continue;
      }
      if (arc.word == 0) {
        arcs.push_back({0, 0, on_cost_grid(arc.cost), arc.next});
        continue;
      }
      if (arc.word == grammar_.garbage) {
        others.push_back({kGarbageLabel, 0, on_cost_grid(arc.cost), arc.next});
        continue;
      }
      const std::vector<uint32_t> &pronunciations = *pronunciations_of_[arc.word];
      const std::vector<float> *const costs = costs_of_[arc.word];
      for (size_t i = 0; i < pronunciations.size(); ++i) {
        const double cost = arc.cost + word_cost_ + (costs == nullptr ? 0.0 : double{(*costs)[i]});
        const bool is_itself = grammar_.outputs.empty() || grammar_.outputs[arc.word].empty();
        const uint32_t word = is_itself ? arc.word : grammar_.outputs[arc.word][i];
        entries_.push_back({pronunciations[i], word, on_cost_grid(cost), arc.next});
      }
    }
    std::sort(entries_.begin(), entries_.end(), [&](const Entry &a, const Entry &b) {
      if (a.pronunciation != b.pronunciation) return rank_[a.pronunciation] < rank_[b.pronunciation];
      return a.word != b.word ? a.word < b.word : a.next < b.next;
    });
    arcs.insert(arcs.end(), others.begin(), others.end());  // epsilon arcs come first
    add_children(0, entries_.size(), 0, false, 0, &arcs);
    graph_.begin[state] = graph_.arcs.size();
    graph_.n_arcs[state] = static_cast<uint32_t>(arcs.size());
    add_arcs(arcs);
    if (grammar_.final_costs[state] != kNotFinal)
      graph_.final_costs[state] = on_cost_grid(grammar_.final_costs[state] + word_cost_);
  }

  void add_arcs(const std::vector<LexicalArc> &arcs) {
    if (graph_.arcs.size() + arcs.size() > grammar_.max_spelled_arcs) {
      fail(ASR_UNSUPPORTED,
           "the grammar comes to more than %llu arcs when its words are spelled; use fewer repetitions of rules, or classes",
           static_cast<unsigned long long>(grammar_.max_spelled_arcs));
    }
    graph_.arcs.insert(graph_.arcs.end(), arcs.begin(), arcs.end());
  }

  // Returns the joint cost of entries [begin, end): -ln of the sum of their probabilities.
  float joint_cost(size_t begin, size_t end) const {
    if (end - begin == 1) return entries_[begin].cost;
    double least = entries_[begin].cost, sum = 0;
    for (size_t i = begin; i < end; ++i) least = std::min<double>(least, entries_[i].cost);
    for (size_t i = begin; i < end; ++i) sum += std::exp(least - entries_[i].cost);
    return on_cost_grid(least - std::log(sum));
  }

  bool one_word(size_t begin, size_t end) const {
    for (size_t i = begin + 1; i < end; ++i) {
      if (entries_[i].word != entries_[begin].word) return false;
    }
    return true;
  }

  // Entries [begin, end) share their first `depth` labels. `paid` of their joint cost lies before this point, and so does their
  // word if word_paid. Appends the arcs that leave the point.
  void add_children(size_t begin, size_t end, size_t depth, bool word_paid, float paid, std::vector<LexicalArc> *arcs) {
    while (begin < end) {
      const std::vector<uint32_t> &spelling = spellings_[entries_[begin].pronunciation];
      if (spelling.size() == depth) {  // end of the word: on to the next root
        const Entry &entry = entries_[begin++];
        arcs->push_back({0, word_paid ? 0 : entry.word, entry.cost - paid, entry.next});
        continue;
      }
      size_t group_end = begin + 1;
      while (group_end < end && spellings_[entries_[group_end].pronunciation][depth] == spelling[depth]) ++group_end;
      const float cost = joint_cost(begin, group_end);
      const bool known = word_paid || one_word(begin, group_end);
      const uint32_t word = known && !word_paid ? entries_[begin].word : 0;
      arcs->push_back({spelling[depth], word, cost - paid, subtree(begin, group_end, depth + 1, known, cost)});
      begin = group_end;
    }
  }

  uint32_t subtree(size_t begin, size_t end, size_t depth, bool word_paid, float paid) {
    if (end - begin == 1 && spellings_[entries_[begin].pronunciation].size() == depth) return entries_[begin].next;
    std::vector<LexicalArc> arcs;
    add_children(begin, end, depth, word_paid, paid, &arcs);
    uint64_t hash = 0;
    for (const LexicalArc &arc : arcs) hash = mix_hash(hash, arc.label, arc.word, float_bits(arc.cost), arc.next);
    const uint32_t found = states_by_hash_.find(hash, [&](uint32_t state) {
      return graph_.n_arcs[state] == arcs.size() &&
             std::equal(arcs.begin(), arcs.end(), graph_.arcs.begin() + graph_.begin[state]);
    });
    if (found != HashIndex::kNone) return found;
    const uint32_t state = graph_.n_states();
    graph_.begin.push_back(graph_.arcs.size());
    graph_.n_arcs.push_back(static_cast<uint32_t>(arcs.size()));
    graph_.final_costs.push_back(kNotFinal);
    add_arcs(arcs);
    states_by_hash_.add(hash, state);
    return state;
  }
};

}  // namespace

void add_outputs(Grammar *grammar, const Lexicon &lexicon, std::vector<bool> *ends_phrase) {
  if (lexicon.outputs_of.empty()) return;
  using Symbol = std::tuple<std::string, std::string, std::string, bool>;  // word, its rule and tags, whether it ends a phrase
  const auto symbol_of = [&](const std::string &text, uint32_t word) {
    const WordLabel label = grammar->labels.empty() ? WordLabel{} : grammar->labels[word];
    return Symbol(text, label.rule, label.tags, ends_phrase != nullptr && (*ends_phrase)[word]);
  };
  const auto is_class = [&](uint32_t word) { return !grammar->is_class.empty() && grammar->is_class[word]; };
  const auto n_words = static_cast<uint32_t>(grammar->words.size());
  std::map<Symbol, uint32_t> number_of;
  for (uint32_t word = 1; word < n_words; ++word) {
    if (!is_class(word)) number_of.emplace(symbol_of(grammar->words[word], word), word);
  }
  const auto number = [&](const std::string &text, uint32_t word) -> uint32_t {
    if (text.empty()) return 0;
    const auto [found, is_new] = number_of.emplace(symbol_of(text, word), static_cast<uint32_t>(grammar->words.size()));
    if (is_new) {
      grammar->words.push_back(text);
      if (!grammar->labels.empty()) grammar->labels.push_back(WordLabel(grammar->labels[word]));
      if (!grammar->is_class.empty()) grammar->is_class.push_back(false);
      if (ends_phrase != nullptr) ends_phrase->push_back((*ends_phrase)[word]);
    }
    return found->second;
  };
  grammar->outputs.assign(n_words, {});
  for (uint32_t word = 1; word < n_words; ++word) {
    const auto found = lexicon.outputs_of.find(grammar->words[word]);
    if (is_class(word) || found == lexicon.outputs_of.end()) continue;
    for (const std::string &output : found->second) grammar->outputs[word].push_back(number(output, word));
  }
}

LexicalGraph make_lexical_graph(const Grammar &grammar, const Lexicon &lexicon, double word_cost,
                                const BuildProgress &progress) {
  LexicalGraph graph = TreeBuilder(grammar, lexicon, word_cost).build(progress);
  graph.max_expanded_arcs = grammar.max_expanded_arcs;
  return graph;
}

}  // namespace asr
