// SPDX-License-Identifier: Apache-2.0
// Tokens of a frame and the working memory of advancing one (search.cc). Tokens live in a flat list; the slot of a state is
// found by a table that is never cleared: an entry counts only if the token it points at is of that state.
#pragma once

#include <cstdint>
#include <vector>

namespace asr::cpu {

// The best path into a state. It ends with arc number arc - 1 after trace record `previous`, or, if arc is 0, with record
// `previous` itself.
struct Token {
  uint32_t state;
  float cost;
  uint32_t arc;
  uint32_t previous;
};

// Tokens above `bound` are left over from before the bound had fallen to its last value; they do not count.
struct TokenList {
  std::vector<Token> tokens;
  float best = 0, bound = 0;
};

// A token that is expanded: its cost relative to the best one's, and its path.
struct ActiveToken {
  uint32_t state;
  float cost;
  uint32_t record;
};

// What one thread needs to advance any channel of a graph. Holds nothing between frames.
struct SearchScratch {
  std::vector<uint32_t> slot_of;  // [n_states]
  TokenList next;
  std::vector<ActiveToken> active;
  std::vector<uint32_t> within;  // slots of tokens within the beam
  std::vector<uint32_t> histogram;
  std::vector<uint64_t> keys;
  std::vector<uint32_t> frontier;  // slots of tokens whose epsilon arcs are to be followed
  std::vector<ActiveToken> round;
  std::vector<float> loglike, acoustic_cost;  // [n_pdfs]
};

}  // namespace asr::cpu
