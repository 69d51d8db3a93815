// SPDX-License-Identifier: Apache-2.0
// The hooks of search_driver-inl.h for the types Search (search_frame_hooks-inl.h) and State, the state of a block in shared
// memory. Names with team_ are called by all blocks of a team, and have barriers.
#ifndef SENONE_KERNELS_SEARCH_DRIVER_HOOKS_H
#define SENONE_KERNELS_SEARCH_DRIVER_HOOKS_H

#include "plugins/gpu/search/search_trace-inl.h"
#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

HOOKS_OF_TWO(DriverHooks, Search, State)
// By one thread: prepare the state for a frame, a list for a step.
HOOK(void, reset_frame, (LOCAL State * search))
HOOK(void, reset_list, (LOCAL State * search, uint32_t list))
// Before the barrier behind which arcs look at a frame's row: waits for what this thread copies of it.
HOOK(void, block_await_row, (const Search *s))
// Follow the arcs of a list; find the least candidate of each state; make tokens of these.
HOOK(void, block_expand, (const Search *s, bool emitting, uint32_t list, GLOBAL const float *row))
HOOK(void, block_settle, (const Search *s, bool emitting, uint32_t list))
HOOK(void, block_resolve, (const Search *s, bool emitting, uint32_t list, GLOBAL const float *row))
// Ends a step that has followed the arcs of a list; returns the totals of all blocks.
HOOK(StepTotals, team_all_reduce, (const Search *s, bool emitting, uint32_t list))
// Is true if a block has arcs on the list.
HOOK(bool, has_arcs_left, (const Search *s, uint32_t list, const StepTotals *totals))
// By one thread, when all emitting arcs have costs: the channel died if none is finite.
HOOK(void, know_best, (const Search *s, const StepTotals *totals))
// The team's counts of the frame.
HOOK(LOCAL FrameCounts *, frame_counts, (const Search *s))
// The links that search->n_epsilon_links counts.
HOOK(GLOBAL const EpsilonLink *, epsilon_links, (const Search *s))
HOOK(void, block_make_emitting_links, (const Search *s, GLOBAL const float *row))
HOOK(void, block_free_used, (const Search *s))
// By one thread of each block: makes the frame the channel's.
HOOK(void, commit, (const Search *s, uint32_t n_frames, uint32_t best))
// Restores the channel.
HOOK(void, team_give_up, (const Search *s, SearchStatus status, uint32_t overflow))
// Buffers of a compaction.
HOOK(Compaction, compaction, (const Search *s))
HOOK(GLOBAL SearchToken *, last_tokens, (const Search *s))
HOOK(GLOBAL TraceRecord *, trace_records, (const Search *s))
HOOK(uint32_t, n_moved_at_once, (const Search *s))
// All threads of the team.
HOOK(uint32_t, team_thread_number, (const Search *s))
HOOK(uint32_t, team_n_threads, (const Search *s))
HOOK(void, team_sync, (const Search *s))
// Moves records that all paths share to the settled steps.
HOOK(void, team_settle, (const Search *s, const Compaction *c))
// Cutting paths that do not join: the team's PathCut; makes the token of a slot dearer than any bound, with kNoRecord.
HOOK(LOCAL PathCut *, path_cut, (const Search *s))
HOOK(void, cut_slot, (const Search *s, uint32_t slot))
HOOK(uint32_t, n_emitting_arcs, (const Search *s))  // of the graph
END_HOOKS

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_DRIVER_HOOKS_H
