// SPDX-License-Identifier: Apache-2.0
// From the text of a recording to the graph that is searched for its path.
#pragma once

#include <string>
#include <vector>

#include "builder/graph/build.h"

namespace asr {

// Leniency says in what a text may differ from what is said. Costs are in natural log, as those of acoustic scores without a
// scale.
struct Leniency {
  bool allowed = false;
  double skip_cost = 0;     // for a word that is not said
  double foreign_cost = 0;  // for each phone that is said between words and is not in the text
};

constexpr Leniency kDefaultLeniency{false, 40, 30};

// The places where a path through a graph may end.
enum class TextEnd { kLastWord, kAnyWord };

// TextGraphs makes graphs of texts. In each the word id i + 1 is word i of the text. Any pronunciation may be said, with
// silence and fillers between words. If leniency is allowed, words may be left out, and phones of any kind may be said between
// words: they have the model's context-independent HMMs, as in the loop of rejection (phone_loop.h). Functions may be called on
// several threads at once.
class TextGraphs {
 public:
  TextGraphs(const HmmSet &set, GraphOptions options);  // the set must outlive this

  // The lexicon has all words.
  GraphData graph(const std::vector<std::string> &words, const Lexicon &lexicon, const Leniency &leniency,
                  TextEnd end = TextEnd::kLastWord) const;

 private:
  const HmmSet &set_;
  const ContextTable contexts_;
  const GraphOptions options_;
};

}  // namespace asr
