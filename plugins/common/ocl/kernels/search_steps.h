// SPDX-License-Identifier: Apache-2.0
// The order of the steps: one work-item of the group calls these functions between two steps.

uint take_job(__local SearchState *search, __global const SearchJob *jobs, uint end_job) {
  if (search->job_number >= end_job) return kStepEnd;
  search->job = jobs[search->job_number];
  search->pruned_early = 0;
  return kStepBegin;
}

void reset_frame(__local SearchState *search) {
  search->list = search->n_rounds = 0;
  search->is_emitting = search->job.begin == 0;
  search->list_size[0] = search->list_size[1] = 0;
  search->first_candidate = search->n_epsilon_links = search->n_links[0] = search->n_links[1] = 0;
  search->n_used[0] = search->n_used[1] = 0;
  search->n_candidates = search->n_active = search->n_next = search->n_within = search->n_arcs = 0;
  search->best = ordered(INFINITY);
  search->overflow = 0;
  search->is_full = 0;
  search->n_records_before = search->job.n_records;
}

// The steps of a list whose items are complete. With 64-bit atomic operations their arcs are numbered already.
uint expand_numbered(__local SearchState *search) {
  search->n_arcs += n_arcs_of(search, search->list);
  return search->is_emitting ? kStepExpand : kStepExpandEpsilons;
}
uint resolve_settled(__local const SearchState *search) { return search->is_emitting ? kStepResolve : kStepResolveEpsilons; }
uint expand_list(__local SearchState *search) { return INT64_ATOMICS ? expand_numbered(search) : kStepCountArcs; }

uint give_up(__local SearchState *search, uint status) {
  search->status = status;
  return kStepFreeSlots;
}

// Epsilon arcs of the list that was made, until no cost falls.
uint follow_epsilons(__local SearchState *search) {
  if (search->overflow != 0) return give_up(search, kSearchOverflow);
  if (makes_lattice(search) && search->is_emitting) search->first_candidate = search->n_candidates;  // these stay
  search->list ^= 1;
  search->is_emitting = 0;
  if (n_items_of(search, search->list) == 0) return kStepFinishTokens;
  if (search->n_rounds++ > n_used_of(search)) return give_up(search, kSearchNegativeCycle);
  search->list_size[search->list ^ 1] = 0;
  search->n_candidates = 0;
  return expand_list(search);
}

uint begin_selection(__local SearchState *search) {
  reset_frame(search);
  return choose_threshold(search) ? kStepSelect : kStepClearBins;
}

// The token of the start state, and the list with its epsilon arcs.
uint begin_channel(__local SearchState *search, const Memory *m) {
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
  return follow_epsilons(search);
}

uint begin_frame(__local SearchState *search, const Memory *m) {
  __local SearchJob *const job = &search->job;
  if (job->status != kSearchRunning) return kStepEndJob;
  if (job->begin) return begin_channel(search, m);
  if (job->n_consumed == job->n_frames) {
    if (!job->output || job->has_written) return kStepEndJob;
    return job->lattice.n_unpruned > 0 ? begin_pruning(search, m, true, 0) : begin_output(search, m);
  }
  if (makes_lattice(search) && needs_early_pruning(search, m)) {
    search->pruned_early = 1;
    if (job->lattice.n_unpruned < kPruneFrames / 2) ++job->n_early_prunings;
    return begin_pruning(search, m, true, 0);
  }
  if (makes_lattice(search) && job->lattice.n_frames == job->lattice.max_frames) {
    job->status = kSearchOverflow;
    job->overflow = kFramesFull;
    return kStepEndJob;
  }
  const bool needs_compaction = trace_needs_compaction(job->n_records, job->max_records, job->n_tokens, job->n_compacted);
  return needs_compaction ? kStepClearMarks : begin_selection(search);
}

// The least cost of the emitting arcs is known.
uint end_expansion(__local SearchState *search, const Memory *m) {
  if (search->is_full) return give_up(search, kSearchOverflow);
  if (!search->is_emitting) return kStepSettleKeys;
  const float best = cost_of(search->best);
  search->bound = bound_of(best, search->job.beam.beam);
  if (best <= FLT_MAX) return kStepSettleKeys;
  search->job.status = kSearchDied;
  search->job.n_active += search->n_active;
  search->job.n_arcs_expanded += search->n_arcs;
  return begin_frame(search, m);
}

// A frame that cannot be finished: as if it had not begun. If only slots in local memory were missing, or links and pruning can
// help, it begins again.
uint end_giving_up(__local SearchState *search, const Memory *m) {
  __local SearchJob *const job = &search->job;
  job->n_records = search->n_records_before;
  const bool is_overflow = search->status == kSearchOverflow;
  if (is_overflow && search->overflow == kLocalFull) {
    job->local_share = job->local_share / 4 * 3;
  } else if (is_overflow && search->overflow == kLinksFull && job->lattice.n_unpruned > 0) {
    return begin_pruning(search, m, true, 0);
  } else {
    job->status = search->status;
    job->overflow = search->overflow;
  }
  return begin_frame(search, m);
}

