// SPDX-License-Identifier: Apache-2.0
#include "plugins/cpu/search.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "core/base/error.h"

namespace asr::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr uint32_t kBuckets = 1024;
constexpr size_t kPrefetch = 8;  // tokens between asking for memory and using it

void check(const asr_search_options &o) {
  if (!(o.beam > 0 && o.beam < kInfinity)) fail(ASR_INVALID_ARGUMENT, "beam %g is not above 0", double{o.beam});
  if (!(o.acoustic_scale >= 0 && o.acoustic_scale < kInfinity)) {
    fail(ASR_INVALID_ARGUMENT, "acoustic_scale %g is negative or not finite", double{o.acoustic_scale});
  }
  if (!std::isfinite(o.word_insertion_cost)) fail(ASR_INVALID_ARGUMENT, "word_insertion_cost is not finite");
  if (o.max_active == 0) fail(ASR_INVALID_ARGUMENT, "max_active is 0; give at least 1");
}

// Orders tokens by cost, then by state.
uint64_t key_of(const Token &token) {
  const float cost = token.cost + 0.0f;  // -0 becomes 0
  uint32_t bits;
  memcpy(&bits, &cost, sizeof(bits));
  bits = (bits & 0x80000000u) != 0 ? ~bits : bits | 0x80000000u;
  return uint64_t{bits} << 32 | token.state;
}

// Moves the k keys that belong in front there and keeps no others.
void keep_least(std::vector<uint64_t> &keys, size_t k) {
  std::nth_element(keys.begin(), keys.begin() + static_cast<ptrdiff_t>(k) - 1, keys.end());
  keys.resize(k);
}

}  // namespace

Search::Search(const SearchGraph &graph, const asr_search_options &options)
    : graph_(graph),
      options_(options),
      trace_(graph, options.acoustic_scale, options.word_insertion_cost),
      loglike_(graph.view().n_pdfs) {
  check(options);
  begin();
}

void Search::begin() {
  ScratchLease scratch(graph_);
  const uint32_t start = graph_.view().start_state;
  tokens_.tokens.assign(1, {start, 0.0f, 0, Trace::kRoot});
  tokens_.best = 0;
  tokens_.bound = options_.beam;
  (*scratch).slot_of[start] = 0;
  (*scratch).frontier.assign(1, 0);
  follow_epsilons(tokens_, *scratch);
}

void Search::advance(const float *loglikes, size_t stride, uint32_t n_frames) {
  if (died_ || n_frames == 0) return;
  ScratchLease scratch(graph_);
  for (uint32_t t = 0; t < n_frames; ++t) {
    if (!consume(loglikes + t * stride, *scratch)) return;
  }
}

// Turns tokens_ into the tokens of the next frame. If none survives, tokens_ stay as they are.
bool Search::consume(const float *loglike, SearchScratch &scratch) {
  died_ = true;  // also if an exception ends this
  select_within_beam(scratch);
  if (scratch.within.size() > std::max(options_.max_active, options_.min_active)) select_max_active(scratch);
  make_active(scratch);
  for (uint32_t p = 0; p < graph_.view().n_pdfs; ++p) {
    const float cost = -options_.acoustic_scale * loglike[p];
    scratch.loglike[p] = loglike[p];
    scratch.acoustic_cost[p] = std::abs(cost) < kInfinity ? cost : kInfinity;
  }
  expand(scratch);
  if (scratch.next.tokens.empty()) return false;
  loglike_.swap(scratch.loglike);
  follow_epsilons(scratch.next, scratch);
  std::swap(tokens_, scratch.next);
  trace_.compact(tokens_);
  ++n_frames_;
  died_ = false;
  return true;
}

// Finds the slots of the tokens that are within the beam of the best, or the min_active best ones if those are more.
void Search::select_within_beam(SearchScratch &scratch) const {
  const std::vector<Token> &tokens = tokens_.tokens;
  std::vector<uint32_t> &within = scratch.within;
  within.resize(tokens.size());
  const float cutoff = tokens_.best + options_.beam;
  size_t n = 0;
  for (size_t i = 0; i < tokens.size(); ++i) {
    within[n] = static_cast<uint32_t>(i);
    n += tokens[i].cost <= cutoff ? 1 : 0;
  }
  within.resize(n);
  if (n >= options_.min_active) return;
  within.clear();
  for (size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].cost <= tokens_.bound) within.push_back(static_cast<uint32_t>(i));
  }
  if (within.size() <= options_.min_active) return;
  const auto before = [&](uint32_t a, uint32_t b) { return key_of(tokens[a]) < key_of(tokens[b]); };
  std::nth_element(within.begin(), within.begin() + options_.min_active, within.end(), before);
  within.resize(options_.min_active);
}

