// SPDX-License-Identifier: Apache-2.0
// G2pModel is a grapheme-to-phoneme model as a file stores it (docs/g2p.md). It has the letters and phones of a
// dictionary, the units that join them, and an n-gram model over the units. train_g2p (train.h) makes it, pronounce
// (pronounce.h) uses it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "builder/g2p/alignment.h"
#include "builder/g2p/unit_ngram.h"

namespace asr {

constexpr double kG2pCostsInNat = 1024;  // costs are −ln p in units of 1/1024, at most 65535

struct G2pModel {
  uint32_t order = 0;
  std::vector<uint32_t> letters;    // code points, ascending
  std::vector<std::string> phones;  // ascending
  std::vector<G2pUnit> units;       // [0] and [1] are kBegin and kEnd; the others ascend

  // The trie of UnitNgram, with rounded costs instead of probabilities.
  std::vector<uint32_t> first_child;  // [n_inner + 1]
  std::vector<uint16_t> unit;         // [n_nodes]
  std::vector<uint16_t> cost;         // [n_nodes]
  std::vector<uint16_t> backoff;      // [n_inner]
  std::vector<uint32_t> suffix;       // [n_nodes], not stored in the file: node of the n-gram without its first unit

  uint32_t n_inner() const { return static_cast<uint32_t>(backoff.size()); }
  uint32_t n_nodes() const { return static_cast<uint32_t>(unit.size()); }
  // Returns the first child of a node whose unit is not below this one, or the end of its children.
  uint32_t lower_child(uint32_t node, uint32_t unit) const;
  uint32_t end_child(uint32_t node) const { return node < n_inner() ? first_child[node + 1] : 0; }
  // Returns the model's number of a letter, or kNoSymbol.
  uint16_t letter_number(uint32_t letter) const;

  // Checks all invariants and computes `suffix`; throws naming `source`.
  void complete(const std::string &source);
};

void write_g2p_model(const G2pModel &model, const std::string &path);
G2pModel read_g2p_model(const std::string &path);

}  // namespace asr