// Chooses the share of states that the next frame finds in local memory, so that about three quarters of its slots are used.
void share_states(__local SearchState *search) {
  const float share = (float)(LOCAL_SLOTS / 4 * 3) / (float)max(n_used_of(search), 1u);
  search->job.local_share = share >= 1 ? ALL_LOCAL : (uint)(share * 4294967040.0f);
}

// The frame's tokens and links become the channel's.
uint end_frame(__local SearchState *search, const Memory *m) {
  if (search->overflow != 0) return give_up(search, kSearchOverflow);
  __local SearchJob *const job = &search->job;
  job->current ^= 1;
  job->n_tokens = search->n_next;
  job->n_within = search->n_within;
  job->best = cost_of(search->best);
  job->n_active += search->n_active;
  job->n_arcs_expanded += search->n_arcs;
  if (!job->begin) ++job->n_consumed;
  job->begin = 0;
  share_states(search);
  if (!makes_lattice(search)) return begin_frame(search, m);
  add_frame(search, m);
  return prune_when_due(search, m);
}

// The tokens are written down; with a lattice their slots are not yet free.
uint end_tokens(__local SearchState *search, const Memory *m) {
  if (!makes_lattice(search)) return end_frame(search, m);
  return search->overflow != 0 ? give_up(search, kSearchOverflow) : kStepMakeEmittingLinks;
}

uint next_part(__local SearchState *search, uint first) {
  search->first_of_part = first;
  if (first < search->n_staying) return kStepGatherRecords;
  search->job.n_records = search->job.n_compacted = search->n_staying;
  return begin_selection(search);
}

uint next_step(__local SearchState *search, const Memory *m) {
  switch (search->step) {
    case kStepBegin:
      return begin_frame(search, m);
    case kStepFreeSlots:
      return end_giving_up(search, m);
    case kStepClearMarks:
      return kStepMarkPaths;
    case kStepMarkPaths:
      settle(search, m);
      return kStepCountBits;
    case kStepCountBits:
      search->n_staying = add_up(search->sums);
      return kStepNumberBits;
    case kStepNumberBits:
      return kStepMoveTokens;
    case kStepMoveTokens:
      return next_part(search, 0);
    case kStepGatherRecords:
      return kStepPutRecords;
    case kStepPutRecords:
      return next_part(search, search->first_of_part + m->max_candidates);
    case kStepClearBins:
      return kStepFillBins;
    case kStepFillBins:
      return narrow_kth(search, m) ? kStepFindMostCost : kStepClearBins;
    case kStepFindMostCost:
      return kStepFindMostState;
    case kStepFindMostState:
      search->threshold = (ulong)search->most_cost << 32 | search->most_state;
      return kStepFreeLocal;
    case kStepFreeLocal:
      return kStepSelect;
    case kStepSelect:
      return expand_list(search);
    case kStepCountArcs:
      search->list_size[search->list] += add_up(search->sums);
      return kStepNumberArcs;
    case kStepNumberArcs:
      return expand_numbered(search);
    case kStepSettleKeys:
      return resolve_settled(search);
    case kStepExpand:
    case kStepExpandEpsilons:
      return end_expansion(search, m);
    case kStepResolve:
    case kStepResolveEpsilons:
      return follow_epsilons(search);
    case kStepFinishTokens:
      return end_tokens(search, m);
    case kStepMakeEmittingLinks:
      return kStepMakeEpsilonLinks;
    case kStepMakeEpsilonLinks:
      return search->overflow != 0 ? give_up(search, kSearchOverflow) : kStepFreeUsed;
    case kStepFreeUsed:
      return end_frame(search, m);
    case kStepGatherFrames:
      return kStepPutFrames;
    case kStepPutFrames:
      return end_taking_frames(search, m);
    case kStepFindLeast:
      return kStepEndExtras;
    case kStepClearNewest:
    case kStepEndExtras:
      return visit_frame(search, m);
    case kStepFollowBack:
      return end_following_back(search);
    case kStepNumberKept:
      return end_numbering_kept(search);
    case kStepPruneLinks:
      return end_pruning_links(search);
    case kStepPutLinks:
      return end_visit(search, m);
    case kStepFreeExtras:
      return end_free_extras(search, m);
    case kStepCountLinks:
      search->n_staying = add_up(search->sums);
      return kStepPlaceFrames;
    case kStepPlaceFrames:
      return next_part_of_links(search, 0);
    case kStepGatherPart:
      return kStepPutPart;
    case kStepPutPart:
      return next_part_of_links(search, search->first_of_part + links_of_part(m));
    default:
      search->job.lattice.n_links = search->job.lattice.n_kept = search->n_staying;
      return begin_frame(search, m);
  }
}
