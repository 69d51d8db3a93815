// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame: emitting arcs, then epsilon arcs. Costs of all emitting arcs come first, in one pass over the
// active tokens that reads arcs only; it finds the bound. A second pass puts what lies within it into the token list, whose
// random accesses can then be asked for ahead of time.
#include <algorithm>
#include <cstddef>
#include <limits>

#include "core/base/error.h"
#include "plugins/cpu/search.h"

namespace asr::cpu {
namespace {

// How many tokens or candidates ahead memory is asked for.
constexpr size_t kStatesAhead = 32, kArcsAhead = 16, kSlotsAhead = 24;

bool replaces(const Token &candidate, const Token &token) {
  return candidate.cost < token.cost || (candidate.cost == token.cost && candidate.arc < token.arc);
}

// Graph costs of a record's arcs, asked for in their order.
class ArcCosts {
 public:
  explicit ArcCosts(const asr_packed_graph &graph)
      : costs_(graph.costs), pdf_bits_(graph.pdf_bits()), own_code_(graph.own_cost_code()) {}

  void begin(const StateRecord &record) { own_ = record.own_costs(); }
  const float *place_of(uint32_t label) const { return is_own(label) ? own_ : costs_ + code(label); }
  void pass(uint32_t label, bool passed) { own_ += static_cast<ptrdiff_t>(is_own(label) && passed); }
  float next(uint32_t label) {
    const float cost = *place_of(label);
    pass(label, true);
    return cost;
  }
  void skip(const PackedArc *first, const PackedArc *last) {
    for (; first != last; ++first) pass(first->label, true);
  }

 private:
  uint32_t code(uint32_t label) const { return (label & (PackedArc::kToEpsilons - 1)) >> pdf_bits_; }
  bool is_own(uint32_t label) const { return code(label) == own_code_; }

