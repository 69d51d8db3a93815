// SPDX-License-Identifier: Apache-2.0
// Letters and phones of words, cut into joint units. The units' probabilities are estimated by expectation maximisation
// over all ways of cutting every word (docs/g2p.md); then each word gets its most probable way.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <tuple>
#include <vector>

namespace asr {

constexpr uint16_t kNoSymbol = 0xffff;

// Up to one letter and up to two phones, not all missing. Letters and phones are numbers below kNoSymbol, which stands
// for a missing one; the order is that of the letters, and of the phones of a letter.
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
  std::vector<G2pUnit> units;                // sorted; those of the sequences below
  std::vector<std::vector<uint32_t>> words;  // units of each word that has a way; none is empty
  size_t n_left_out = 0;                     // words that have none
  std::vector<double> log_likelihoods;       // of all words before each iteration; does not decrease
};

// `progress` is told the share that is done.
AlignedWords align_words(const std::vector<SpelledWord> &words, const std::function<void(double share)> &progress);

}  // namespace asr
