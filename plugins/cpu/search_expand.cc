// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame: emitting arcs, then epsilon arcs. A first pass over the active tokens reads arcs only, computes the
// costs of all emitting arcs and finds the bound. A second pass puts the candidates within the bound into the token list. Its
// random accesses are prefetched.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>

#include "core/base/error.h"
#include "plugins/cpu/search.h"

namespace asr::cpu {
namespace {

constexpr float kInfinite = std::numeric_limits<float>::infinity();
// Prefetch distances, in tokens or candidates.
constexpr size_t kStatesAhead = 32, kArcsAhead = 16, kSlotsAhead = 24;

bool replaces(float cost, uint32_t arc, const Token &token) {
  return cost < token.cost || (cost == token.cost && arc < token.arc);
}

// ArcCosts reads the graph costs of arcs. Most records have all their costs in the table; a record with own costs has them in
// the order of its arcs. The processor cannot predict which of the two holds the next cost, so the address is computed without
// a branch.
class ArcCosts {
 public:
  explicit ArcCosts(const asr_packed_graph &graph)
      : table_(graph.costs), pdf_bits_(graph.pdf_bits()), own_code_(graph.own_cost_code()) {}

  float in_table(uint32_t label) const { return table_[code_of(label)]; }

  void begin(const StateRecord &record) { next_own_ = reinterpret_cast<uintptr_t>(record.own_costs()); }
  float next(uint32_t label) {
    const uint32_t code = code_of(label);
    const uintptr_t is_own = code == own_code_, in_table = reinterpret_cast<uintptr_t>(table_) + code * sizeof(float);
    const uintptr_t address = in_table ^ ((in_table ^ next_own_) & -is_own);
    next_own_ += is_own * sizeof(float);
    return *reinterpret_cast<const float *>(address);  // NOLINT: one of two pointers, chosen without a branch
  }
  void skip(const PackedArc *first, const PackedArc *last) {
    for (; first != last; ++first) next_own_ += code_of(first->label) == own_code_ ? sizeof(float) : 0;
  }

 private:
  uint32_t code_of(uint32_t label) const { return (label & (PackedArc::kToEpsilons - 1)) >> pdf_bits_; }

