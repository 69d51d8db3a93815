// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame: emitting arcs, then epsilon arcs. Costs of all emitting arcs come first, in one pass over the
// active tokens that reads arcs only; it finds the bound. A second pass puts what lies within it into the token list, whose
// random accesses can then be asked for ahead of time.
#include <algorithm>
#include <limits>

#include "core/base/error.h"
#include "plugins/cpu/search.h"

namespace asr::cpu {
namespace {

// How many tokens or candidates ahead memory is asked for.
constexpr size_t kBeginsAhead = 32, kArcsAhead = 16, kSlotsAhead = 24;

bool replaces(const Token &candidate, const Token &token) {
  return candidate.cost < token.cost || (candidate.cost == token.cost && candidate.arc < token.arc);
}

}  // namespace

void Search::expand(SearchScratch &scratch) {
  const std::vector<ActiveToken> &active = scratch.active;
  const SearchArc *const arcs = graph_.arcs();
  const float *const acoustic_cost = scratch.acoustic_cost.data();
  const float insertion_cost[2] = {0.0f, options_.word_insertion_cost};
  float best = std::numeric_limits<float>::infinity(), bound = std::numeric_limits<float>::max();
  size_t n = 0;
  for (size_t i = 0; i < active.size(); ++i) {
    if (i + kBeginsAhead < active.size()) graph_.prefetch_begins(active[i + kBeginsAhead].state);
    if (i + kArcsAhead < active.size()) {
      const uint32_t ahead = active[i + kArcsAhead].state;
      __builtin_prefetch(arcs + graph_.emitting_begin(ahead));
      __builtin_prefetch(arcs + graph_.emitting_end(ahead));
    }
    const ActiveToken &token = active[i];
    const uint32_t begin = graph_.emitting_begin(token.state), end = graph_.emitting_end(token.state);
    if (scratch.candidates.size() < n + (end - begin)) scratch.candidates.resize(2 * (n + (end - begin)));
    Token *const candidates = scratch.candidates.data();
    for (uint32_t a = begin; a < end; ++a) {
      const SearchArc &arc = arcs[a];
      const float graph_cost = arc.graph_cost + insertion_cost[arc.label >> 31];
      const float cost = (token.cost + graph_cost) + acoustic_cost[arc.label & SearchArc::kPdfMask];
      candidates[n] = {arc.next_state, cost, a + 1, token.record, arc.label};
      n += cost <= bound ? 1 : 0;
      best = std::min(best, cost);
    }
    bound = std::min(bound, best + options_.beam);  // what is above it now will be above it at the end
    n_arcs_expanded_ += end - begin;
  }
  scratch.next.best = best;
  scratch.next.bound = bound;
  insert_candidates(scratch, n);
}

void Search::insert_candidates(SearchScratch &scratch, size_t n_candidates) const {
  Token *const candidates = scratch.candidates.data();
  uint32_t *const slot_of = scratch.slot_of.data();
  const float bound = scratch.next.bound;
  const bool with_links = lattice_.has_value();
  const ActiveToken *from = scratch.active.data();
  std::vector<Token> &tokens = scratch.next.tokens;
  tokens.clear();
  tokens.reserve(n_candidates);
  scratch.fallen.clear();
  size_t n_links = 0;
  for (size_t i = 0; i < n_candidates; ++i) {
    if (i + kSlotsAhead < n_candidates) __builtin_prefetch(slot_of + candidates[i + kSlotsAhead].state);
    const Token &candidate = candidates[i];
    if (!(candidate.cost <= bound)) continue;
    uint32_t &slot = slot_of[candidate.state];
    if (slot >= tokens.size() || tokens[slot].state != candidate.state) {
      slot = static_cast<uint32_t>(tokens.size());
      tokens.push_back(candidate);
      if ((candidate.label & SearchArc::kEpsilon) != 0) scratch.fallen.push_back(slot);
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
      const bool leads_on = (token.label & SearchArc::kEpsilon) != 0;
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
  const SearchArc *const arcs = graph_.arcs();
  for (size_t i = 0; i < scratch.round.size(); ++i) {
    if (i + kBeginsAhead < scratch.round.size()) graph_.prefetch_begins(scratch.round[i + kBeginsAhead].state);
    if (i + kArcsAhead < scratch.round.size()) {
      __builtin_prefetch(arcs + graph_.epsilon_begin(scratch.round[i + kArcsAhead].state));
    }
    const ActiveToken &from = scratch.round[i];
    const uint32_t begin = graph_.epsilon_begin(from.state), end = graph_.epsilon_end(from.state);
    n_arcs_expanded_ += end - begin;
    for (uint32_t a = begin; a < end; ++a) {
      const SearchArc &arc = arcs[a];
      const float cost =
          from.cost + (arc.graph_cost + ((arc.label & SearchArc::kWord) != 0 ? options_.word_insertion_cost : 0.0f));
      if (!(cost <= list.bound)) continue;
      uint32_t &slot = scratch.slot_of[arc.next_state];
      const Token token{arc.next_state, cost, a + 1, from.record, arc.label};
      if (slot >= tokens.size() || tokens[slot].state != arc.next_state) {
        slot = static_cast<uint32_t>(tokens.size());
        tokens.push_back(token);
        scratch.fallen.push_back(slot);
      } else if (replaces(token, tokens[slot])) {
        const bool fell_before = tokens[slot].arc > graph_.n_emitting_arcs();  // in this round
        tokens[slot] = token;
        if (!fell_before) scratch.fallen.push_back(slot);
      }
      if (lattice_) scratch.epsilon_links.push_back({from.slot, slot, a, cost, from.cost});
    }
  }
}

}  // namespace asr::cpu
