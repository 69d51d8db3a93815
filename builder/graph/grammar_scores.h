// SPDX-License-Identifier: Apache-2.0
// A grammar as scores for rescoring lattices. Called by `senone lattice rescore`.
#pragma once

#include <map>
#include <string>
#include <unordered_map>
#include <vector>

#include "builder/graph/grammar.h"
#include "core/lattice/rescore.h"

namespace asr {

// The cost of a word sequence is that of the grammar's cheapest path, which is what it costs in a decoding graph made of the
// grammar: backing off is also allowed where the longer n-gram is listed. A state is a set of grammar states with what each
// costs more than the cheapest one; states that another one reaches by backing off at no higher cost are left out, so for
// n-gram models the set mostly is one state.
class GrammarScores : public WordScores {
 public:
  // Words here are numbers in `symbols`. Those that the grammar lacks cost nothing and lead nowhere, if `ignored` says so;
  // other ones cannot follow.
  GrammarScores(Grammar grammar, const std::vector<std::string> &symbols, const std::vector<bool> &ignored);

  uint32_t start() override;
  double advance(uint32_t state, uint32_t word, uint32_t *next) override;
  double end(uint32_t state) override;

 private:
  using Set = std::map<uint32_t, double>;  // grammar states, and what they cost more than the cheapest

  Grammar grammar_;
  std::vector<uint32_t> word_of_;  // [symbols]: the grammar's word; 0: none
  std::vector<bool> ignored_;
  std::vector<Set> sets_;
  std::map<Set, uint32_t> number_of_;

  Set with_back_offs(const Set &set) const;
  double add(Set set, uint32_t *state);
};

}  // namespace asr
