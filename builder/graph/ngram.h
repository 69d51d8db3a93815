// SPDX-License-Identifier: Apache-2.0
// NgramModel is a back-off n-gram language model in memory. The ARPA and trie readers fill it, pruning reduces it, and the
// grammar is made from it. Costs are -ln. The cost of word w after history h is cost(h w) if that n-gram is listed. Else it is
// backoff(h) plus the cost of w after h without its first word.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asr {

constexpr uint32_t kNoNgram = 0xffffffffu;

// All n-grams of one length, sorted by history, then word. The history of an n-gram is an entry of the level below.
struct NgramLevel {
  std::vector<uint32_t> word;         // last word
  std::vector<uint32_t> history;      // index in the level below; unigrams: 0
  std::vector<float> cost, backoff;   // cost of the last word given the others; back-off cost of the n-gram as a history
  std::vector<uint32_t> first_child;  // [size + 1]: in the level above, first n-gram with this history

  size_t size() const { return word.size(); }
};

struct NgramModel {
  std::vector<std::string> words;
  std::vector<NgramLevel> levels;  // levels[k]: n-grams of k + 1 words; unigram i is word i

  size_t order() const { return levels.size(); }
  bool is_history(size_t level, uint32_t index) const {
    return level + 1 < levels.size() && levels[level].first_child[index] < levels[level].first_child[index + 1];
  }
  uint32_t find_child(size_t level, uint32_t index, uint32_t word) const;  // index in levels[level + 1], or kNoNgram
  uint32_t find_word(const std::string &word) const;                       // kNoNgram if absent
};

// The position of an n-gram; the empty one has level -1.
struct NgramPlace {
  int level = -1;
  uint32_t index = 0;
};

// Returns the longest listed proper suffix of an n-gram; {} for a unigram.
NgramPlace back_off(const NgramModel &model, NgramPlace ngram);

// Returns -ln p(word | history) by the rule above.
double word_cost(const NgramModel &model, NgramPlace history, uint32_t word);

// Returns whether some history makes the end of a sentence possible. Log-probabilities of -90 and less stand for 0. A model
// without such a history was made for reversed sentences, or without </s>.
bool predicts_end(const NgramModel &model);

// NgramBuilder collects n-grams in any order. finish() sorts them and adds missing histories, with the cost that backing off
// gives and no back-off cost of their own. Repeated n-grams are an error naming `source`.
class NgramBuilder {
 public:
  NgramBuilder(std::vector<std::string> words, size_t order, std::string source);
  void reserve(size_t level, size_t n_ngrams);
  void add(size_t level, const uint32_t *words, float cost, float backoff);
  NgramModel finish();

 private:
  struct Rows {
    std::vector<uint32_t> words;  // [n][level + 1]
    std::vector<float> cost, backoff;
  };
  std::vector<std::string> words_;
  std::vector<Rows> rows_;
  std::string source_;

  void sort_level(size_t level);
  void add_missing_histories(size_t level);
};

}  // namespace asr
