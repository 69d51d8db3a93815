// SPDX-License-Identifier: Apache-2.0
// The hooks of search_frame-inl.h for the type Search: a block's search and table. Names with warp_ are called by whole warps.
#ifndef SENONE_KERNELS_SEARCH_FRAME_HOOKS_H
#define SENONE_KERNELS_SEARCH_FRAME_HOOKS_H

#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

HOOKS_OF(FrameHooks, Search)
HOOK(bool, has_lattice, (const Search *s))
// Adds tokens with arcs to a list.
HOOK(void, warp_append_item, (const Search *s, uint32_t list, uint32_t first_arc, uint32_t n_arcs, float cost, uint32_t token))
// Lowers the least cost so far by the lanes that count; returns the bound by it.
HOOK(float, warp_lower_best, (const Search *s, float cost, bool counts))
// Lowers the key of a state's slot; returns the slot, or kNoSlot if the candidate is of no use.
HOOK(uint32_t, warp_enter, (const Search *s, bool emitting, uint32_t state, bool wanted, uint32_t arc, float cost))
// Is true if the slot's key is the candidate's.
HOOK(bool, has_key, (const Search *s, uint32_t slot, float cost, uint32_t arc))
// Lets only a lower cost replace the slot's token from now on.
HOOK(void, must_undercut, (const Search *s, uint32_t slot, float cost))
HOOK(uint32_t, slot_state, (const Search *s, uint32_t slot))
HOOK(float, slot_cost, (const Search *s, uint32_t slot))
HOOK(uint32_t, slot_number, (const Search *s, uint32_t slot))
HOOK(uint32_t, slot_record, (const Search *s, uint32_t slot))
HOOK(void, set_slot_record, (const Search *s, uint32_t slot, uint32_t record))
HOOK(void, set_slot_number, (const Search *s, uint32_t slot, uint32_t number))
// The token's number and record at the source of an epsilon link.
HOOK(uint32_t, source_number, (const Search *s, uint32_t source))
HOOK(uint32_t, source_record, (const Search *s, uint32_t source))
// The acoustic cost of a candidate of an emitting arc.
HOOK(float, candidate_acoustic_cost, (const Search *s, const FrameSteps *steps, uint32_t index, uint32_t arc))
// The slots of the frame's tokens.
HOOK(uint32_t, n_used_slots, (const Search *s))
HOOK(uint32_t, used_slot, (const Search *s, uint32_t i))
HOOK(void, free_slot, (const Search *s, uint32_t slot))
// Returns the next number to each lane that keeps its token.
HOOK(uint32_t, warp_number_token, (const Search *s, const SearchToken *token, bool keep))
// Store an element, or report that the buffer is full.
HOOK(void, put_candidate, (const Search *s, uint32_t index, const Candidate *candidate))
HOOK(void, put_epsilon_link, (const Search *s, uint32_t index, const EpsilonLink *link))
HOOK(void, put_record, (const Search *s, uint32_t index, const TraceRecord *record))
HOOK(void, put_token, (const Search *s, uint32_t index, const SearchToken *token))
HOOK(void, put_link, (const Search *s, uint32_t index, const SearchLink *link, float acoustic_cost))
END_HOOKS

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_FRAME_HOOKS_H
