// SPDX-License-Identifier: Apache-2.0
// An n-gram model over the units of words, by interpolated Kneser-Ney smoothing with three discounts (docs/g2p.md).
#pragma once

#include <cstdint>
#include <vector>

namespace asr {

// Units of every model; those of words have numbers from kFirstUnit. kBegin is only ever a history.
constexpr uint32_t kBegin = 0, kEnd = 1, kFirstUnit = 2;

// The n-grams as a trie: node 0 is the empty history, the children of node h are first_child[h] ... first_child[h + 1]
// - 1, the n-grams that go on with units[child], in the order of the units. Nodes below n_inner() may have children;
// each has the back-off weight of its n-gram as a history. Every n-gram without its first unit is there too, and all
// units are children of node 0: unit u is node 1 + u.
struct UnitNgram {
  uint32_t order = 0;
  std::vector<uint32_t> first_child;  // [n_inner + 1]
  std::vector<uint32_t> units;        // [n_nodes]; of node 0: 0
  std::vector<double> probability;    // [n_nodes]: of the unit after the n-gram's other units; of kBegin: 0
  std::vector<double> backoff;        // [n_inner]

  uint32_t n_inner() const { return static_cast<uint32_t>(backoff.size()); }
  uint32_t n_nodes() const { return static_cast<uint32_t>(units.size()); }
};

// `words`: units from kFirstUnit on, each of which occurs.
UnitNgram estimate_ngram(const std::vector<std::vector<uint32_t>> &words, uint32_t order);

// p(unit | history) of the whole model: units of the history from the oldest on, of which order - 1 count.
double ngram_probability(const UnitNgram &model, const std::vector<uint32_t> &history, uint32_t unit);

}  // namespace asr
