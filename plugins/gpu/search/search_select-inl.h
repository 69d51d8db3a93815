// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame (docs/search.md) selects the tokens that are expanded. The beam, min_active and max_active all come down to
// one threshold of the keys (cost, state). If one of the last two cuts, the threshold is the k-th smallest key, found
// exactly. A histogram over the beam gives its bin of costs. Digits of up to 11 bits from the top follow, until few
// keys are left. These are compared with each other. The file that includes this one has defined log_likelihood_of(row, pdf)
// before. For its type Search the back end defines the functions that search_select_hooks-inl.h declares, and
// warp_append_item (search_frame_hooks-inl.h).
#ifndef SENONE_KERNELS_SEARCH_SELECT_H
#define SENONE_KERNELS_SEARCH_SELECT_H

#include "plugins/gpu/search/search_costs-inl.h"
#include "plugins/gpu/search/search_keys-inl.h"
#include "plugins/gpu/search/search_select_hooks-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// Returns the number k of the key that is the threshold, if min_active or max_active cuts; else 0.
DEVICE uint32_t active_limit(const SearchBeam *beam, uint32_t n_tokens, uint32_t n_within) {
  if (n_within < beam->min_active && n_tokens > beam->min_active) return beam->min_active;
  return n_within > beam->max_active ? beam->max_active : 0;
}

// Returns the threshold if neither cuts.
DEVICE SearchKey beam_threshold(float best, float beam, uint32_t min_active, uint32_t n_tokens) {
  return n_tokens <= min_active ? ~(SearchKey)0 : make_key(add_rounded(best, beam), 0xffffffffu);
}

DEVICE uint32_t bin_of_cost(float cost, float best, float bins_per_cost) {
  return (uint32_t)fmin(multiply_rounded(subtract_rounded(cost, best), bins_per_cost), (float)(kBins - 1));
}

// Return the next digit of a key, of which all bits from `top` on are known.
DEVICE uint32_t digit_width(uint32_t top) { return min(11u, top); }
DEVICE uint32_t next_digit(SearchKey key, uint32_t top) {
  const uint32_t width = digit_width(top);
  return (uint32_t)(key >> (top - width)) & ((1u << width) - 1);
}
// Adds the bin, or the next digit if the bin is known.
DEVICE KeyPrefix add_digit(KeyPrefix known, uint32_t digit) {
  if (known.bin == kNoBin) {
    known.bin = digit;
    return known;
  }
  const uint32_t width = digit_width(known.top);
  known.bits = known.bits << width | digit;
  known.top -= width;
  return known;
}
// Returns true if a key of this bin begins like the known part.
DEVICE bool has_prefix(KeyPrefix known, uint32_t bin, SearchKey key) {
  return known.bin == kNoBin || (bin == known.bin && (known.top == 64 || key >> known.top == known.bits));
}

// Returns the least cost of the first arcs of a best token: a first bound for all emitting arcs. Four are enough to
// keep most candidates beyond the beam out of the table.
DEVICE float min_cost_of_first_arcs(const SearchBeam *beam, GLOBAL const SearchArc *arcs, uint32_t first, uint32_t n_arcs,
                                    GLOBAL const float *row) {
  float least = INFINITY;
#pragma unroll
  for (uint32_t a = 0; a < 4; ++a) {
    if (a >= n_arcs) break;
    const SearchArc arc = arcs[first + a];
    least = fmin(least, arc_cost(beam, true, log_likelihood_of(row, arc.label & kArcPdf), &arc, 0.0f));
  }
  return least;
}

// Lowers the first bound of emitting arcs by arcs of a best token.
FOR_TYPE(State)
DEVICE void lower_best(LOCAL State *search, GLOBAL const SearchArc *arcs, const OwnToken *token, GLOBAL const float *row) {
  const SearchBeam beam = search->job.beam;
  const float least = min_cost_of_first_arcs(&beam, arcs, token->first_arc, token->n_arcs, row);
  if (least <= FLT_MAX) atomic_min(&search->best, ordered(least));
}

// ---- the k-th key ----------------------------------------------------------------------------------------------------------