// Keeps the max_active best of scratch.within: a histogram over the beam finds the bucket where the limit falls, and only
// that bucket is looked at exactly.
void Search::select_max_active(SearchScratch &scratch) const {
  const std::vector<Token> &tokens = tokens_.tokens;
  const size_t limit = std::max(options_.max_active, options_.min_active);
  const float scale = kBuckets / options_.beam;
  const auto bucket_of = [&](const Token &token) {
    return std::min(kBuckets - 1, static_cast<uint32_t>((token.cost - tokens_.best) * scale));
  };
  scratch.histogram.assign(kBuckets, 0);
  for (const uint32_t i : scratch.within) ++scratch.histogram[bucket_of(tokens[i])];
  uint32_t bucket = 0;
  size_t n_before = 0;
  while (n_before + scratch.histogram[bucket] < limit) n_before += scratch.histogram[bucket++];
  scratch.keys.clear();
  for (const uint32_t i : scratch.within) {
    if (bucket_of(tokens[i]) == bucket) scratch.keys.push_back(key_of(tokens[i]));
  }
  keep_least(scratch.keys, limit - n_before);
  const uint64_t last = scratch.keys.back();
  const auto excluded = [&](uint32_t i) { return key_of(tokens[i]) > last; };
  scratch.within.erase(std::remove_if(scratch.within.begin(), scratch.within.end(), excluded), scratch.within.end());
}

// The trace record of a token's path.
uint32_t Search::record(Token &token) {
  if (token.arc != 0) {
    const uint32_t arc = token.arc - 1;
    const bool emitting = arc < graph_.n_emitting_arcs();
    token.previous = trace_.add(token.previous, arc, emitting ? -loglike_[graph_.emitting_arcs()[arc].pdf()] : 0.0f);
    token.arc = 0;
  }
  return token.previous;
}

// Makes the selected tokens active, the best one first, with costs relative to the best one's.
void Search::make_active(SearchScratch &scratch) {
  std::vector<ActiveToken> &active = scratch.active;
  active.resize(scratch.within.size());
  size_t n = 0;
  for (const uint32_t i : scratch.within) {
    Token &token = tokens_.tokens[i];
    active[n] = {token.state, token.cost - tokens_.best, record(token)};
    if (active[n].cost == 0) std::swap(active[n], active[0]);
    ++n;
  }
  n_tokens_ += n;
}

void Search::expand(SearchScratch &scratch) {
  const EmittingArc *const arcs = graph_.emitting_arcs();
  const float *const acoustic_cost = scratch.acoustic_cost.data();
  const float insertion_cost[2] = {0.0f, options_.word_insertion_cost};
  const std::vector<ActiveToken> &active = scratch.active;
  uint32_t *const slot_of = scratch.slot_of.data();
  std::vector<Token> &next = scratch.next.tokens;
  next.clear();
  scratch.frontier.clear();
  float best = kInfinity, bound = std::numeric_limits<float>::max();
  for (size_t i = 0; i < active.size(); ++i) {
    const ActiveToken &token = active[i];
    if (i + 2 * kPrefetch < active.size()) __builtin_prefetch(graph_.begins_of(active[i + 2 * kPrefetch].state));
    if (i + kPrefetch < active.size()) __builtin_prefetch(arcs + graph_.emitting_begin(active[i + kPrefetch].state));
    const uint32_t end = graph_.emitting_end(token.state);
    n_arcs_expanded_ += end - graph_.emitting_begin(token.state);
    for (uint32_t a = graph_.emitting_begin(token.state); a < end; ++a) {
      const EmittingArc &arc = arcs[a];
      const float cost = (token.cost + (arc.graph_cost + insertion_cost[arc.has_word()])) + acoustic_cost[arc.pdf()];
      if (!(cost <= bound)) continue;
      if (cost < best) {
        best = cost;
        bound = best + options_.beam;
      }
      uint32_t &slot = slot_of[arc.next_state];
      if (slot >= next.size() || next[slot].state != arc.next_state) {
        slot = static_cast<uint32_t>(next.size());
        next.push_back({arc.next_state, cost, a + 1, token.record});
        if (arc.leads_to_epsilon()) scratch.frontier.push_back(slot);
      } else if (cost < next[slot].cost || (cost == next[slot].cost && a + 1 < next[slot].arc)) {
        next[slot] = {arc.next_state, cost, a + 1, token.record};
      }
    }
  }
  scratch.next.best = best;
  scratch.next.bound = bound;
}

