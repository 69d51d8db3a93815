// SPDX-License-Identifier: Apache-2.0
// The hooks of search_select-inl.h for the type Search (search_frame_hooks-inl.h).
#ifndef SENONE_KERNELS_SEARCH_SELECT_HOOKS_H
#define SENONE_KERNELS_SEARCH_SELECT_HOOKS_H

#include "plugins/gpu/search/search_keys-inl.h"
#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

HOOKS_OF(SelectHooks, Search)
// Finds the tokens that the block owns; their number; one of them.
HOOK(void, block_find_own_tokens, (const Search *s))
HOOK(uint32_t, n_own_tokens, (const Search *s))
HOOK(OwnToken, own_token, (const Search *s, uint32_t i))
// Sets the arcs of a token that have not been set; may lower search->best by some of them.
HOOK(void, need_arcs, (const Search *s, OwnToken *token, GLOBAL const float *row))
// [kBins] in shared memory, free from here to release_bins(), which may have a barrier.
HOOK(LOCAL uint32_t *, bins, (const Search *s))
HOOK(void, release_bins, (const Search *s))
// Adds up the bins of all blocks and returns the sums; has barriers.
HOOK(LOCAL const uint32_t *, team_add_bins, (const Search *s))
// Appends a key to the team's list, if it has space.
HOOK(void, add_few_key, (const Search *s, SearchKey key))
// Returns the list once all n keys are there; ends with a barrier.
HOOK(LOCAL const SearchKey *, team_share_few_keys, (const Search *s, uint32_t n))
END_HOOKS

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_SELECT_HOOKS_H
