// SPDX-License-Identifier: Apache-2.0
// Decodes arcs for results; the search itself reads records only.
#include "core/graph/packed/packed_graph.h"

#include <algorithm>

using namespace asr;

uint64_t asr_packed_graph::units_of(uint32_t place) const {
  const StateRecord record = state(place);
  uint64_t n_extra = 0;
  for (const PackedArc *arc = record.arcs; arc != record.last_arc(); ++arc) {
    n_extra += (arc->label >> 31) + (cost_code(arc->label) == own_cost_code() ? 1 : 0);
  }
  return static_cast<uint64_t>(reinterpret_cast<const uint32_t *>(record.last_arc()) - (records + place)) + n_extra;
}

// Finds the last record that begins at or before the arc, starting at the first record of a block.
uint32_t asr_packed_graph::state_of_arc(uint32_t arc_number) const {
  const uint32_t place = arc_number / 2;
  uint32_t block = place / kBlockUnits;
  while (first_records[block] == kNoRecord || block * kBlockUnits + first_records[block] > place) --block;
  uint32_t at = block * kBlockUnits + first_records[block];
  for (uint64_t next = at + units_of(at); next <= place; next = at + units_of(at)) at = static_cast<uint32_t>(next);
  return at;
}

uint32_t asr_packed_graph::transition_id(uint32_t arc_number) const {
  const OtherId *const end = other_ids + n_other_ids;
  const auto before = [](const OtherId &other, uint32_t number) { return other.arc < number; };
  const OtherId *const other = std::lower_bound(other_ids, end, arc_number, before);
  if (other != end && other->arc == arc_number) return other->transition_id;
  return classes[state(records[arc_number / 2]).state_class].entry_id;
}

asr_graph_arc asr_packed_graph::arc(uint32_t arc_number) const {
  if ((arc_number & 1) != 0) {
    const StateClass &own = classes[state(arc_number / 2).state_class];
    return {arc_number / 2, own.loop_id, 0, own.cost};
  }
  const auto *const arc = reinterpret_cast<const PackedArc *>(records + arc_number / 2);
  asr_graph_arc found{arc->next, 0, 0, 0};
  if ((arc->label & pdf_mask()) != n_pdfs) found.transition_id = transition_id(arc_number);
  const uint32_t code = cost_code(arc->label);
  const bool has_word = (arc->label & PackedArc::kWord) != 0, has_own_cost = code == own_cost_code();
  if (!has_own_cost) found.graph_cost = costs[code];
  if (!has_word && !has_own_cost) return found;
  const StateRecord record = state(state_of_arc(arc_number));
  const float *cost = record.own_costs();
  uint32_t n_words_before = 0;
  size_t n_costs_before = 0, n_own_costs = 0;
  for (const PackedArc *other = record.arcs; other != record.last_arc(); ++other) {
    const bool own = cost_code(other->label) == own_cost_code();
    n_own_costs += own ? 1 : 0;
    if (other >= arc) continue;
    n_costs_before += own ? 1 : 0;
    n_words_before += other->label >> 31;
  }
  if (has_own_cost) memcpy(&found.graph_cost, cost + n_costs_before, sizeof(float));
  if (has_word) memcpy(&found.word, cost + n_own_costs + n_words_before, sizeof(uint32_t));
  return found;
}
