// SPDX-License-Identifier: Apache-2.0
// Alignment cuts the letters and phones of words into joint units. Expectation maximisation over all alignments of every word
// estimates the units' probabilities (docs/g2p.md). Then each word gets its most probable alignment.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace asr {

constexpr uint16_t kNoSymbol = 0xffff;

// A unit has up to one letter and up to two phones, at least one symbol in total. Letters and phones are numbers below
// kNoSymbol, which marks a missing one. Units are ordered by letter, then by phones.
struct G2pUnit {
  uint16_t letter = kNoSymbol;
  std::array<uint16_t, 2> phones{kNoSymbol, kNoSymbol};
};

inline bool operator<(const G2pUnit &a, const G2pUnit &b) {
  return std::tie(a.letter, a.phones) < std::tie(b.letter, b.phones);
}

struct SpelledWord {
  std::vector<uint16_t> letters, phones;
};

struct AlignedWords {
  std::vector<G2pUnit> units;                // sorted; the units of the sequences below
  std::vector<std::vector<uint32_t>> words;  // units of each alignable word; none is empty
  size_t n_left_out = 0;                     // words without an alignment
  std::vector<double> log_likelihoods;       // total over all words, before each iteration; does not decrease
};

// `progress` receives the fraction that is done.
AlignedWords align_words(const std::vector<SpelledWord> &words, const std::function<void(double share)> &progress);

}  // namespace asr
