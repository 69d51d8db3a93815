// SPDX-License-Identifier: Apache-2.0
#include "builder/align/text_graph.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

std::string numbered(size_t i) { return std::to_string(i); }

Grammar grammar_of(size_t n_words, const Leniency &leniency, TextEnd end) {
  Grammar grammar;
  grammar.words = {"<eps>"};
  grammar.start = grammar.add_state();
  for (uint32_t i = 0; i < n_words; ++i) {
    grammar.words.push_back(numbered(i));
    const uint32_t next = grammar.add_state();
    grammar.arcs[i].push_back({i + 1, 0, next});
    if (leniency.allowed) grammar.arcs[i].push_back({0, static_cast<float>(leniency.skip_cost), next});
  }
  if (end == TextEnd::kAnyWord) std::fill(grammar.final_costs.begin(), grammar.final_costs.end(), 0.0f);
  grammar.final_costs.back() = 0;
  return grammar;
}

Lexicon numbered_lexicon(const std::vector<std::string> &words, const Lexicon &lexicon) {
  const Lexicon known = restricted(lexicon, words);
  Lexicon numbers;
  numbers.pronunciations = known.pronunciations;
  for (size_t i = 0; i < words.size(); ++i) {
    numbers.pronunciations_of[numbered(i)] = known.pronunciations_of.at(words[i]);
    const auto costs = known.costs_of.find(words[i]);
    if (costs != known.costs_of.end()) numbers.costs_of[numbered(i)] = costs->second;
  }
  return numbers;
}

GraphOptions with_foreign_phones(const HmmSet &set, GraphOptions options, const Leniency &leniency) {
  if (!leniency.allowed) return options;
  for (uint32_t phone = 0; phone < set.phones.size(); ++phone) options.filler_phones.push_back(phone);
  options.filler_prob = std::exp(-leniency.foreign_cost);
  return options;
}

}  // namespace

TextGraphs::TextGraphs(const HmmSet &set, GraphOptions options) : set_(set), contexts_(set), options_(std::move(options)) {}

GraphData TextGraphs::graph(const std::vector<std::string> &words, const Lexicon &lexicon, const Leniency &leniency,
                            TextEnd end) const {
  GraphSizes sizes{};
  const BuildProgress no_progress = [](double, const std::string &) {};
  return build_graph(set_, contexts_, numbered_lexicon(words, lexicon), grammar_of(words.size(), leniency, end),
                     with_foreign_phones(set_, options_, leniency), no_progress, &sizes);
}

}  // namespace asr
