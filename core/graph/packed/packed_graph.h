// SPDX-License-Identifier: Apache-2.0
// asr_packed_graph is a decoding graph as graph.bin stores it; the CPU search reads it in place (docs/graph-file.md). It has
// one record per state, with all of the state's arcs. The offset of its record names a state, so no index table is needed;
// offsets are in the order of state numbers. A state's class implies its self-loop. Other arcs have the transition-id of the
// state they enter, except those in a list.
#pragma once

#include <cstdint>
#include <cstring>
#include <limits>

#include "core/backend/asr_backend.h"

namespace asr {

// Transition-ids of a state: entry_id of arcs that enter it and, unless 0, loop_id of its self-loop.
struct StateClass {
  uint32_t pdf;  // pdf of loop_id
  float cost;    // cost of the self-loop
  uint32_t loop_id;
  uint32_t entry_id;
};
static_assert(sizeof(StateClass) == 16);

// An exception: a transition-id that differs from the entry_id of the state entered.
struct OtherId {
  uint32_t arc, transition_id;
};
static_assert(sizeof(OtherId) == 8);

// An arc in a record. Its label has a flag for a word, and a flag for a next state with epsilon arcs. The code of the
// cost is above pdf_bits bits. These low bits hold the pdf, or n_pdfs for an epsilon arc.
struct PackedArc {
  static constexpr uint32_t kWord = 1u << 31, kToEpsilons = 1u << 30;
  uint32_t next, label;
};
static_assert(sizeof(PackedArc) == 8);

// A decoded record. In the file it begins with the header, and the counts and class number that do not fit into it. The
// final cost of a final state and the arcs follow. Then come a cost for every arc with the code for costs outside the
// table, and a word for every arc with a word.
struct StateRecord {
  static constexpr uint32_t kLoopMask = 31;  // 0: no self-loop, else 1 + the number of emitting arcs before it
  static constexpr uint32_t kFinal = 1u << 5, kOwnCosts = 1u << 6, kEnteredByEpsilon = 1u << 7;
  static constexpr unsigned kEmittingAt = 8, kEpsilonAt = 13, kClassAt = 16;
  static constexpr uint32_t kMoreEmitting = 31, kMoreEpsilon = 7, kMoreClasses = 0xffff;  // the number follows the header

  uint32_t header, n_emitting, n_epsilon, state_class;
  float final_cost;  // infinite: not final
  const PackedArc *arcs;

  explicit StateRecord(const uint32_t *at)
      : header(*at++),
        n_emitting(header >> kEmittingAt & kMoreEmitting),
        n_epsilon(header >> kEpsilonAt & kMoreEpsilon),
        state_class(header >> kClassAt),
        final_cost(std::numeric_limits<float>::infinity()) {
    if (n_emitting == kMoreEmitting) n_emitting = *at++;
    if (n_epsilon == kMoreEpsilon) n_epsilon = *at++;
    if (state_class == kMoreClasses) state_class = *at++;
    if ((header & kFinal) != 0) memcpy(&final_cost, at++, sizeof(final_cost));
    arcs = reinterpret_cast<const PackedArc *>(at);
  }
  bool has_loop() const { return (header & kLoopMask) != 0; }
  uint32_t n_before_loop() const { return has_loop() ? (header & kLoopMask) - 1 : 0; }  // in emitting arcs
  bool has_own_costs() const { return (header & kOwnCosts) != 0; }
  // Calls call(arc) for the emitting arcs of the record, and loop() at the position of the self-loop.
  template <typename Call, typename Loop>
  void for_each_emitting(Call call, Loop loop) const {
    const PackedArc *arc = arcs;
    if (has_loop()) {
      for (const PackedArc *const end = arcs + n_before_loop(); arc != end; ++arc) call(*arc);
      loop();
    }
    for (const PackedArc *const end = last_emitting(); arc != end; ++arc) call(*arc);
  }
  uint64_t n_arcs() const { return uint64_t{n_emitting} + n_epsilon; }  // without the self-loop
  const PackedArc *last_emitting() const { return arcs + n_emitting; }
  const PackedArc *last_arc() const { return arcs + n_arcs(); }
  const float *own_costs() const { return reinterpret_cast<const float *>(last_arc()); }
};

}  // namespace asr

// asr_graph_view::packed.
struct asr_packed_graph {
  uint32_t n_states, start_state, n_transition_ids, n_pdfs, n_words;
  uint64_t n_arcs, n_emitting_arcs;  // including self-loops
  uint32_t n_units;                  // units of 4 bytes in all records
  uint32_t n_costs, n_classes, n_other_ids;
  const float *costs;              // [n_costs], frequent ones first
  const asr::StateClass *classes;  // [n_classes]
  const asr::OtherId *other_ids;   // [n_other_ids], sorted by arc
  const uint8_t *first_records;    // [n_blocks()]: offset of the first record in the block; kNoRecord: none begins there
  const uint32_t *records;         // [n_units]
  const uint32_t *pdf_of;          // [n_transition_ids + 1]

  static constexpr uint32_t kBlockUnits = 64;
  static constexpr uint8_t kNoRecord = 0xff;
  static uint64_t n_blocks(uint64_t n_units) { return (n_units + kBlockUnits - 1) / kBlockUnits; }

  // Layout of labels.
  unsigned pdf_bits() const { return n_pdfs == 0 ? 0 : 32 - static_cast<unsigned>(__builtin_clz(n_pdfs)); }
  uint32_t pdf_mask() const { return (1u << pdf_bits()) - 1; }
  uint32_t own_cost_code() const { return (asr::PackedArc::kToEpsilons - 1) >> pdf_bits(); }
  uint32_t cost_code(uint32_t label) const { return (label & (asr::PackedArc::kToEpsilons - 1)) >> pdf_bits(); }

  // An arc's number is twice its offset in `records`; for a self-loop it is twice the state's offset plus 1. Numbers of arcs
  // into one state are in the order of graph.arcs (docs/search.md), separately for emitting and epsilon arcs.
  static uint32_t number_of_loop(uint32_t state) { return 2 * state + 1; }
  static bool is_loop(uint32_t arc_number) { return (arc_number & 1) != 0; }
  uint32_t number_of(const asr::PackedArc &arc) const {
    return 2 * static_cast<uint32_t>(reinterpret_cast<const uint32_t *>(&arc) - records);
  }
  uint32_t next_state(uint32_t arc_number) const { return is_loop(arc_number) ? arc_number / 2 : records[arc_number / 2]; }
  asr::StateRecord state(uint32_t place) const { return asr::StateRecord(records + place); }
  uint64_t units_of(uint32_t place) const;
  uint32_t transition_id(uint32_t arc_number) const;  // for emitting arcs except implied self-loops
  asr_graph_arc arc(uint32_t arc_number) const;       // next_state is an offset

 private:
  uint32_t state_of_arc(uint32_t arc_number) const;
};
