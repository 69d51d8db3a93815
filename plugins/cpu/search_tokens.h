// SPDX-License-Identifier: Apache-2.0
// Tokens of a frame and the working memory of advancing one (search*.cc). Tokens live in a flat list; the slot of a state is
// found by a table that is never cleared: an entry counts only if the token it points at is of that state.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/common/mapped_array.h"

namespace asr::cpu {

// An arc as the search reads it; its index is that of the graph's arc. The label holds the pdf (n_pdfs for an epsilon arc)
// and two flags.
struct SearchArc {
  static constexpr uint32_t kWord = 1u << 31;     // the arc has a word
  static constexpr uint32_t kEpsilon = 1u << 30;  // next_state has epsilon arcs
  static constexpr uint32_t kPdfMask = kEpsilon - 1;

  uint32_t next_state;
  uint32_t label;
  float graph_cost;
};

// The best path into a state. It ends with arc number arc - 1 after trace record `previous`, or, if arc is 0, with record
// `previous` itself. label is that arc's.
struct Token {
  uint32_t state;
  float cost;
  uint32_t arc;
  uint32_t previous;
  uint32_t label;
};

struct TokenList {
  std::vector<Token> tokens;
  float best = 0;   // the least cost
  float bound = 0;  // no token is above it
};

// A token that is expanded: its cost, relative to the best one's for emitting arcs, its path, and where it is in its list.
struct ActiveToken {
  uint32_t state;
  float cost;
  uint32_t record;
  uint32_t slot;
};

// An epsilon arc that was followed when its source cost source_cost.
struct EpsilonLink {
  uint32_t source, destination;
  uint32_t arc;
  float cost, source_cost;
};

// What one thread needs to advance any channel of a graph. Holds nothing between frames.
struct SearchScratch {
  MappedArray<uint32_t> slot_of;  // [n_states]
  TokenList next;
  std::vector<uint32_t> within;  // slots of the tokens that are selected
  std::vector<uint32_t> histogram;
  std::vector<uint64_t> keys;
  std::vector<ActiveToken> active;
  // What emitting arcs lead to, a state as often as arcs lead there. If there is to be a lattice, the first n_links are then
  // its emitting links: tokens with the destination's slot for the state and the source's for what comes before.
  std::vector<Token> candidates;
  size_t n_links;
  std::vector<uint32_t> fallen;  // slots of tokens whose cost fell in the last round of epsilon arcs
  std::vector<ActiveToken> round;
  std::vector<float> loglike;              // [n_pdfs + 1], the last 0, for epsilon arcs
  std::vector<float> acoustic_cost;        // [n_pdfs]
  std::vector<EpsilonLink> epsilon_links;  // if there is to be a lattice
};

}  // namespace asr::cpu
