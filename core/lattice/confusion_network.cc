// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/confusion_network.h"

#include <algorithm>

#include "core/lattice/nbest.h"

namespace asr {
namespace {

// Returns the most frequent entry of every slot, where that is a word.
std::vector<WordPlace> likeliest_words(const ConfusionNetwork &network) {
  std::vector<WordPlace> words;
  for (const std::vector<SlotWord> &slot : network.slots) {
    if (!slot.empty() && slot[0].word != 0) words.push_back({slot[0].word, slot[0].begin, slot[0].end});
  }
  return words;
}

bool same_words(const std::vector<WordPlace> &a, const std::vector<WordPlace> &b) {
  const auto same = [](const WordPlace &x, const WordPlace &y) { return x.word == y.word; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), same);
}

SlotWord find_word(const std::vector<SlotWord> &slot, const WordPlace &place) {
  for (const SlotWord &word : slot) {
    if (word.word == place.word) return word;
  }
  return {place.word, 0, place.begin, place.end};
}

constexpr int kMaxRounds = 20;  // rounds of replacing words; 2 or 3 are usual

}  // namespace

std::vector<WordPlace> best_words(const CompactLattice &lattice, double acoustic_scale) {
  const LatticePath path = best_path(lattice, acoustic_scale);
  std::vector<WordPlace> words;
  for (size_t i = 0; i < path.words.size(); ++i) {
    const double begin = path.word_frames[i];
    if (i > 0) words.back().end = begin;
    words.push_back({path.words[i], begin, std::max(begin, double(path.transition_ids.size()))});
  }
  return words;
}

std::vector<double> word_confidences(const CompactLattice &lattice, const LatticePosteriors &posteriors,
                                     const std::vector<WordPlace> &words, const StopToken &stop) {
  const ConfusionNetwork network = fold_onto(lattice, posteriors, words, stop);
  std::vector<double> confidences;
  for (size_t i = 0; i < words.size(); ++i) confidences.push_back(find_word(network.slots[2 * i + 1], words[i]).posterior);
  return confidences;
}

std::vector<double> word_confidences(const CompactLattice &lattice, const std::vector<WordPlace> &words,
                                     double acoustic_scale) {
  return word_confidences(lattice, lattice_posteriors(lattice, acoustic_scale), words);
}

ConfusionNetwork fold_onto(const CompactLattice &lattice, const std::vector<WordPlace> &words, double acoustic_scale) {
  return fold_onto(lattice, lattice_posteriors(lattice, acoustic_scale), words);
}

MinimumRisk minimum_risk(const CompactLattice &lattice, double acoustic_scale) {
  const LatticePosteriors posteriors = lattice_posteriors(lattice, acoustic_scale);
  std::vector<WordPlace> words = best_words(lattice, acoustic_scale);
  MinimumRisk result;
  result.network = fold_onto(lattice, posteriors, words);
  for (int round = 0; round < kMaxRounds; ++round) {
    std::vector<WordPlace> next_words = likeliest_words(result.network);
    if (same_words(next_words, words)) break;
    ConfusionNetwork network = fold_onto(lattice, posteriors, next_words);
    if (network.expected_errors >= result.network.expected_errors) break;
    words = std::move(next_words);
    result.network = std::move(network);
  }
  for (size_t i = 0; i < words.size(); ++i) result.words.push_back(find_word(result.network.slots[2 * i + 1], words[i]));
  return result;
}

}  // namespace asr
