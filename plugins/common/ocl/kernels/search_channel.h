// SPDX-License-Identifier: Apache-2.0
// A channel's way through the frames of a job, and the parts of a frame that plugins/common/kernels/search_driver.h asks for.
// Conditions are the same for all work-items of a group: the data they read change between two barriers only. Functions
// named group_* have barriers, and end with one.

void reset_list(__local SearchState *search, uint list) { search->list_size[list] = search->n_candidates[list] = 0; }

void reset_frame(__local SearchState *search) {
  const FrameCounts none = {0, 0, {0, 0}};
  reset_list(search, 0);
  reset_list(search, 1);
  search->first_candidate = search->n_epsilon_links = 0;
  search->n_used[0] = search->n_used[1] = 0;
  search->n_active = search->n_arcs = 0;
  search->counts = none;
  search->best = ordered(INFINITY);
  search->overflow = 0;
  search->is_full = 0;
  search->n_records_before = search->job.n_records;
}

void group_free_slots(const Search *s) {
  for (uint slot = get_local_id(0); slot < LOCAL_SLOTS; slot += GROUP_SIZE) free_slot(s, slot);
  for (uint slot = s->m->max_slots / 2 + get_local_id(0); slot < s->m->max_slots; slot += GROUP_SIZE) free_slot(s, slot);
}

// If only slots in local memory were missing, or links and pruning can help, the frame begins again.
void team_give_up(const Search *s, uint status, uint overflow) {
  __local SearchJob *const job = &s->state->job;
  const bool can_prune = overflow == kLinksFull && job->lattice.n_unpruned > 0;
  block_sync();
  group_free_slots(s);
  if (thread_number() == 0) {
    job->n_records = s->state->n_records_before;
    if (status == kSearchOverflow && overflow == kLocalFull) {
      job->local_share = job->local_share / 4 * 3;
    } else if (status != kSearchOverflow || !can_prune) {
      job->status = status;
      job->overflow = overflow;
    }
  }
  block_sync();
}

StepTotals team_all_reduce(const Search *s, bool emitting, uint list) {
  __local SearchState *const search = s->state;
  const uint turn = search->turn;
  block_sync();
  if (thread_number() == 0) {
    const StepTotals totals = {search->overflow, 0, n_used_slots(s), search->best};
    search->step_totals[turn] = totals;
    search->turn = turn ^ 1;
  }
  block_sync();
  return search->step_totals[turn];
}

bool has_arcs_left(const Search *s, uint list, const StepTotals *totals) { return n_items_of(s->state, list) != 0; }

void know_best(const Search *s, const StepTotals *totals) {
  __local SearchState *const search = s->state;
  if (totals->overflow != 0 || cost_of(totals->best) <= FLT_MAX) return;
  search->job.status = kSearchDied;
  search->job.n_active += search->n_active;
  search->job.n_arcs_expanded += search->n_arcs;
}

__local FrameCounts *frame_counts(const Search *s) { return &s->state->counts; }

// Chooses the share of states that the next frame finds in local memory, so that about three quarters of its slots are used.
void share_states(const Search *s) {
  const float share = (float)(LOCAL_SLOTS / 4 * 3) / (float)max(n_used_slots(s), 1u);
  s->state->job.local_share = share >= 1 ? ALL_LOCAL : (uint)(share * 4294967040.0f);
}

// Makes the frame's tokens and links the channel's.
void commit(const Search *s, uint n_frames, uint best) {
  __local SearchState *const search = s->state;
  __local SearchJob *const job = &search->job;
  job->current ^= 1;
  job->n_tokens = search->counts.n_next;
  job->n_within = search->counts.n_within;
  pass_frames(&job->marks, n_frames, job->n_records);
  job->best = cost_of(best);
  job->n_active += search->n_active;
  job->n_arcs_expanded += search->n_arcs;
  job->n_consumed += n_frames;
  job->begin = 0;
  share_states(s);
  if (has_lattice(s)) add_frame(search);
}

void block_free_used(const Search *s) {
  for (uint i = get_local_id(0); i < n_used_slots(s); i += GROUP_SIZE) free_slot(s, used_slot(s, i));
}

