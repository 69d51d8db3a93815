// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/confusion_network.h"

#include <algorithm>
#include <limits>

namespace asr {
namespace {

// The word of every slot that most paths say, where that is a word.
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

constexpr int kMostRounds = 20;  // of replacing words; 2 or 3 are usual

}  // namespace

std::vector<WordPlace> best_words(const CompactLattice &lattice, double acoustic_scale) {
  constexpr uint64_t kNoArc = std::numeric_limits<uint64_t>::max();
  std::vector<double> costs(lattice.n_states(), kNoEnd.graph);
  std::vector<uint64_t> arc_of(lattice.n_states(), kNoArc);
  for (uint32_t s = lattice.n_states(); s-- > 0;) {
    if (is_end(lattice.ends[s].cost)) costs[s] = lattice.ends[s].cost.total(acoustic_scale);
    for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) {
      const double cost = lattice.arcs[a].cost.total(acoustic_scale) + costs[lattice.arcs[a].next_state];
      if (cost < costs[s]) costs[s] = cost, arc_of[s] = a;
    }
  }
  std::vector<WordPlace> words;
  for (uint32_t s = 0; s < lattice.n_states() && arc_of[s] != kNoArc; s = lattice.arcs[arc_of[s]].next_state) {
    const CompactArc &arc = lattice.arcs[arc_of[s]];
    if (arc.word != 0) words.push_back({arc.word, double(lattice.frames[s]), double(lattice.frames[arc.next_state])});
  }
  return words;
}

std::vector<double> word_confidences(const CompactLattice &lattice, const std::vector<WordPlace> &words,
                                     double acoustic_scale) {
  const ConfusionNetwork network = fold_onto(lattice, words, acoustic_scale);
  std::vector<double> confidences;
  for (size_t i = 0; i < words.size(); ++i) confidences.push_back(find_word(network.slots[2 * i + 1], words[i]).posterior);
  return confidences;
}

MinimumRisk minimum_risk(const CompactLattice &lattice, double acoustic_scale) {
  std::vector<WordPlace> words = best_words(lattice, acoustic_scale);
  MinimumRisk result;
  result.network = fold_onto(lattice, words, acoustic_scale);
  for (int round = 0; round < kMostRounds; ++round) {
    std::vector<WordPlace> next_words = likeliest_words(result.network);
    if (same_words(next_words, words)) break;
    ConfusionNetwork network = fold_onto(lattice, next_words, acoustic_scale);
    if (network.expected_errors >= result.network.expected_errors) break;
    words = std::move(next_words);
    result.network = std::move(network);
  }
  for (size_t i = 0; i < words.size(); ++i) result.words.push_back(find_word(result.network.slots[2 * i + 1], words[i]));
  return result;
}

}  // namespace asr
