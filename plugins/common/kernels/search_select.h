// SPDX-License-Identifier: Apache-2.0
// The arithmetic of step 1 of a frame (docs/search.md): the beam, min_active and max_active all come down to one threshold of
// the keys (cost, state). If one of the last two cuts, the threshold is the k-th smallest key, found exactly: a histogram over
// the beam gives its bin of costs, and digits of up to 11 bits from the top give its other bits. The
// file that includes this one has defined log_likelihood_of(row, pdf) before.
#ifndef SENONE_KERNELS_SEARCH_SELECT_H
#define SENONE_KERNELS_SEARCH_SELECT_H

#include "plugins/common/kernels/search_costs.h"
#include "plugins/common/kernels/search_keys.h"
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

// The next digit of a key, of which all from `top` on are known.
DEVICE uint32_t digit_width(uint32_t top) { return min(11u, top); }
DEVICE uint32_t next_digit(SearchKey key, uint32_t top) {
  const uint32_t width = digit_width(top);
  return (uint32_t)(key >> (top - width)) & ((1u << width) - 1);
}
DEVICE KeyPrefix add_digit(KeyPrefix known, uint32_t digit) {
  const uint32_t width = digit_width(known.top);
  known.bits = known.bits << width | digit;
  known.top -= width;
  return known;
}
// True if a key of this bin begins like the known part.
DEVICE bool has_prefix(KeyPrefix known, uint32_t bin, SearchKey key) {
  return bin == known.bin && (known.top == 64 || key >> known.top == known.bits);
}

// Returns the least cost of the first arcs of a best token: a first bound for all emitting arcs. Four are enough to keep most
// of what is beyond the beam out of the table.
DEVICE float least_cost_of_first_arcs(const SearchBeam *beam, GLOBAL const SearchArc *arcs, uint32_t first, uint32_t n_arcs,
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

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_SELECT_H
