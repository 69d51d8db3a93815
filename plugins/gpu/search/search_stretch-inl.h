// SPDX-License-Identifier: Apache-2.0
// The arcs of a list's items, numbered through and shared out evenly. A warp takes a stretch of them, finds its first
// item, and from then on takes an arc a lane. Every item has an arc, so the items that begin among those arcs are the
// next few at most. One load a lane finds its own. The file that includes this one has defined the warp before:
//   warp_size(), warp_number(), lane_number()
//   load_arc(arcs, index)
//   warp_begun(first, &n_begun)         of numbers that rise from lane to lane: how many are at most the number of this lane,
//                                       and how many are less than warp_size()
//   warp_item_of(items, n_items, arc)   the last item that begins at or before an arc
#ifndef SENONE_KERNELS_SEARCH_STRETCH_H
#define SENONE_KERNELS_SEARCH_STRETCH_H

#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

typedef struct ArcStretch {
  GLOBAL const ExpandItem *items;
  uint32_t n_items;
  uint32_t base, end, item;  // the next arc, the end of the stretch, the item of the next arc
} ArcStretch;

// An arc that a lane has to follow, its token and the token's cost.
typedef struct ArcStep {
  bool valid;
  uint32_t arc_index, token;
  float from_cost;
  SearchArc arc;
} ArcStep;

// Returns the warp's stretch of the n_arcs arcs of n_items items, of which all warps of n_threads threads take part.
DEVICE ArcStretch warp_stretch(GLOBAL const ExpandItem *items, uint32_t n_items, uint32_t n_arcs, uint32_t n_threads) {
  const uint32_t n_steps = (n_arcs + n_threads - 1) / n_threads;  // steps of each warp
  ArcStretch s;
  s.items = items;
  s.n_items = n_items;
  s.base = warp_number() * n_steps * warp_size();
  s.end = min(n_arcs, s.base + n_steps * warp_size());
  s.item = s.base < s.end ? warp_item_of(items, n_items, s.base) : 0;
  return s;
}

DEVICE bool stretch_ends(const ArcStretch *s) { return s->base >= s->end; }

// Returns the step of each lane; then the stretch goes on by a warp.
DEVICE ArcStep warp_next_step(ArcStretch *s, GLOBAL const SearchArc *arcs) {
  const uint32_t following = s->item + 1 + lane_number();
  const uint32_t first = following < s->n_items ? s->items[following].offset - s->base : warp_size();
  uint32_t n_begun;
  const uint32_t own = s->item + warp_begun(first, &n_begun);
  ArcStep step = {s->base + lane_number() < s->end, 0, 0, 0.0f, {0, 0, 0.0f, 0}};
  if (step.valid) {
    const ExpandItem from = s->items[own];
    step.arc_index = from.first_arc + (s->base + lane_number() - from.offset);
    step.arc = load_arc(arcs, step.arc_index);
    step.token = from.token;
    step.from_cost = from.cost;
  }
  s->item += n_begun;
  s->base += warp_size();
  return step;
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_STRETCH_H