  const float *const table_;
  uintptr_t next_own_ = 0;
  const unsigned pdf_bits_;
  const uint32_t own_code_;
};

}  // namespace

// Has the pdfs of a record's emitting arcs scored.
__attribute__((noinline)) void Search::ask(const StateRecord &record, SearchScratch &scratch) const {
  const auto ask_for = [&](uint32_t pdf) {
    if (std::isnan(scratch.acoustic_cost[pdf])) put(scratch.asked->ask(pdf, scratch.frame), scratch);
  };
  record.for_each_emitting([&](const PackedArc &arc) { ask_for(arc.label & graph_.pdf_mask()); },
                           [&] { ask_for(graph_.packed().classes[record.state_class].pdf); });
}

// kAsks: acoustic costs are NaN until they have been asked for. A token that has met one is expanded again.
template <bool kAsks>
void Search::expand(SearchScratch &scratch) {
  const PagedVector<ActiveToken> &active = scratch.active;
  const asr_packed_graph &graph = graph_.packed();
  const uint32_t pdf_mask = graph_.pdf_mask();
  const float *const acoustic_cost = scratch.acoustic_cost.data();
  const float insertion_cost[2] = {0.0f, options_.word_insertion_cost};
  float best = std::numeric_limits<float>::infinity(), bound = std::numeric_limits<float>::max();
  const bool with_links = lattice_.has_value();
  ArcCosts costs(graph);
  size_t n = 0, room = scratch.candidates.size();
  Token *candidates = scratch.candidates.data();
  for (size_t i = 0; i < active.size(); ++i) {
    if (i + kStatesAhead < active.size()) graph_.prefetch_state(active[i + kStatesAhead].state);
    if (i + kArcsAhead < active.size()) prefetch_arcs(active[i + kArcsAhead].state);
    const ActiveToken &token = active[i];
    const StateRecord record = graph_.state(token.state);
    if (n + record.n_emitting >= room) {
      room = 2 * (n + record.n_emitting + 1);
      scratch.candidates.resize(room);
      candidates = scratch.candidates.data();
    }
    float met = 0;  // is NaN after one
    const auto offer = [&](uint32_t next, uint32_t label, uint32_t number, float graph_cost, float acoustic) {
      if (kAsks) met += acoustic;
      const float cost = (token.cost + graph_cost) + acoustic;
      candidates[n].set(next, cost, number + 1, token.record, label);
      n += cost <= bound ? 1 : 0;
      best = std::min(best, cost);
    };
    // Follows the arcs of a record. Links must be in the graph's order, so with links the self-loop comes after n_before_loop()
    // arcs; without links it comes first.
    const auto follow = [&](const auto &graph_cost) {
      const PackedArc *arc = record.arcs;
      uint32_t number = graph.number_of(*arc);
      const auto follow_until = [&](const PackedArc *end) {
        for (; arc != end; ++arc, number += 2 * sizeof(PackedArc) / sizeof(uint32_t)) {
          offer(arc->next, arc->label, number, graph_cost(arc->label) + insertion_cost[arc->label >> 31],
                acoustic_cost[arc->label & pdf_mask]);
        }
      };
      if (with_links) follow_until(record.arcs + record.n_before_loop());
      const StateClass &own = graph.classes[record.state_class];
      offer(token.state, own.pdf | (record.n_epsilon > 0 ? PackedArc::kToEpsilons : 0),
            asr_packed_graph::number_of_loop(token.state), record.has_loop() ? own.cost + insertion_cost[0] : kInfinite,
            kAsks && !record.has_loop() ? 0.0f : acoustic_cost[own.pdf]);
      follow_until(record.last_emitting());
    };
    const auto follow_all = [&] {
      if (record.has_own_costs()) {
        costs.begin(record);
        follow([&](uint32_t label) { return costs.next(label); });
      } else {
        follow([&](uint32_t label) { return costs.in_table(label); });
      }
    };
    const size_t n_before = n;
    follow_all();
    if (kAsks && std::isnan(met)) {
      ask(record, scratch);
      n = n_before;
      follow_all();
    }
    n_arcs_expanded_ += record.n_emitting + (record.has_loop() ? 1 : 0);
    bound = std::min(bound, best + options_.beam);  // the bound only falls: dropped candidates stay dropped
  }
  scratch.next.best = best;
  scratch.next.bound = bound;
  insert_candidates(scratch, n);
}

template void Search::expand<false>(SearchScratch &);
template void Search::expand<true>(SearchScratch &);

// Prefetches the end of a state's emitting arcs, and its class. The header, which has both offsets, has been prefetched.
void Search::prefetch_arcs(uint32_t state) const {
  const uint32_t header = graph_.packed().records[state];
  __builtin_prefetch(graph_.packed().records + state +
                     size_t{2} * (header >> StateRecord::kEmittingAt & StateRecord::kMoreEmitting));
  __builtin_prefetch(graph_.packed().classes + (header >> StateRecord::kClassAt));
}

void Search::insert_candidates(SearchScratch &scratch, size_t n_candidates) const {
  Token *const candidates = scratch.candidates.data();
  SlotTable &slot_of = scratch.slot_of;
  const float bound = scratch.next.bound;
  const bool with_links = lattice_.has_value();
  const ActiveToken *from = scratch.active.data();
  slot_of.clear(n_candidates);
  const SlotTable::View slots = slot_of.view();
  scratch.next.tokens.resize(n_candidates);
  scratch.fallen.resize(n_candidates);
  Token *const tokens = scratch.next.tokens.data();
  uint32_t *const fallen = scratch.fallen.data();
  uint32_t n_tokens = 0;
  size_t n_fallen = 0, n_links = 0;
  for (size_t i = 0; i < n_candidates; ++i) {
    if (i + kSlotsAhead < n_candidates) slots.prefetch(candidates[i + kSlotsAhead].state);
    const Token &candidate = candidates[i];
    if (!(candidate.cost <= bound)) continue;
    uint32_t &slot = slots[candidate.state];
    if (slot == SlotTable::kNone) {
      slot = n_tokens;
      tokens[n_tokens++] = candidate;
      fallen[n_fallen] = slot;
      n_fallen += (candidate.label & PackedArc::kToEpsilons) != 0 ? 1 : 0;
    } else if (replaces(candidate.cost, candidate.arc, tokens[slot])) {
      tokens[slot] = candidate;
    }
    if (with_links) {
      while (from->record != candidate.previous) ++from;
      candidates[n_links++] = {slot, candidate.cost, candidate.arc, from->slot, candidate.label};
    }
  }
  scratch.next.tokens.resize(n_tokens);
  scratch.fallen.resize(n_fallen);
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
    size_t n_round = 0;
    scratch.round.resize(scratch.fallen.size());
    for (const uint32_t slot : scratch.fallen) {
      Token &token = list.tokens[slot];
      const bool leads_on = (token.label & PackedArc::kToEpsilons) != 0;
      list.best = std::min(list.best, token.cost);
      const uint32_t path = record(token);
      if (leads_on) scratch.round[n_round++].set(token.state, token.cost, path, slot);
    }
    scratch.round.resize(n_round);
    scratch.fallen.clear();
    expand_epsilons(list, scratch);
  }
}

