// SPDX-License-Identifier: Apache-2.0
// Phrases that are more likely in one utterance than its graph says. They change the costs of its lattice (asr_boost).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/lattice/rescore.h"

namespace asr {

struct Boost {
  std::vector<std::vector<std::string>> phrases;  // words; none is empty
  double bonus = 0;                               // that each time a phrase is said takes off a path's graph cost
};

using Boosts = std::vector<std::shared_ptr<const Boost>>;

// Phrases of a text, one a line; lines whose first word begins with '#' and empty ones do not count, nor does a byte order
// mark.
std::vector<std::vector<std::string>> boosted_phrases(const std::string &text);

// The automaton of Aho and Corasick (1975) over words: a state is the longest beginning of a phrase that the words before end
// with, and every phrase that ends there gives its bonus, also within and across others.
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
    std::unordered_map<uint32_t, uint32_t> next;  // by word of the phrases
    uint32_t shorter = 0;                         // the longest other beginning that these words end with
    double bonus = 0;                             // of all phrases that end here
  };
  static constexpr uint32_t kNoWord = 0xffffffffu;

  const WordText text_of_;
  std::vector<State> states_;
  std::unordered_map<std::string, uint32_t> number_of_;      // words of the phrases
  std::unordered_map<uint32_t, uint32_t> number_of_symbol_;  // those that were asked for

  uint32_t number_of(uint32_t word);
  uint32_t step(uint32_t state, uint32_t number) const;
  void add(const std::vector<std::string> &phrase, double bonus);
  void link(const StopToken &stop);
};

// The lattice with the boosts in its graph costs: of the paths that it has, those that cost at most lattice_beam more than the
// best. Throws ASR_UNSUPPORTED if it comes to more than kMostBoostedStates states or kMostBoostedArcs arcs before,
// ASR_CANCELLED soon after it is stopped.
CompactLattice boosted(const CompactLattice &lattice, BoostScores *scores, double acoustic_scale, double lattice_beam,
                       const StopToken &stop = {});

}  // namespace asr