// Follows epsilon arcs in rounds until no cost falls. In a round every token that fell in the round before is expanded with
// the cost and the path it then had; a token that falls is recorded, so that later rounds must be better, not equal.
void Search::follow_epsilons(TokenList &list, SearchScratch &scratch) {
  std::vector<Token> &tokens = list.tokens;
  const uint32_t n_emitting_arcs = graph_.n_emitting_arcs();
  size_t n_rounds = 0;
  while (!scratch.frontier.empty()) {
    if (n_rounds++ > tokens.size()) {
      fail(ASR_INVALID_ARGUMENT,
           "graph: a cycle of epsilon arcs has a negative cost; correct the graph or word_insertion_cost");
    }
    scratch.round.clear();
    for (const uint32_t slot : scratch.frontier) {
      Token &token = tokens[slot];
      if (!(token.cost <= list.bound)) continue;
      scratch.round.push_back({token.state, token.cost, record(token)});
    }
    scratch.frontier.clear();
    for (const ActiveToken &token : scratch.round) {
      const uint32_t end = graph_.epsilon_end(token.state);
      n_arcs_expanded_ += end - graph_.epsilon_begin(token.state);
      for (uint32_t a = graph_.epsilon_begin(token.state); a < end; ++a) {
        const asr_graph_arc &arc = graph_.view().arcs[a];
        const float cost = token.cost + (arc.graph_cost + (arc.word != 0 ? options_.word_insertion_cost : 0.0f));
        if (!(cost <= list.bound)) continue;
        uint32_t &slot = scratch.slot_of[arc.next_state];
        if (slot >= tokens.size() || tokens[slot].state != arc.next_state) {
          slot = static_cast<uint32_t>(tokens.size());
          tokens.push_back({arc.next_state, cost, a + 1, token.record});
          scratch.frontier.push_back(slot);
        } else if (cost < tokens[slot].cost || (cost == tokens[slot].cost && a + 1 < tokens[slot].arc)) {
          if (tokens[slot].arc <= n_emitting_arcs) scratch.frontier.push_back(slot);
          tokens[slot] = {arc.next_state, cost, a + 1, token.record};
        }
      }
    }
    for (const uint32_t slot : scratch.frontier) {
      list.best = std::min(list.best, tokens[slot].cost);
      record(tokens[slot]);
    }
  }
}

void Search::best_path(bool use_final, asr_path *path) {
  const float *const final_costs = graph_.view().final_costs;
  const Token *best = nullptr;
  float best_cost = kInfinity;
  const auto consider = [&](bool with_final) {
    for (const Token &token : tokens_.tokens) {
      const float cost = token.cost + (with_final ? final_costs[token.state] : 0.0f);
      if (!(token.cost <= tokens_.bound) || !(cost < kInfinity)) continue;
      if (best != nullptr && !(cost < best_cost || (cost == best_cost && token.state < best->state))) continue;
      best = &token;
      best_cost = cost;
    }
  };
  if (use_final) consider(true);
  const bool reached_final = best != nullptr;
  if (!reached_final) consider(false);

  float acoustic_cost = 0;
  if (best->arc != 0 && best->arc <= graph_.n_emitting_arcs()) {
    acoustic_cost = -loglike_[graph_.emitting_arcs()[best->arc - 1].pdf()];
  }
  const double cost = trace_.path(best->previous, best->arc, acoustic_cost);
  path->arcs = trace_.arcs().data();
  path->n_arcs = trace_.arcs().size();
  path->n_frames = n_frames_;
  path->reached_final = reached_final ? 1 : 0;
  path->beam_died = died_ ? 1 : 0;
  path->final_cost = reached_final ? final_costs[best->state] : 0.0f;
  path->total_cost = cost + double{path->final_cost};
  path->n_tokens = n_tokens_;
  path->n_arcs_expanded = n_arcs_expanded_;
}

}  // namespace asr::cpu
