// SPDX-License-Identifier: Apache-2.0
// BoostScores makes phrases more likely in one utterance than its graph does. It changes the costs of the utterance's lattice
// (asr_boost).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/lattice/rescore.h"
#include "core/lattice/word_index.h"

namespace asr {

struct Boost {
  std::vector<std::vector<std::string>> phrases;  // lists of words; none is empty
  double bonus = 0;                               // reduction of a path's graph cost for each occurrence of a phrase
};

using Boosts = std::vector<std::shared_ptr<const Boost>>;

// Returns the phrases of a text, one per line. Ignores a byte order mark, empty lines, and lines whose first word begins with
// '#'.
std::vector<std::vector<std::string>> boosted_phrases(const std::string &text);

// The phrases that no path says, because they have words that the graph lacks.
struct UnheardPhrases {
  std::vector<std::vector<std::string>> phrases;
  size_t n_all = 0;                  // phrases with the others
  std::vector<std::string> missing;  // these words, in the order of the phrases

  // "2 of 3 phrases have words that the graph lacks (...), so that they are never heard", with all of the words unless the list
  // is longer than an error message may be.
  std::string what() const;
};

// A boost with the words of a graph.
struct GraphBoost {
  // Phrases with words that the graph lacks are left out, as unheard.
  GraphBoost(const Boost &given, const WordIndex &index);

  Boost boost;  // its words are spelled as the graph spells them
  UnheardPhrases unheard;
};

// The automaton of Aho and Corasick (1975) over words. A state is the longest prefix of a phrase that is a suffix of the
// preceding words. Every phrase that ends there gives its bonus, also inside and across other phrases.
class BoostScores : public WordScores {
 public:
  using WordText = std::function<const std::string &(uint32_t word)>;

  // Throws ASR_CANCELLED soon after it is stopped.
  BoostScores(const Boosts &boosts, WordText text_of, const StopToken &stop = {});

  uint32_t start() override { return 0; }
  double advance(uint32_t state, uint32_t word, uint32_t *next) override;
  double end(uint32_t) override { return 0; }

 private:
  struct State {
    std::unordered_map<uint32_t, uint32_t> next;  // key: number of a phrase word
    uint32_t shorter = 0;                         // the state of the longest shorter prefix that is a suffix of these words
    double bonus = 0;                             // sum over all phrases that end here
  };
  static constexpr uint32_t kNoWord = 0xffffffffu;

  const WordText text_of_;
  std::vector<State> states_;
  std::unordered_map<std::string, uint32_t> number_of_;      // words of the phrases
  std::unordered_map<uint32_t, uint32_t> number_of_symbol_;  // cache of looked-up symbols

  uint32_t number_of(uint32_t word);
  uint32_t step(uint32_t state, uint32_t number) const;
  void add(const std::vector<std::string> &phrase, double bonus);
  void link(const StopToken &stop);
};

// Applies the boosts to the graph costs of a lattice, for paths that cost at most lattice_beam more than the best. Throws
// ASR_UNSUPPORTED beyond kMaxBoostedStates states or kMaxBoostedArcs arcs, ASR_CANCELLED soon after it is stopped.
CompactLattice boosted(const CompactLattice &lattice, BoostScores *scores, double acoustic_scale, double lattice_beam,
                       const StopToken &stop = {});

}  // namespace asr
