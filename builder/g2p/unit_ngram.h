// SPDX-License-Identifier: Apache-2.0
// UnitNgram is an n-gram model over the units of words, with interpolated Kneser-Ney smoothing and three discounts
// (docs/g2p.md).
#pragma once

#include <cstdint>
#include <vector>

namespace asr {

// Units of every model; units of words have numbers from kFirstUnit. kBegin occurs only in histories.
constexpr uint32_t kBegin = 0, kEnd = 1, kFirstUnit = 2;

// The n-grams form a trie; node 0 is the empty history. The children of node h are first_child[h] ... first_child[h + 1] - 1.
// They extend h by units[child], in the order of the units. Nodes below n_inner() may have children; each has the back-off
// weight of its n-gram as a history. The trie also contains every n-gram without its first unit. All units are children of node
// 0: unit u is node 1 + u.
struct UnitNgram {
  uint32_t order = 0;
  std::vector<uint32_t> first_child;  // [n_inner + 1]
  std::vector<uint32_t> units;        // [n_nodes]; 0 for node 0
  std::vector<double> probability;    // [n_nodes]: probability of the last unit after the others; 0 for kBegin
  std::vector<double> backoff;        // [n_inner]

  uint32_t n_inner() const { return static_cast<uint32_t>(backoff.size()); }
  uint32_t n_nodes() const { return static_cast<uint32_t>(units.size()); }
};

// `words` are sequences of units from kFirstUnit on; every unit occurs.
UnitNgram estimate_ngram(const std::vector<std::vector<uint32_t>> &words, uint32_t order);

// Returns p(unit | history) of the whole model. The history lists the oldest unit first; its last order - 1 units count.
double ngram_probability(const UnitNgram &model, const std::vector<uint32_t> &history, uint32_t unit);

}  // namespace asr
