// SPDX-License-Identifier: Apache-2.0
// Converts a back-off n-gram model to a Grammar. A history is a state if any listed n-gram continues it. A shorter history
// without a state is skipped, and its back-off cost moves to the arcs that would have entered it.
#include "builder/graph/grammar.h"
#include "core/base/error.h"

namespace asr {
namespace {

class NgramGrammar {
 public:
  NgramGrammar(const NgramModel &model, const Vocabulary &vocabulary, const std::string &source)
      : model_(model), source_(source), start_word_(model.find_word("<s>")), end_word_(model.find_word("</s>")) {
    if (end_word_ == kNoNgram)
      fail(ASR_BAD_FILE, "%s: no </s> among the words; the model must say how sentences end", source.c_str());
    number_words(vocabulary);
  }

  Grammar build() {
    number_states();
    for (const NgramPlace &history : states_) add_arcs(history);
    for (const NgramPlace &history : states_) {
      if (history.level < 0) continue;
      const auto [next, cost] = enter(back_off(model_, history));
      const float backoff = model_.levels[history.level].backoff[history.index];
      grammar_.arcs[state_of(history)].push_back({0, backoff + cost, next});
    }
    NgramPlace start;
    if (start_word_ != kNoNgram) start = {0, start_word_};
    const auto [state, cost] = enter(start);
    grammar_.start = state;
    static_cast<void>(cost);  // the same for every sentence
    return connect(grammar_, source_);
  }

 private:
  static constexpr uint32_t kNoState = 0xffffffffu;
  const NgramModel &model_;
  const std::string &source_;
  uint32_t start_word_, end_word_;
  std::vector<uint32_t> word_id_;  // [model word]: word of the grammar; 0: left out
  std::vector<NgramPlace> states_;
  std::vector<std::vector<uint32_t>> state_of_;  // [level][index]
  Grammar grammar_;

  void number_words(const Vocabulary &vocabulary) {
    std::vector<std::string> words;
    std::vector<uint32_t> ids;
    for (uint32_t id = 0; id < model_.words.size(); ++id) {
      const std::string &word = model_.words[id];
      if (word == "<unk>" || word == "<UNK>" || id == start_word_ || id == end_word_) continue;
      words.push_back(word);
      ids.push_back(id);
    }
    const std::vector<bool> unknown = find_unknown(words, vocabulary, source_);
    word_id_.assign(model_.words.size(), 0);
    grammar_.words = {"<eps>"};
    for (size_t i = 0; i < words.size(); ++i) {
      if (unknown[i]) continue;
      word_id_[ids[i]] = static_cast<uint32_t>(grammar_.words.size());
      grammar_.words.push_back(words[i]);
    }
  }

  bool used(uint32_t word) const { return word_id_[word] != 0 || word == end_word_; }

  void number_states() {
    states_.push_back({});
    grammar_.add_state();
    std::vector<std::vector<bool>> usable(model_.order());  // true if it consists of used words (or begins with <s>)
    state_of_.resize(model_.order());
    for (size_t level = 0; level + 1 < model_.order(); ++level) {
      const NgramLevel &ngrams = model_.levels[level], &above = model_.levels[level + 1];
      usable[level].resize(ngrams.size());
      state_of_[level].assign(ngrams.size(), kNoState);
      for (uint32_t i = 0; i < ngrams.size(); ++i) {
        const uint32_t word = ngrams.word[i];
        usable[level][i] = level == 0 ? word_id_[word] != 0 || word == start_word_
                                      : word_id_[word] != 0 && usable[level - 1][ngrams.history[i]];
        bool continued = false;
        for (uint32_t k = ngrams.first_child[i]; k < ngrams.first_child[i + 1] && !continued; ++k)
          continued = used(above.word[k]);
        if (!usable[level][i] || !continued) continue;
        state_of_[level][i] = grammar_.add_state();
        states_.push_back({int(level), i});
      }
    }
  }

  uint32_t state_of(NgramPlace history) const {
    if (history.level < 0) return 0;
    return size_t(history.level) + 1 < model_.order() ? state_of_[history.level][history.index] : kNoState;
  }

  // Returns the state of the longest kept suffix of `history`, and the cost of backing off to it.
  std::pair<uint32_t, float> enter(NgramPlace history) const {
    float cost = 0;
    for (;; history = back_off(model_, history)) {
      const uint32_t state = state_of(history);
      if (state != kNoState) return {state, cost};
      cost += model_.levels[history.level].backoff[history.index];
    }
  }

  void add_arcs(NgramPlace history) {
    const uint32_t state = state_of(history);
    const int level = history.level + 1;
    const NgramLevel &ngrams = model_.levels[level];
    const uint32_t begin = level == 0 ? 0 : model_.levels[level - 1].first_child[history.index];
    const uint32_t end = level == 0 ? uint32_t(ngrams.size()) : model_.levels[level - 1].first_child[history.index + 1];
    for (uint32_t i = begin; i < end; ++i) {
      const uint32_t word = ngrams.word[i];
      if (word == end_word_) {
        grammar_.final_costs[state] = ngrams.cost[i];
      } else if (word_id_[word] != 0) {
        const auto [next, cost] = enter({level, i});
        grammar_.arcs[state].push_back({word_id_[word], ngrams.cost[i] + cost, next});
      }
    }
  }
};

}  // namespace

Grammar ngram_grammar(const NgramModel &model, const Vocabulary &vocabulary, const std::string &source) {
  return NgramGrammar(model, vocabulary, source).build();
}

}  // namespace asr
