// SPDX-License-Identifier: Apache-2.0
// One pass takes every record apart and notes where records begin and where arcs lead; then the two are compared as a whole.
#include "core/graph/packed/check.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/graph/packed/marked_places.h"

namespace asr {
namespace {

bool is_finite(float cost) { return std::abs(cost) <= std::numeric_limits<float>::max(); }

class Checker {
 public:
  Checker(const asr_packed_graph &graph, const std::string &path)
      : graph_(graph),
        path_(path),
        pdf_mask_(graph.pdf_mask()),
        pdf_bits_(graph.pdf_bits()),
        own_cost_(graph.own_cost_code()),
        states_(graph.n_units + size_t{1}),
        after_epsilon_(graph.n_units + size_t{1}),
        next_states_(graph.n_units + size_t{1}),
        after_epsilon_arcs_(graph.n_units + size_t{1}) {}

  void run() {
    tables();
    records();
    destinations();
  }

 private:
  const asr_packed_graph &graph_;
  const std::string &path_;
  const uint32_t pdf_mask_;
  const unsigned pdf_bits_;
  const uint32_t own_cost_;
  MarkedPlaces states_, after_epsilon_;            // where records begin; of those that say that epsilon arcs enter
  MarkedPlaces next_states_, after_epsilon_arcs_;  // where arcs lead; where epsilon arcs do

  [[noreturn]] void bad(const char *field, uint64_t index, const char *what) const {
    fail(ASR_BAD_FILE, "%s: %s[%llu]: %s; the file is damaged, make the graph again", path_.c_str(), field,
         static_cast<unsigned long long>(index), what);
  }

  void tables() const {
    if (graph_.n_costs > own_cost_) bad("header", 0, "n_costs is out of range");
    for (uint32_t i = 0; i < graph_.n_costs; ++i) {
      if (!is_finite(graph_.costs[i])) bad("costs", i, "is not finite");
    }
    const uint32_t least_id = graph_.n_transition_ids > 0 ? 1 : 0;
    for (uint32_t i = 0; i < graph_.n_classes; ++i) {
      const StateClass &own = graph_.classes[i];
      if (own.entry_id < least_id || own.entry_id > graph_.n_transition_ids) bad("classes", i, "entry_id is out of range");
      if (own.loop_id > graph_.n_transition_ids) bad("classes", i, "loop_id is out of range");
      if (own.pdf != (own.loop_id != 0 ? graph_.pdf_of[own.loop_id] : 0)) bad("classes", i, "pdf is not that of loop_id");
      if (!is_finite(own.cost)) bad("classes", i, "cost is not finite");
    }
    for (uint32_t i = 0; i < graph_.n_other_ids; ++i) {
      const OtherId &other = graph_.other_ids[i];
      if (i > 0 && other.arc <= graph_.other_ids[i - 1].arc) bad("other_ids", i, "arc is not above the one before");
      if (other.transition_id - 1 >= graph_.n_transition_ids) bad("other_ids", i, "transition_id is out of range");
    }
  }

  struct Counts {
    uint64_t arcs = 0, emitting = 0;
  };

  void records() {
    uint64_t place = 0, n_states = 0;
    Counts counts;
    uint64_t block = 0;  // whose first record is to come
    while (place < graph_.n_units) {
      for (; block <= place / asr_packed_graph::kBlockUnits; ++block) {
        const bool here = block == place / asr_packed_graph::kBlockUnits;
        const uint64_t want = here ? place % asr_packed_graph::kBlockUnits : asr_packed_graph::kNoRecord;
        if (graph_.first_records[block] != want) bad("first_records", block, "is not where a record begins");
      }
      states_.mark(static_cast<uint32_t>(place));
      place += record(static_cast<uint32_t>(place), &counts);
      ++n_states;
    }
    for (; block < asr_packed_graph::n_blocks(graph_.n_units); ++block) {
      if (graph_.first_records[block] != asr_packed_graph::kNoRecord)
        bad("first_records", block, "is not where a record begins");
    }
    if (n_states != graph_.n_states) bad("header", 0, "n_states is not the number of records");
    if (counts.arcs != graph_.n_arcs) bad("header", 0, "n_arcs is not the number of arcs");
    if (counts.emitting != graph_.n_emitting_arcs) bad("header", 0, "n_emitting_arcs is not the number of emitting arcs");
  }

