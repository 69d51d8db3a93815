// SPDX-License-Identifier: Apache-2.0
// The hooks of search_prune-inl.h for the type Walk: a block on its way back through the frames of a lattice. Walk has the
// values `of_frame` of the visited frame's tokens, `before` of the preceding frame's, and `new_number`, and the members that
// begin_walk() sets.
#ifndef SENONE_KERNELS_SEARCH_PRUNE_HOOKS_H
#define SENONE_KERNELS_SEARCH_PRUNE_HOOKS_H

#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

HOOKS_OF(WalkHooks, Walk)
// A link of the visited frame, by its number in the frame.
HOOK(SearchLink, frame_link, (const Walk *w, uint32_t i))
HOOK(float, frame_acoustic_cost, (const Walk *w, uint32_t i))
// The extra cost of a token that the last pruning stored.
HOOK(float, stored_extra, (const Walk *w, uint32_t i))
// How many of a frame's first links are read elsewhere and may be overwritten.
HOOK(uint32_t, n_staged, (const Walk *w))
// The source of a staged link before the pruning of its own frame.
HOOK(void, set_old_source, (const Walk *w, uint32_t i, uint32_t source))
HOOK(uint32_t, old_source, (const Walk *w, uint32_t i))
// Waits for the data of this visit; begins to load the data of the next.
HOOK(void, finish_prefetch, (const Walk *w))
HOOK(void, prefetch, (const Walk *w))
// Is true if the value is true in a thread; a barrier.
HOOK(bool, block_any, (Walk * w, bool value))
HOOK(void, report_links_full, (const Walk *w))
END_HOOKS

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_PRUNE_HOOKS_H