// Finds the bin, or the next digit, of the k-th smallest of the keys that begin like the known part.
FOR_TYPES(Search, State)
DEVICE void team_find_digit(const Search *s, LOCAL State *search, float bins_per_cost, KeyPrefix known, uint32_t k) {
  LOCAL KthKey *const kth = &search->kth;
  LOCAL uint32_t *const own_bins = bins(s);
  const float best = search->job.best;
  const uint32_t n_tokens = n_own_tokens(s), n_share = (kBins + block_size() - 1) / block_size();
  for (uint32_t b = thread_number(); b < kBins; b += block_size()) own_bins[b] = 0;
  block_sync();                                                          // all have read the earlier result
  if (thread_number() == 0) kth->bin = kth->n_in_bin = kth->n_left = 0;  // as it stays in a frame that is void
  for (uint32_t i = thread_number(); i < n_tokens; i += block_size()) {
    const OwnToken token = own_token(s, i);
    const uint32_t bin = bin_of_cost(token.cost, best, bins_per_cost);
    const SearchKey key = make_key(token.cost, token.state);
    if (has_prefix(known, bin, key)) atomic_add(own_bins + (known.bin == kNoBin ? bin : next_digit(key, known.top)), 1u);
  }
  LOCAL const uint32_t *const all_bins = team_add_bins(s);
  const uint32_t first = thread_number() * n_share;
  uint32_t n = 0, total;
  for (uint32_t b = first; b < min(first + n_share, kBins); ++b) n += all_bins[b];
  uint32_t before = block_scan(n, search->sums, &total);
  if (before < k && k <= before + n) {
    uint32_t bin = first;
    while (before + all_bins[bin] < k) before += all_bins[bin++];
    kth->bin = bin;
    kth->n_in_bin = all_bins[bin];
    kth->n_left = k - before;
  }
  block_sync();
}

// Finds the key with kth->n_left - 1 below it among the kth->n_in_bin keys that begin like the known part, at most kFewKeys.
FOR_TYPES(Search, State)
DEVICE void team_find_kth_of_few(const Search *s, LOCAL State *search, float bins_per_cost, KeyPrefix known) {
  LOCAL KthKey *const kth = &search->kth;
  const float best = search->job.best;
  const uint32_t n_tokens = n_own_tokens(s);
  for (uint32_t i = thread_number(); i < n_tokens; i += block_size()) {
    const OwnToken token = own_token(s, i);
    const SearchKey key = make_key(token.cost, token.state);
    if (has_prefix(known, bin_of_cost(token.cost, best, bins_per_cost), key)) add_few_key(s, key);
  }
  const uint32_t n = kth->n_in_bin;
  LOCAL const SearchKey *const few_keys = team_share_few_keys(s, n);
  for (uint32_t i = thread_number(); i < n; i += block_size()) {
    const SearchKey key = few_keys[i];
    uint32_t n_below = 0;
    for (uint32_t other = 0; other < n; ++other) n_below += few_keys[other] < key ? 1 : 0;
    if (n_below + 1 == kth->n_left) kth->key = key;
  }
  block_sync();
}

// Returns the k-th smallest key of the tokens; 0 < k <= n_tokens. Keys differ, so few are left at the latest with the
// last digit.
FOR_TYPES(Search, State) DEVICE SearchKey team_kth_key(const Search *s, LOCAL State *search, uint32_t k) {
  LOCAL KthKey *const kth = &search->kth;
  const float bins_per_cost = (float)kBins / search->job.beam.beam;
  KeyPrefix known = {kNoBin, 64, 0};
  if (thread_number() == 0) kth->n_few = 0;
  do {
    team_find_digit(s, search, bins_per_cost, known, k);
    known = add_digit(known, kth->bin);
    k = kth->n_left;
  } while (kth->n_in_bin > kFewKeys && known.top > 0);
  team_find_kth_of_few(s, search, bins_per_cost, known);
  release_bins(s);
  return kth->key;
}

// ---- selection -------------------------------------------------------------------------------------------------------------

// Puts the active tokens, with costs relative to the best one's, on list 0: each block its own.
FOR_TYPES(Search, State) DEVICE void team_select(const Search *s, LOCAL State *search, GLOBAL const float *row) {
  CHECK_HOOKS(SelectHooks, Search);
  block_find_own_tokens(s);
  const SearchBeam beam = search->job.beam;
  const float best = search->job.best;
  const uint32_t k = active_limit(&beam, search->job.n_tokens, search->job.n_within);
  const SearchKey threshold =
      k > 0 ? team_kth_key(s, search, k) : beam_threshold(best, beam.beam, beam.min_active, search->job.n_tokens);
  const uint32_t n_tokens = n_own_tokens(s);
  uint32_t n_active = 0;
  for (uint32_t first = warp_number() * warp_size(); first < n_tokens; first += block_size()) {
    const uint32_t i = first + lane_number();
    OwnToken token = {0, 0.0f, 0, 0, 0};
    bool active = false;
    if (i < n_tokens) {
      token = own_token(s, i);
      active = make_key(token.cost, token.state) <= threshold;
    }
    if (active) need_arcs(s, &token, row);
    n_active += active ? 1 : 0;
    warp_append_item(s, 0, token.first_arc, active ? token.n_arcs : 0, subtract_rounded(token.cost, best), token.number);
  }
  warp_add(&search->n_active, n_active);
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_SELECT_H
