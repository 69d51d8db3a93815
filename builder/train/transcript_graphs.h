// SPDX-License-Identifier: Apache-2.0
// From the words of a transcript to the graph of all ways to say them: any of their pronunciations, silence and fillers
// between.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/graph/build.h"

namespace asr::train {

using Transcript = std::vector<std::string>;

// Functions may be called on several threads at once.
class TranscriptGraphs {
 public:
  TranscriptGraphs(const HmmSet &set, Lexicon lexicon, GraphOptions options);  // the set must outlive this

  // Returns the first of the words that has no pronunciation, or "".
  std::string unknown_word(const Transcript &words) const;
  std::string why_unknown(const std::string &word) const;  // such as "'x' has no pronunciation"
  const Lexicon &lexicon() const { return lexicon_; }

  GraphData graph(const Transcript &words) const;

  // Returns the pdfs of the words' first pronunciations, one after another, with silence before and after.
  std::vector<uint32_t> states(const Transcript &words) const;

 private:
  const HmmSet &set_;
  const ContextTable contexts_;
  const Lexicon lexicon_;
  const GraphOptions options_;
};

// Gives every state an equal stretch of the frames, in their order. Training begins with it if no model can align.
// Empty if there are more states than frames.
std::vector<uint32_t> equal_stretches(const std::vector<uint32_t> &states, uint64_t n_frames);

}  // namespace asr::train
