// SPDX-License-Identifier: Apache-2.0
// FstLm is a language model as a graph of OpenFst over words (G.fst), by which sentences are scored again.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace asr {

class FstLm {
 public:
  // words: words.txt of the graph's output labels. Arcs without one, such as those that back off, are followed without a word.
  FstLm(const std::string &path, const std::string &words);

  // Returns the cost of the cheapest path that has these words; infinity if none has.
  double cost(const uint32_t *words, size_t n_words) const;

 private:
  struct Arc {
    uint32_t word, next;
    float cost;
  };
  struct Place {
    uint32_t state;
    double cost;
  };

  std::vector<uint32_t> first_;  // [states + 1]
  std::vector<Arc> arcs_;        // by state, then word
  std::vector<float> finals_;    // [states]
  uint32_t start_ = 0;

  void follow_epsilons(std::vector<Place> *places) const;
};

}  // namespace asr