  const float *const costs_;
  const float *own_ = nullptr;
  const unsigned pdf_bits_;
  const uint32_t own_code_;
};

}  // namespace

void Search::expand(SearchScratch &scratch) {
  const std::vector<ActiveToken> &active = scratch.active;
  const asr_packed_graph &graph = graph_.packed();
  const uint32_t pdf_mask = graph_.pdf_mask();
  const float *const acoustic_cost = scratch.acoustic_cost.data();
  const float insertion_cost[2] = {0.0f, options_.word_insertion_cost};
  float best = std::numeric_limits<float>::infinity(), bound = std::numeric_limits<float>::max();
  ArcCosts costs(graph);
  size_t n = 0;
  for (size_t i = 0; i < active.size(); ++i) {
    if (i + kStatesAhead < active.size()) graph_.prefetch_state(active[i + kStatesAhead].state);
    if (i + kArcsAhead < active.size()) prefetch_arcs(active[i + kArcsAhead].state);
    const ActiveToken &token = active[i];
    const StateRecord record = graph_.state(token.state);
    const uint32_t loop_at = (record.header & StateRecord::kLoopMask) - 1;  // 0xffffffff: none
    const uint32_t n_arcs = record.n_emitting + (record.has_loop() ? 1 : 0);
    if (scratch.candidates.size() < n + n_arcs) scratch.candidates.resize(2 * (n + n_arcs));
    Token *const candidates = scratch.candidates.data();
    const StateClass &own = graph.classes[record.state_class];
    const PackedArc loop{token.state, own.pdf | (record.n_epsilon > 0 ? PackedArc::kToEpsilons : 0)};
    const uint32_t first_number = graph.number_of(*record.arcs), loop_number = asr_packed_graph::number_of_loop(token.state);
    costs.begin(record);
    const PackedArc *next = record.arcs;
    for (uint32_t a = 0, number = first_number; a < n_arcs; ++a) {  // without branches: they would be guessed wrong
      const bool is_loop = a == loop_at;
      const PackedArc arc = *(is_loop ? &loop : next);
      const float graph_cost = *(is_loop ? &own.cost : costs.place_of(arc.label));
      const uint32_t arc_number = is_loop ? loop_number : number;
      costs.pass(arc.label, !is_loop);
      next += is_loop ? 0 : 1;
      number += is_loop ? 0 : 2 * sizeof(PackedArc) / sizeof(uint32_t);
      const float cost = (token.cost + (graph_cost + insertion_cost[arc.label >> 31])) + acoustic_cost[arc.label & pdf_mask];
      candidates[n] = {arc.next, cost, arc_number + 1, token.record, arc.label};
      n += cost <= bound ? 1 : 0;
      best = std::min(best, cost);
    }
    bound = std::min(bound, best + options_.beam);  // what is above it now will be above it at the end
    n_arcs_expanded_ += n_arcs;
  }
  scratch.next.best = best;
  scratch.next.bound = bound;
  insert_candidates(scratch, n);
}

// What else of a state than its header is read, which has been asked for.
void Search::prefetch_arcs(uint32_t state) const {
  const uint32_t header = graph_.packed().records[state];
  __builtin_prefetch(graph_.packed().records + state + 2 * (header >> StateRecord::kEmittingAt & StateRecord::kMoreEmitting));
  __builtin_prefetch(graph_.packed().classes + (header >> StateRecord::kClassAt));
}

void Search::insert_candidates(SearchScratch &scratch, size_t n_candidates) const {
  Token *const candidates = scratch.candidates.data();
  SlotTable &slot_of = scratch.slot_of;
  const float bound = scratch.next.bound;
  const bool with_links = lattice_.has_value();
  const ActiveToken *from = scratch.active.data();
  std::vector<Token> &tokens = scratch.next.tokens;
  tokens.clear();
  tokens.reserve(n_candidates);
  slot_of.clear(n_candidates);
  scratch.fallen.clear();
  size_t n_links = 0;
  for (size_t i = 0; i < n_candidates; ++i) {
    if (i + kSlotsAhead < n_candidates) slot_of.prefetch(candidates[i + kSlotsAhead].state);
    const Token &candidate = candidates[i];
    if (!(candidate.cost <= bound)) continue;
    uint32_t &slot = slot_of(candidate.state, tokens);
    if (slot == SlotTable::kNone) {
      slot = static_cast<uint32_t>(tokens.size());
      tokens.push_back(candidate);
      if ((candidate.label & PackedArc::kToEpsilons) != 0) scratch.fallen.push_back(slot);
    } else if (replaces(candidate, tokens[slot])) {
      tokens[slot] = candidate;
    }
    if (with_links) {
      while (from->record != candidate.previous) ++from;
      candidates[n_links++] = {slot, candidate.cost, candidate.arc, from->slot, candidate.label};
    }
  }
  scratch.n_links = n_links;
}

// Follows epsilon arcs in rounds until no cost falls. In a round every token that fell in the round before is expanded with
// the cost and the path it then had. It is recorded, so that later rounds must offer less, not equal, to replace it.
void Search::follow_epsilons(TokenList &list, SearchScratch &scratch) {
  scratch.epsilon_links.clear();
  for (size_t n_rounds = 0; !scratch.fallen.empty(); ++n_rounds) {
    if (n_rounds > list.tokens.size()) {
      fail(ASR_INVALID_ARGUMENT,
           "graph: a cycle of epsilon arcs has a negative cost; correct the graph or word_insertion_cost");
    }
    scratch.round.clear();
    for (const uint32_t slot : scratch.fallen) {
      Token &token = list.tokens[slot];
      const bool leads_on = (token.label & PackedArc::kToEpsilons) != 0;
      list.best = std::min(list.best, token.cost);
      const uint32_t path = record(token);
      if (leads_on) scratch.round.push_back({token.state, token.cost, path, slot});
    }
    scratch.fallen.clear();
    expand_epsilons(list, scratch);
  }
}

void Search::expand_epsilons(TokenList &list, SearchScratch &scratch) {
  std::vector<Token> &tokens = list.tokens;
  const asr_packed_graph &graph = graph_.packed();
  const uint32_t pdf_mask = graph_.pdf_mask();
  ArcCosts costs(graph);
  for (size_t i = 0; i < scratch.round.size(); ++i) {
    if (i + kStatesAhead < scratch.round.size()) graph_.prefetch_state(scratch.round[i + kStatesAhead].state);
    const ActiveToken &from = scratch.round[i];
    const StateRecord record = graph_.state(from.state);
    n_arcs_expanded_ += record.n_epsilon;
    costs.begin(record);
    if ((record.header & StateRecord::kOwnCosts) != 0) costs.skip(record.arcs, record.last_emitting());
    for (const PackedArc *arc = record.last_emitting(); arc != record.last_arc(); ++arc) {
      const float graph_cost = costs.next(arc->label);
      const float cost =
          from.cost + (graph_cost + ((arc->label & PackedArc::kWord) != 0 ? options_.word_insertion_cost : 0.0f));
      if (!(cost <= list.bound)) continue;
      const uint32_t number = graph.number_of(*arc);
      const Token token{arc->next, cost, number + 1, from.record, arc->label};
      scratch.slot_of.make_room(tokens);
      uint32_t &slot = scratch.slot_of(arc->next, tokens);
      if (slot == SlotTable::kNone) {
        slot = static_cast<uint32_t>(tokens.size());
        tokens.push_back(token);
        scratch.fallen.push_back(slot);
      } else {
        const Token &there = tokens[slot];
        const bool fell_before = there.arc != 0 && (there.label & pdf_mask) == graph.n_pdfs;  // in this round
        if (token.cost < there.cost || (fell_before && replaces(token, there))) {             // equal emitting arcs come first
          tokens[slot] = token;
          if (!fell_before) scratch.fallen.push_back(slot);
        }
      }
      if (lattice_) scratch.epsilon_links.push_back({from.slot, slot, number, cost, from.cost});
    }
  }
}

}  // namespace asr::cpu
