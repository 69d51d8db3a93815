// SPDX-License-Identifier: Apache-2.0
// Grammar is G, the word-level automaton to which every kind of grammar is converted before the lexicon is applied. Costs are
// -ln p.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "builder/graph/ngram.h"
#include "core/model/bundle.h"

namespace asr {

constexpr float kNotFinal = std::numeric_limits<float>::infinity();

// A position in the text of a grammar; both count from 1, columns in bytes. 0: unknown.
struct TextPlace {
  uint32_t line = 0, column = 0;
};
std::string shown(TextPlace place);  // for example "line 3, column 7"

// Returns a tag as one line, without blanks around it.
std::string tag_text(const std::string &text);

struct GrammarArc {
  uint32_t word;  // 0: epsilon, for backing off; epsilons form no cycles
  float cost;
  uint32_t next;
};

struct Grammar {
  std::vector<std::string> words;  // [0] is "<eps>"
  std::vector<WordLabel> labels;   // [words], or empty: the same word with another label is another symbol
  std::vector<bool> is_class;      // [words], or empty: the word is the name of a class (open_graph.h)
  std::map<std::string, double>
      keywords;          // thresholds, by the rule of a keyword's words (DecodingDefaults); empty: no keywords
  uint32_t garbage = 0;  // the word that stands for a phone of any speech, which no result has; 0: none
  // [words][pronunciation of the word in the lexicon]: the word of results, 0 for none. Empty: always the word itself.
  std::vector<std::vector<uint32_t>> outputs;
  uint32_t start = 0;
  std::vector<std::vector<GrammarArc>> arcs;  // [n_states]
  std::vector<float> final_costs;             // [n_states]
  // Beyond so many arcs of the lexical graph, or of that graph with its phones in context, the grammar is refused.
  uint64_t max_spelled_arcs = UINT64_MAX, max_expanded_arcs = UINT64_MAX;

  uint32_t n_states() const { return static_cast<uint32_t>(final_costs.size()); }
  uint32_t add_state() {
    arcs.emplace_back();
    final_costs.push_back(kNotFinal);
    return n_states() - 1;
  }
  uint64_t n_arcs() const;
};

// Removes states that are not on a path from the start to a final state. Throws if nothing is left.
Grammar connect(const Grammar &grammar, const std::string &source);

// Vocabulary defines the treatment of words without a pronunciation.
struct Vocabulary {
  std::function<bool(const std::string &)> pronounced;
  std::string dictionary;     // name of the dictionary, for messages
  bool drop_unknown = false;  // false: refuse the grammar and list the words
  std::string remedy = "add them to the dictionary, check --case, or pass --drop-unknown";  // advice for a refused grammar
  std::vector<std::string> *dropped = nullptr;                                              // receives the dropped words
  // Returns why the dictionary's pronunciation of a word was left out, "" if it has none. May be empty.
  std::function<std::string(const std::string &)> why_left_out = {};
};

// Returns true for unknown words to be dropped. Throws the list if the vocabulary does not allow that, with the words'
// positions if `places` is given.
std::vector<bool> find_unknown(const std::vector<std::string> &words, const Vocabulary &vocabulary, const std::string &source,
                               const std::vector<TextPlace> &places = {});

// Makes one state for each history of a listed n-gram, an arc for each n-gram, and an epsilon arc for each back-off. <s> is the
// history at the start, </s> gives final costs. N-grams with <unk> or dropped words are left out.
Grammar ngram_grammar(const NgramModel &model, const Vocabulary &vocabulary, const std::string &source);

// Makes a loop of single words with equal probability, ending with the same probability; or exactly one word.
Grammar word_list_grammar(const std::vector<std::string> &words, bool single, const Vocabulary &vocabulary,
                          const std::string &source);
std::vector<std::string> read_word_list(const std::string &path);  // one word per line; '#' lines are comments
std::vector<std::string> parse_word_list(const std::string &text, const std::string &source);

}  // namespace asr
