// SPDX-License-Identifier: Apache-2.0
// Tokens of a frame, and the scratch memory of advancing a channel (search*.cc). Tokens are in a flat list; a hash table finds
// the slot of a state's token in the list.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "core/base/page_allocator.h"

namespace asr::cpu {

// Token is the best path into a state. The path ends with arc number arc - 1 after trace record `previous`, or, if arc is 0,
// with record `previous` itself. `label` is that arc's (PackedArc). `state` is an offset in the records (asr_packed_graph).
struct Token {
  uint32_t state;
  float cost;
  uint32_t arc;
  uint32_t previous;
  uint32_t label;

  Token() {}  // leaves the fields as they are, so that a list grows without being written
  Token(uint32_t state, float cost, uint32_t arc, uint32_t previous, uint32_t label)
      : state(state), cost(cost), arc(arc), previous(previous), label(label) {}

  // Sets the fields one by one: a processor stalls if one large read of a temporary follows several small writes to it.
  void set(uint32_t new_state, float new_cost, uint32_t new_arc, uint32_t new_previous, uint32_t new_label) {
    state = new_state;
    cost = new_cost;
    arc = new_arc;
    previous = new_previous;
    label = new_label;
  }
};

// SlotTable finds the slot of a state's token in a list: a hash table with open addressing, at most half full.
class SlotTable {
 public:
  static constexpr uint32_t kNone = 0xffffffffu;

 private:
  struct Entry {
    uint32_t state, slot;
  };

 public:
  // View has the table's address and size by value, so that a loop with other writes does not reload them. Valid until clear().
  class View {
   public:
    void prefetch(uint32_t state) const { __builtin_prefetch(entries_ + first(state)); }
    // Returns the slot of `state`. A slot that is kNone belongs to a new state and must be set at once.
    uint32_t &operator[](uint32_t state) const {
      size_t at = first(state);
      while (entries_[at].state != state && entries_[at].slot != kNone) at = (at + 1) & mask_;
      entries_[at].state = state;
      return entries_[at].slot;
    }

   private:
    friend class SlotTable;
    size_t first(uint32_t state) const { return state * 0x9e3779b97f4a7c15u >> shift_; }

    Entry *entries_ = nullptr;
    size_t mask_ = 0;
    unsigned shift_ = 0;
  };

  // Forgets all states and sets the capacity to n tokens.
  void clear(size_t n) {
    size_t size = 1024;
    while (size < 2 * n) size *= 2;
    if (entries_.size() < size) entries_.resize(size);
    view_.entries_ = entries_.data();
    view_.mask_ = size - 1;
    view_.shift_ = 64 - static_cast<unsigned>(__builtin_ctzll(size));
    std::memset(entries_.data(), 0xff, size * sizeof(Entry));  // every slot is kNone
  }
  const View &view() const { return view_; }
  uint32_t &operator[](uint32_t state) { return view_[state]; }
  // Raises the capacity by n tokens. `tokens` are all the tokens in the table.
  void make_room(const PagedVector<Token> &tokens, size_t n) {
    if (2 * (tokens.size() + n) <= view_.mask_ + 1) return;
    clear(2 * (tokens.size() + n));
    for (uint32_t slot = 0; slot < tokens.size(); ++slot) (*this)[tokens[slot].state] = slot;
  }

 private:
  PagedVector<Entry> entries_;
  View view_;
};

struct TokenList {
  PagedVector<Token> tokens;
  float best = 0;   // the least cost
  float bound = 0;  // no token is above it
};

// ActiveToken is a token to expand: its cost (relative to the best token's for emitting arcs), its path, and its slot in the
// list.
struct ActiveToken {
  uint32_t state;
  float cost;
  uint32_t record;
  uint32_t slot;

  // See Token::set.
  void set(uint32_t new_state, float new_cost, uint32_t new_record, uint32_t new_slot) {
    state = new_state;
    cost = new_cost;
    record = new_record;
    slot = new_slot;
  }
};

// EpsilonLink is an epsilon arc that was followed while its source's cost was source_cost.
struct EpsilonLink {
  uint32_t source, destination;
  uint32_t arc;
  float cost, source_cost;
};

class AskedRows;

// SearchScratch is the memory with which one thread advances any channel of a graph. Between frames only the capacities, and
// the last 0 of `loglike`, have to be kept.
struct SearchScratch {
  SlotTable slot_of;  // in `next`
  TokenList next;
  PagedVector<uint32_t> within;  // slots of the tokens that are selected
  std::vector<uint32_t> histogram;
  PagedVector<uint64_t> keys;
  PagedVector<ActiveToken> active;
  // Candidates of emitting arcs, one for each arc within the bound. insert_candidates() turns the first n_links into the
  // frame's emitting links if there is a lattice. A link has the slot of its destination as `state` and that of its source as
  // `previous`.
  PagedVector<Token> candidates;
  size_t n_links;
  PagedVector<uint32_t> fallen;  // slots of tokens whose cost fell in the last round of epsilon arcs
  PagedVector<ActiveToken> round;
  std::vector<float> loglike;        // [n_pdfs + 1], the last 0, for epsilon arcs
  std::vector<float> acoustic_cost;  // [n_pdfs]
  AskedRows *asked = nullptr;        // scores pdfs of this frame of a tile on demand; nullptr: all are scored
  uint32_t frame = 0;
  PagedVector<EpsilonLink> epsilon_links;  // if there is to be a lattice
};

}  // namespace asr::cpu
