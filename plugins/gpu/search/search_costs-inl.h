// SPDX-License-Identifier: Apache-2.0
// Costs of the search as docs/search.md defines them: each sum and product is rounded to float, in this order.
#ifndef SENONE_KERNELS_SEARCH_COSTS_H
#define SENONE_KERNELS_SEARCH_COSTS_H

#include "plugins/gpu/runtime/rounded-inl.h"
#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

// Returns the greatest cost within the beam.
DEVICE float bound_of(float best, float beam) { return fmin(add_rounded(best, beam), FLT_MAX); }

// Returns the cost of an arc after a token of cost c. An emitting arc whose score is not finite is closed.
// log_likelihood: of the arc's pdf, unused for epsilon arcs.
DEVICE float arc_cost(const SearchBeam *beam, bool emitting, float log_likelihood, const SearchArc *arc, float c) {
  const float word_cost = (arc->label & kArcWord) != 0 ? beam->word_insertion_cost : 0.0f;
  const float cost = add_rounded(c, add_rounded(arc->graph_cost, word_cost));
  if (!emitting) return cost;
  const float score = multiply_rounded(-beam->acoustic_scale, log_likelihood);
  return fabs(score) <= FLT_MAX ? add_rounded(cost, score) : INFINITY;
}

DEVICE float acoustic_cost_of(float log_likelihood) { return subtract_rounded(0.0f, log_likelihood); }

// Returns the cost with which a token can end a path: as it is, or with its final cost, which may be infinite.
DEVICE float end_cost(GLOBAL const SearchToken *token, bool with_final, GLOBAL const float *final_costs) {
  return add_rounded(token->cost, with_final ? final_costs[token->state] : 0.0f);
}

// ---- extra costs, how much dearer than the best path the best path through a token is: at least 0, so that bits order them --

// Returns the bits of the extra cost of a token that ends paths; `least` is the least cost of these tokens. Never -0,
// whose bits would be the greatest.
DEVICE uint32_t extra_of_end(float cost, float least) { return as_uint(add_rounded(subtract_rounded(cost, least), 0.0f)); }

// Returns the bits of the extra cost of the best path through a link. `extra` is that of its destination, link_cost how much
// dearer the link is.
DEVICE uint32_t extra_through(uint32_t extra, float link_cost) { return as_uint(add_rounded(as_float(extra), link_cost)); }

// Extra costs of a frame are stored from here on: there are no more tokens than links, but in frame 0 one more.
DEVICE uint32_t first_extra_of(uint32_t frame_number, uint32_t first_link) { return first_link + (frame_number > 0 ? 1 : 0); }

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_COSTS_H
