// SPDX-License-Identifier: Apache-2.0
// Word confidences: what else the lattice could have said where a word is. A lattice is folded onto a word sequence so that
// every path says at most one word in every slot; the share of the paths that say the word of the slot is its confidence.
// Also finds the word sequence with the fewest expected errors (minimum Bayes risk; H. Xu, D. Povey, L. Mangu and J. Zhu,
// Minimum Bayes risk decoding and system combination based on a recursion for edit distance, 2011). Called by the engine for
// results and by `senone lattice confidence`.
#pragma once

#include <vector>

#include "core/lattice/lattice.h"
#include "core/lattice/posteriors.h"

namespace asr {

struct SlotWord {
  uint32_t word;      // 0: no word
  double posterior;   // share of the paths
  double begin, end;  // frames, averaged over these paths; 0 for no word
};

struct ConfusionNetwork {
  // Slots 1, 3, 5 ... belong to the words that the lattice was folded onto, those between to what paths say besides. The
  // words of a slot are sorted by falling posterior, and their posteriors add up to 1.
  std::vector<std::vector<SlotWord>> slots;  // [2 * n_words + 1]
  double expected_errors = 0;                // of the words against the path that is right, by the fold; never too low
};

// A word and where it is; for words that no path has, where to look for others like it.
struct WordPlace {
  uint32_t word;
  double begin, end;  // frames
};

// The words of the least costly path. Each lasts to the next one, the last to the end.
std::vector<WordPlace> best_words(const CompactLattice &lattice, double acoustic_scale);

// The lattice folded onto `words`, which need not be a path of it. Cost and memory grow with arcs times the words that lie
// within kFoldReach frames of an arc; lattices so dense that this takes too much are folded within less.
inline constexpr double kFoldReach = 500;
ConfusionNetwork fold_onto(const CompactLattice &lattice, const LatticePosteriors &posteriors,
                           const std::vector<WordPlace> &words, const StopToken &stop = {});
ConfusionNetwork fold_onto(const CompactLattice &lattice, const std::vector<WordPlace> &words, double acoustic_scale);

// The confidence of each word: the posterior of words[i] in slot 2 * i + 1 of the lattice folded onto them.
std::vector<double> word_confidences(const CompactLattice &lattice, const LatticePosteriors &posteriors,
                                     const std::vector<WordPlace> &words, const StopToken &stop = {});
std::vector<double> word_confidences(const CompactLattice &lattice, const std::vector<WordPlace> &words, double acoustic_scale);

// Words with, as far as folding and replacing words in turns finds them, the fewest expected errors; begins at best_words.
struct MinimumRisk {
  std::vector<SlotWord> words;  // with their confidences and times
  ConfusionNetwork network;     // the lattice folded onto them
};
MinimumRisk minimum_risk(const CompactLattice &lattice, double acoustic_scale);

}  // namespace asr
