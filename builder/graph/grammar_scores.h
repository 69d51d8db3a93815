// SPDX-License-Identifier: Apache-2.0
// GrammarScores scores lattices with a grammar, for rescoring. Called by `senone lattice rescore`.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "builder/graph/grammar.h"
#include "core/lattice/rescore.h"

namespace asr {

// A word sequence costs as much as the grammar's cheapest path. This is also its cost in a decoding graph made of the grammar,
// where backing off is allowed even if the longer n-gram is listed. A state is a set of grammar states with their costs above
// the cheapest one. It omits states that another one reaches by backing off at no higher cost, so for n-gram models most sets
// have one state.
class GrammarScores : public WordScores {
 public:
  // Words here are numbers in `symbols`. Words that the grammar lacks cost nothing and keep the state if `ignored` says so;
  // others cannot follow.
  GrammarScores(Grammar grammar, const std::vector<std::string> &symbols, const std::vector<bool> &ignored);

  uint32_t start() override;
  double advance(uint32_t state, uint32_t word, uint32_t *next) override;
  double end(uint32_t state) override;

 private:
  using Set = std::map<uint32_t, double>;  // grammar state -> cost above the cheapest

  Grammar grammar_;
  std::vector<uint32_t> word_of_;  // [symbols]: word of the grammar; 0: none
  std::vector<bool> ignored_;
  std::vector<Set> sets_;
  std::map<Set, uint32_t> number_of_;

  Set with_back_offs(const Set &set) const;
  double add(const Set &set, uint32_t *state);
};

}  // namespace asr
