// SPDX-License-Identifier: Apache-2.0
// Word confidences from a lattice. Folding a lattice onto a word sequence gives every path at most one word per slot. The
// confidence of a word is the share of the paths with this word in its slot. The same folding finds the word sequence with the
// fewest expected errors (minimum Bayes risk; H. Xu, D. Povey, L. Mangu and J. Zhu, Minimum Bayes risk decoding and system
// combination based on a recursion for edit distance, 2011). Called by the engine for results and by `senone lattice
// confidence`.
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
  // Slots 1, 3, 5 ... belong to the words onto which the lattice was folded, the slots between to additional words of paths.
  // The words of a slot are sorted by falling posterior, and their posteriors add up to 1.
  std::vector<std::vector<SlotWord>> slots;  // [2 * n_words + 1]
  double expected_errors = 0;  // expected errors of the words against the correct path, by the fold; an upper bound
};

// A word with its time; for words that no path has, the time to search around.
struct WordPlace {
  uint32_t word;
  double begin, end;  // frames
};

// Returns the words of the least costly path. Each lasts to the next one, the last to the end.
std::vector<WordPlace> best_words(const CompactLattice &lattice, double acoustic_scale);

// Folds the lattice onto `words`, which need not be a path of it. Cost and memory grow with arcs times the words within
// kFoldReach frames of an arc; for very dense lattices the reach is reduced.
inline constexpr double kFoldReach = 500;
ConfusionNetwork fold_onto(const CompactLattice &lattice, const LatticePosteriors &posteriors,
                           const std::vector<WordPlace> &words, const StopToken &stop = {});
ConfusionNetwork fold_onto(const CompactLattice &lattice, const std::vector<WordPlace> &words, double acoustic_scale);

// Returns the confidence of each word: the posterior of words[i] in slot 2 * i + 1 of the lattice folded onto the words.
std::vector<double> word_confidences(const CompactLattice &lattice, const LatticePosteriors &posteriors,
                                     const std::vector<WordPlace> &words, const StopToken &stop = {});
std::vector<double> word_confidences(const CompactLattice &lattice, const std::vector<WordPlace> &words, double acoustic_scale);

// Finds the words with the fewest expected errors by alternate folding and replacing, starting from best_words.
struct MinimumRisk {
  std::vector<SlotWord> words;  // words with confidences and times
  ConfusionNetwork network;     // the lattice folded onto the words
};
MinimumRisk minimum_risk(const CompactLattice &lattice, double acoustic_scale);

}  // namespace asr