  // Returns the length of the record.
  uint64_t record(uint32_t place, Counts *counts) {
    const uint64_t n_left = graph_.n_units - place;
    const uint32_t header = graph_.records[place];
    const uint64_t n_fixed = 1 + is_more(header >> StateRecord::kEmittingAt, StateRecord::kMoreEmitting) +
                             is_more(header >> StateRecord::kEpsilonAt, StateRecord::kMoreEpsilon) +
                             is_more(header >> StateRecord::kClassAt, StateRecord::kMoreClasses) +
                             ((header & StateRecord::kFinal) != 0 ? 1 : 0);
    if (n_fixed > n_left) bad("records", place, "ends beyond the last record");
    const StateRecord state = graph_.state(place);
    if (state.n_arcs() > (n_left - n_fixed) / 2) bad("records", place, "has more arcs than there is room");
    if (state.state_class >= graph_.n_classes) bad("records", place, "class is not one of the classes");
    const bool has_loop = state.has_loop();
    if ((header & StateRecord::kLoopMask) > state.n_emitting + 1)
      bad("records", place, "self-loop has no place among the arcs");
    if (has_loop && graph_.classes[state.state_class].loop_id == 0) bad("records", place, "class has no self-loop");
    if ((header & StateRecord::kFinal) != 0 && !is_finite(state.final_cost)) bad("records", place, "final cost is not finite");
    if ((header & StateRecord::kEnteredByEpsilon) != 0) after_epsilon_.mark(place);
    counts->emitting += state.n_emitting + (has_loop ? 1 : 0);
    counts->arcs += state.n_arcs() + (has_loop ? 1 : 0);
    return n_fixed + 2 * state.n_arcs() + rest(place, state, n_left - n_fixed - 2 * state.n_arcs());
  }

  static uint64_t is_more(uint32_t field, uint32_t more) { return (field & more) == more ? 1 : 0; }

  // Arcs, and the costs and words that follow them. Returns how many these are.
  uint64_t rest(uint32_t place, const StateRecord &state, uint64_t n_left) {
    const uint32_t n_units = graph_.n_units, n_pdfs = graph_.n_pdfs, n_codes = graph_.n_costs;
    uint64_t n_costs = 0, n_words = 0;
    uint32_t wrong = 0;  // looked at once for all arcs
    const auto look = [&](const PackedArc &arc) {
      const uint32_t code = (arc.label & (PackedArc::kToEpsilons - 1)) >> pdf_bits_;
      const uint32_t own = code == own_cost_ ? 1 : 0;
      wrong |= static_cast<uint32_t>(arc.next >= n_units) | (static_cast<uint32_t>(code >= n_codes) & ~own);
      n_costs += own;
      n_words += arc.label >> 31;
      return std::min(arc.next, n_units);
    };
    const PackedArc *arc = state.arcs;
    for (const PackedArc *const end = state.last_emitting(); arc != end; ++arc) {
      wrong |= static_cast<uint32_t>((arc->label & pdf_mask_) >= n_pdfs);
      next_states_.mark(look(*arc));
    }
    for (const PackedArc *const end = state.last_arc(); arc != end; ++arc) {
      wrong |= static_cast<uint32_t>((arc->label & pdf_mask_) != n_pdfs);
      after_epsilon_arcs_.mark(look(*arc));
    }
    if (wrong != 0) name_bad_arc(place, state);
    if (state.n_emitting > 0 && graph_.n_transition_ids == 0)
      bad("records", place, "has an emitting arc without a transition-id");
    if ((n_costs != 0) != ((state.header & StateRecord::kOwnCosts) != 0)) {
      bad("records", place, "header does not tell whether costs follow");
    }
    if (n_costs + n_words > n_left) bad("records", place, "ends beyond the last record");
    const float *const costs = state.own_costs();
    for (uint64_t i = 0; i < n_costs; ++i) {
      if (!is_finite(costs[i])) bad("records", place, "graph_cost is not finite");
    }
    const auto *const words = reinterpret_cast<const uint32_t *>(costs + n_costs);
    for (uint64_t i = 0; i < n_words; ++i) {
      if (words[i] == 0 || words[i] >= graph_.n_words) bad("records", place, "word of an arc is 0 or not below n_words");
    }
    return n_costs + n_words;
  }

  void name_bad_arc(uint32_t place, const StateRecord &state) const {
    for (const PackedArc *arc = state.arcs; arc != state.last_arc(); ++arc) {
      const uint32_t pdf = arc->label & pdf_mask_, code = graph_.cost_code(arc->label);
      if (arc->next >= graph_.n_units) bad("records", place, "next_state is not a state");
      if (code >= graph_.n_costs && code != own_cost_) bad("records", place, "cost of an arc is not one of the costs");
      const bool emitting = arc < state.last_emitting();
      if (emitting ? pdf >= graph_.n_pdfs : pdf != graph_.n_pdfs) bad("records", place, "pdf of an arc is out of range");
    }
  }

  void destinations() const {
    if (graph_.start_state >= graph_.n_units || !states_.contains(graph_.start_state)) {
      bad("header", 0, "start_state is not a state");
    }
    if (next_states_.within(states_) && after_epsilon_arcs_.within(after_epsilon_)) return;
    for (uint64_t place = 0; place < graph_.n_units; place += graph_.units_of(static_cast<uint32_t>(place))) {
      const StateRecord state = graph_.state(static_cast<uint32_t>(place));
      for (const PackedArc *arc = state.arcs; arc != state.last_arc(); ++arc) {
        if (!states_.contains(arc->next)) bad("records", place, "next_state is not a state");
        if (arc >= state.last_emitting() && !after_epsilon_.contains(arc->next)) {
          bad("records", place, "next_state does not tell that epsilon arcs enter it");
        }
      }
    }
  }
};

}  // namespace

void check_packed_graph(const asr_packed_graph &graph, const std::string &path) { Checker(graph, path).run(); }

}  // namespace asr
