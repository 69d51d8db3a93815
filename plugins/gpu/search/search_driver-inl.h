// SPDX-License-Identifier: Apache-2.0
// A frame of a channel, by a team: a block, or several blocks that share the work (plugins/cuda/search/search_team.cuh). Every
// block decides by itself on the next step, and all decide alike: team_all_reduce gives all of them the same totals. A frame
// that cannot be finished leaves the channel as it was before. Functions named team_* are called by all blocks of a team, and
// have barriers. For its type Search, and the state of a block in shared memory, the back end defines the functions that
// search_driver_hooks-inl.h declares, and warp_add(sum, value), which adds the values of a warp.
#ifndef SENONE_KERNELS_SEARCH_DRIVER_H
#define SENONE_KERNELS_SEARCH_DRIVER_H

#include "plugins/common/path_cuts-inl.h"
#include "plugins/gpu/search/search_driver_hooks-inl.h"
#include "plugins/gpu/search/search_frame-inl.h"
#include "plugins/gpu/search/search_select-inl.h"
#include "plugins/gpu/search/search_trace-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// Compacts the trace (search_trace-inl.h).
FOR_TYPES(Search, State) DEVICE void team_compact_trace(const Search *s, LOCAL State *search) {
  const Compaction c = compaction(s);
  GLOBAL SearchToken *const tokens = last_tokens(s);
  GLOBAL TraceRecord *const records = trace_records(s);
  const uint32_t n_records = search->job.n_records, n_tokens = search->job.n_tokens;
  const uint32_t own = team_thread_number(s), n_threads = team_n_threads(s);
  clear_marks(&c, n_records, own, n_threads);
  team_sync(s);
  mark_tokens(&c, tokens, n_tokens, records, own, n_threads);
  team_sync(s);
  team_settle(s, &c);
  team_sync(s);
  const Share words = share_of_thread(n_bit_words(n_records), thread_number(), block_size());
  uint32_t n_left;
  number_bits(&c, words, block_scan(count_bits(&c, words), search->sums, &n_left));
  block_sync();
  renumber_tokens(&c, tokens, n_tokens, own, n_threads);
  const uint32_t n_part = n_moved_at_once(s);
  for (uint32_t part = 0; part < n_left; part += n_part) {
    gather_records(&c, records, n_records, part, n_part, own, n_threads);
    team_sync(s);
    put_records(&c, records, part, min(n_left - part, n_part), own, n_threads);
    team_sync(s);
  }
  if (thread_number() == 0) {
    renumber_marks(&c, &search->job.marks, n_records, n_left);
    search->job.n_records = search->job.n_compacted = n_left;
  }
  team_sync(s);
}

// Cuts the tokens of the frame under construction whose paths do not join the best one's in time ("Paths that do not join" in
// docs/search.md). `best`: the least cost. `marked`: the number of records at the end of the frame that the cut goes back to.
// Mostly a record behind these is on the paths of all tokens, and then the walks to it are all that is done. They are short.
FOR_TYPES(Search, State) RARE void team_cut_paths(const Search *s, LOCAL State *search, uint32_t best, uint32_t marked) {
  LOCAL PathCut *const cut = path_cut(s);
  GLOBAL const TraceRecord *const records = trace_records(s);
  const float bound = search->bound;
  const uint32_t n_used = n_used_slots(s), n_emitting = n_emitting_arcs(s);
  team_sync(s);
  if (team_thread_number(s) == 0) {
    cut->state = cut->common_end = 0xffffffffu;
    cut->record = kTraceRoot;
    cut->overflow = 0;
  }
  team_sync(s);
  if (thread_number() == 0) atomic_or(&cut->overflow, search->overflow);
  team_sync(s);
  if (cut->overflow != 0) return;  // the frame is given up
  for (uint32_t i = thread_number(); i < n_used; i += block_size()) {
    const uint32_t slot = used_slot(s, i);
    if (ordered(slot_cost(s, slot)) == best) atomic_min(&cut->state, slot_state(s, slot));
  }
  team_sync(s);
  for (uint32_t i = thread_number(); i < n_used; i += block_size()) {
    const uint32_t slot = used_slot(s, i);
    if (slot_state(s, slot) == cut->state) cut->record = slot_record(s, slot);
  }
  team_sync(s);
  const uint32_t best_record = cut->record;
  uint32_t common = best_record;
  for (uint32_t i = thread_number(); i < n_used; i += block_size()) {
    const uint32_t slot = used_slot(s, i);
    if (slot_cost(s, slot) <= bound) common = where_paths_meet(records, common, slot_record(s, slot));
  }
  atomic_min(&cut->common_end, common + 1);
  team_sync(s);
  if (cut->common_end > marked) return;
  const uint32_t kept = emitting_record_before(records, best_record, marked, n_emitting);
  for (uint32_t i = thread_number(); i < n_used; i += block_size()) {
    const uint32_t slot = used_slot(s, i);
    if (!(slot_cost(s, slot) <= bound)) continue;
    if (emitting_record_before(records, slot_record(s, slot), marked, n_emitting) != kept) cut_slot(s, slot);
  }
  team_sync(s);
}