void Search::expand_epsilons(TokenList &list, SearchScratch &scratch) {
  PagedVector<Token> &tokens = list.tokens;
  const asr_packed_graph &graph = graph_.packed();
  const uint32_t pdf_mask = graph_.pdf_mask();
  ArcCosts costs(graph);
  for (size_t i = 0; i < scratch.round.size(); ++i) {
    if (i + kStatesAhead < scratch.round.size()) graph_.prefetch_state(scratch.round[i + kStatesAhead].state);
    if (i + kArcsAhead < scratch.round.size()) prefetch_arcs(scratch.round[i + kArcsAhead].state);
    const ActiveToken &from = scratch.round[i];
    const StateRecord record = graph_.state(from.state);
    n_arcs_expanded_ += record.n_epsilon;
    scratch.slot_of.make_room(tokens, record.n_epsilon);
    if (record.has_own_costs()) {
      costs.begin(record);
      costs.skip(record.arcs, record.last_emitting());
    }
    for (const PackedArc *arc = record.last_emitting(); arc != record.last_arc(); ++arc) {
      const float graph_cost = record.has_own_costs() ? costs.next(arc->label) : costs.in_table(arc->label);
      const float cost =
          from.cost + (graph_cost + ((arc->label & PackedArc::kWord) != 0 ? options_.word_insertion_cost : 0.0f));
      if (!(cost <= list.bound)) continue;
      const uint32_t number = graph.number_of(*arc);
      uint32_t &slot = scratch.slot_of[arc->next];
      if (slot == SlotTable::kNone) {
        slot = static_cast<uint32_t>(tokens.size());
        tokens.emplace_back().set(arc->next, cost, number + 1, from.record, arc->label);
        scratch.fallen.push_back(slot);
      } else {
        Token &token = tokens[slot];
        const bool fell_before = token.arc != 0 && (token.label & pdf_mask) == graph.n_pdfs;  // in this round
        if (cost < token.cost || (fell_before && replaces(cost, number + 1, token))) {        // equal emitting arcs come first
          token.set(arc->next, cost, number + 1, from.record, arc->label);
          if (!fell_before) scratch.fallen.push_back(slot);
        }
      }
      if (lattice_) scratch.epsilon_links.push_back({from.slot, slot, number, cost, from.cost});
    }
  }
}

}  // namespace asr::cpu