#include "plugins/common/kernels/search_driver.h"

// Makes the token of the start state, and list 1 with its epsilon arcs.
bool group_begin(const Search *s, StepTotals *totals) {
  __local SearchState *const search = s->state;
  const Memory *const m = s->m;
  const StepTotals begun = {0, 0, 1, ordered(0.0f)};
  *totals = begun;
  if (thread_number() == 0) {
    reset_frame(search);
    const uint state = search->job.start_state, slot = find_slot(search, m, state);
    lower_key(m, true, slot, ordered(0.0f), 0);
    m->slots[slot].arc = 0;
    m->slots[slot].record = kTraceRoot;
    search->best = ordered(0.0f);
    search->bound = bound_of(0.0f, search->job.beam.beam);
    const uint begin = m->begins[state].epsilon, n_arcs = m->begins[state + 1].epsilon - begin;
    const ExpandItem item = {begin, 0.0f, slot, INT64_ATOMICS ? 0 : n_arcs};
    items_of(m, 1)[0] = item;
    if (n_arcs > 0) search->list_size[1] = 1ul << 32 | (INT64_ATOMICS ? n_arcs : 0);
  }
  return true;
}

// Returns true if the links of n_frames frames as large as the newest may exceed the capacity.
bool may_lack_links_for(__local const SearchState *search, uint n_frames) {
  __local const ChannelLattice *const lattice = &search->job.lattice;
  const uint n_last = lattice->n_links - search->lattice.frames[lattice->n_frames - 1].first_link;
  return lattice->n_links + n_frames * n_last / 4 * 5 > lattice->max_links;
}

// Takes the channel through its frames, and prunes its lattice now and then, and before a frame that may not fit, once.
void group_advance(__local SearchState *search, const Memory *m) {
  const Search s = {search, m};
  __local SearchJob *const job = &search->job;
  __local const ChannelLattice *const lattice = &job->lattice;
  const bool has_links = has_lattice(&s);
  bool prunes = false, closes_gaps = true, pruned_early = false;
  uint settles = 0;  // the last frame that settles
  while (job->status == kSearchRunning) {
    if (prunes) group_prune(search, m, closes_gaps, settles);
    prunes = false, closes_gaps = true, settles = 0;
    const bool begins = job->begin != 0, is_done = !begins && job->n_consumed == job->n_frames;
    if (is_done && (!job->output || job->has_written)) return;
    if (is_done && lattice->n_unpruned == 0) {
      group_output(search, m);
      return;
    }
    const bool frames_full = has_links && !begins && lattice->n_frames == lattice->max_frames;
    const bool may_lack_links = has_links && !begins && lattice->n_unpruned > 0 && may_lack_links_for(search, 1);
    if (is_done || (!pruned_early && (frames_full || may_lack_links))) {
      const bool is_early = !is_done && lattice->n_unpruned < kPruneFrames / 2;
      pruned_early = prunes = true;
      block_sync();
      if (thread_number() == 0 && is_early) ++job->n_early_prunings;
      continue;
    }
    if (frames_full) {
      block_sync();
      if (thread_number() == 0) {
        job->status = kSearchOverflow;
        job->overflow = kFramesFull;
      }
      block_sync();
      return;
    }
    StepTotals totals;
    const bool goes_on = begins ? group_begin(&s, &totals) : team_follow_row(&s, search, row_of(search, m), &totals);
    if (goes_on && team_finish_frame(&s, search, begins ? 0 : 1, row_of(search, m), totals)) {
      pruned_early = false;
      const uint newest = has_links ? newest_frame(lattice) : 0;
      prunes = has_links && (lattice->n_unpruned >= kPruneFrames || ends_piece(newest));
      settles = prunes && settles_piece(newest, lattice->last_settled) ? newest - kPieceFrames : 0;
      closes_gaps = prunes && (settles > 0 || may_lack_links_for(search, kPruneFrames));
    } else {
      prunes = search->overflow == kLinksFull && lattice->n_unpruned > 0;
      block_sync();
    }
  }
}