// Follows epsilon arcs, from list 1 on, until none are left; totals->best becomes the least cost. Returns false if the
// frame was given up.
FOR_TYPES(Search, State)
DEVICE bool team_follow_epsilons(const Search *s, LOCAL State *search, StepTotals *totals) {
  // The links of a lattice need the candidates of emitting arcs until the frame ends.
  if (thread_number() == 0 && has_lattice(s)) search->first_candidate = search->n_candidates[0];
  uint32_t list = 1;
  for (uint32_t n_rounds = 0;; ++n_rounds, list ^= 1) {
    block_sync();
    if (!has_arcs_left(s, list, totals)) return true;
    if (thread_number() == 0) reset_list(search, list ^ 1);
    block_expand(s, false, list, 0);
    *totals = team_all_reduce(s, false, list);
    const bool endless = n_rounds > totals->n_used;
    if (totals->overflow != 0 || endless) {
      team_give_up(s, endless ? kSearchNegativeCycle : kSearchOverflow, totals->overflow);
      return false;
    }
    block_settle(s, false, list);
    block_resolve(s, false, list, 0);
  }
}

// Writes the tokens of the frame.
FOR_TYPES(Search, State) DEVICE void block_finish_tokens(const Search *s, LOCAL State *search, uint32_t best) {
  const float bound = search->bound, cutoff = add_rounded(cost_of(best), search->job.beam.beam);
  const uint32_t n_used = n_used_slots(s);
  uint32_t n_within = 0;
  for (uint32_t first = warp_number() * warp_size(); first < n_used; first += block_size())
    n_within += warp_finish_token(s, bound, cutoff, first + lane_number(), n_used) ? 1 : 0;
  warp_add(&frame_counts(s)->n_within, n_within);
}

// Makes the links of epsilon arcs, once all tokens have been numbered and the emitting links counted.
FOR_TYPES(Search, State) DEVICE void block_make_epsilon_links(const Search *s, LOCAL State *search) {
  LOCAL FrameCounts *const counts = frame_counts(s);
  const float beam = search->job.lattice.lattice_beam;
  const uint32_t n = search->n_epsilon_links, first_link = search->job.lattice.n_links + counts->n_links[0];
  for (uint32_t first = warp_number() * warp_size(); first < n; first += block_size())
    warp_link_epsilon_arc(s, beam, first_link, &counts->n_links[1], epsilon_links(s), first + lane_number(), n);
}

// Finishes a frame: epsilon arcs, links, commit. `n_frames`: 1, or 0 for the beginning, which has no row. `totals`: the
// preceding step's. Returns false if the frame was given up.
FOR_TYPES(Search, State)
DEVICE bool team_finish_frame(const Search *s, LOCAL State *search, uint32_t n_frames, GLOBAL const float *row,
                              StepTotals totals) {
  CHECK_HOOKS_OF_TWO(DriverHooks, Search, State);
  if (!team_follow_epsilons(s, search, &totals)) return false;
  const bool has_links = has_lattice(s);
  const uint32_t best = totals.best, newest = search->job.marks.n_frames + n_frames;
  if (n_frames > 0 && cuts_paths(newest)) team_cut_paths(s, search, best, *mark_of(&search->job.marks, newest - kCutDistance));
  block_finish_tokens(s, search, best);
  if (has_links) {
    block_sync();
    block_make_emitting_links(s, row);
  }
  totals = team_all_reduce(s, false, kNoList);
  if (totals.overflow == 0 && has_links) {
    block_make_epsilon_links(s, search);
    totals = team_all_reduce(s, false, kNoList);
  }
  if (totals.overflow != 0) {
    team_give_up(s, kSearchOverflow, totals.overflow);
    return false;
  }
  if (thread_number() == 0) commit(s, n_frames, best);
  if (has_links) block_free_used(s);
  block_sync();
  return true;
}

// Makes the frame of a row up to its epsilon arcs; team_finish_frame follows. Returns false if the frame was given up
// or no token survives.
FOR_TYPES(Search, State)
DEVICE bool team_follow_row(const Search *s, LOCAL State *search, GLOBAL const float *row, StepTotals *totals) {
  const bool needs_compaction =
      trace_needs_compaction(search->job.n_records, search->job.max_records, search->job.n_tokens, search->job.n_compacted);
  block_sync();
  if (needs_compaction) team_compact_trace(s, search);
  if (thread_number() == 0) reset_frame(search);
  block_sync();
  team_select(s, search, row);
  block_await_row(s);
  block_sync();
  block_expand(s, true, 0, row);
  *totals = team_all_reduce(s, true, 0);
  const float best = cost_of(totals->best);
  if (thread_number() == 0) {
    search->bound = bound_of(best, search->job.beam.beam);
    know_best(s, totals);
  }
  block_sync();
  if (totals->overflow != 0) {
    team_give_up(s, kSearchOverflow, totals->overflow);
    return false;
  }
  if (!(best <= FLT_MAX)) return false;
  block_settle(s, true, 0);
  block_resolve(s, true, 0, row);
  return true;
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_DRIVER_H
