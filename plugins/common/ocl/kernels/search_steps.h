// SPDX-License-Identifier: Apache-2.0
// What follows what: one work-item of the group calls these functions between two steps.

uint take_job(__local Lane *lane, __global const SearchJob *jobs, uint end_job) {
  if (lane->job_number >= end_job) return kStepEnd;
  lane->job = jobs[lane->job_number];
  lane->prunes_for_room = 0;
  return kStepBegin;
}

void reset_frame(__local Lane *lane) {
  lane->list = lane->n_rounds = 0;
  lane->is_emitting = lane->job.begin == 0;
  lane->list_size[0] = lane->list_size[1] = 0;
  lane->first_candidate = lane->n_epsilon_links = lane->n_links[0] = lane->n_links[1] = 0;
  lane->n_used[0] = lane->n_used[1] = 0;
  lane->n_candidates = lane->n_active = lane->n_next = lane->n_within = lane->n_arcs = 0;
  lane->best = ordered(INFINITY);
  lane->overflow = 0;
  lane->is_full = 0;
  lane->n_records_before = lane->job.n_records;
}

// The steps of a list whose items are complete. With 64-bit atomic operations their arcs are numbered already.
uint expand_numbered(__local Lane *lane) {
  lane->n_arcs += n_arcs_of(lane, lane->list);
  return lane->is_emitting ? kStepExpand : kStepExpandEpsilons;
}
uint resolve_settled(__local const Lane *lane) { return lane->is_emitting ? kStepResolve : kStepResolveEpsilons; }
uint expand_list(__local Lane *lane) { return INT64_ATOMICS ? expand_numbered(lane) : kStepCountArcs; }

uint give_up(__local Lane *lane, uint status) {
  lane->status = status;
  return kStepFreeSlots;
}

// Epsilon arcs of the list that was made, until no cost falls.
uint follow_epsilons(__local Lane *lane) {
  if (lane->overflow != 0) return give_up(lane, kSearchOverflow);
  if (makes_lattice(lane) && lane->is_emitting) lane->first_candidate = lane->n_candidates;  // these stay
  lane->list ^= 1;
  lane->is_emitting = 0;
  if (n_items_of(lane, lane->list) == 0) return kStepFinishTokens;
  if (lane->n_rounds++ > n_used_of(lane)) return give_up(lane, kSearchNegativeCycle);
  lane->list_size[lane->list ^ 1] = 0;
  lane->n_candidates = 0;
  return expand_list(lane);
}

uint begin_selection(__local Lane *lane) {
  reset_frame(lane);
  return choose_threshold(lane) ? kStepSelect : kStepClearBins;
}

// The token of the start state, and the list with its epsilon arcs.
uint begin_channel(__local Lane *lane, const Memory *m) {
  reset_frame(lane);
  const uint state = lane->job.start_state, slot = find_slot(lane, m, state);
  lower_key(m, true, slot, ordered(0.0f), 0);
  m->slots[slot].arc = 0;
  m->slots[slot].record = kTraceRoot;
  lane->best = ordered(0.0f);
  lane->bound = bound_of(0.0f, lane->job.beam.beam);
  const uint begin = m->begins[state].epsilon, n_arcs = m->begins[state + 1].epsilon - begin;
  const ExpandItem item = {begin, 0.0f, slot, INT64_ATOMICS ? 0 : n_arcs};
  items_of(m, 1)[0] = item;
  if (n_arcs > 0) lane->list_size[1] = 1ul << 32 | (INT64_ATOMICS ? n_arcs : 0);
  return follow_epsilons(lane);
}

uint begin_frame(__local Lane *lane, const Memory *m) {
  __local SearchJob *const job = &lane->job;
  if (job->status != kSearchRunning) return kStepEndJob;
  if (job->begin) return begin_channel(lane, m);
  if (job->n_consumed == job->n_frames) {
    if (!job->output) return kStepEndJob;
    return job->lattice.n_unpruned > 0 ? begin_pruning(lane, m, true, 0) : begin_output(lane, m);
  }
  if (makes_lattice(lane) && is_cramped(lane, m)) {
    lane->prunes_for_room = 1;
    if (job->lattice.n_unpruned < kPruneFrames / 2) ++job->lattice.n_cramped;
    return begin_pruning(lane, m, true, 0);
  }
  if (makes_lattice(lane) && job->lattice.n_frames == job->lattice.max_frames) {
    job->status = kSearchOverflow;
    job->overflow = kFramesFull;
    return kStepEndJob;
  }
  const bool is_crowded = trace_is_crowded(job->n_records, job->max_records, job->n_tokens, job->n_compacted);
  return is_crowded ? kStepClearMarks : begin_selection(lane);
}

// The least cost of the emitting arcs is known.
uint end_expansion(__local Lane *lane, const Memory *m) {
  if (lane->is_full) return give_up(lane, kSearchOverflow);
  if (!lane->is_emitting) return kStepSettleKeys;
  const float best = cost_of(lane->best);
  lane->bound = bound_of(best, lane->job.beam.beam);
  if (best <= FLT_MAX) return kStepSettleKeys;
  lane->job.status = kSearchDied;
  lane->job.n_active += lane->n_active;
  lane->job.n_arcs_expanded += lane->n_arcs;
  return begin_frame(lane, m);
}

// A frame that cannot be finished: as if it had not begun. If only slots in local memory were missing, or links and pruning can
// help, it begins again.
uint end_giving_up(__local Lane *lane, const Memory *m) {
  __local SearchJob *const job = &lane->job;
  job->n_records = lane->n_records_before;
  const bool is_overflow = lane->status == kSearchOverflow;
  if (is_overflow && lane->overflow == kLocalFull) {
    job->local_share = job->local_share / 4 * 3;
  } else if (is_overflow && lane->overflow == kLinksFull && job->lattice.n_unpruned > 0) {
    return begin_pruning(lane, m, true, 0);
  } else {
    job->status = lane->status;
    job->overflow = lane->overflow;
  }
  return begin_frame(lane, m);
}

// How many states the next frame finds in local memory: so many that about three quarters of its slots are used.
void share_states(__local Lane *lane) {
  const float share = (float)(LOCAL_SLOTS / 4 * 3) / (float)max(n_used_of(lane), 1u);
  lane->job.local_share = share >= 1 ? ALL_LOCAL : (uint)(share * 4294967040.0f);
}

// The frame's tokens and links become the channel's.
uint end_frame(__local Lane *lane, const Memory *m) {
  if (lane->overflow != 0) return give_up(lane, kSearchOverflow);
  __local SearchJob *const job = &lane->job;
  job->current ^= 1;
  job->n_tokens = lane->n_next;
  job->n_within = lane->n_within;
  job->best = cost_of(lane->best);
  job->n_active += lane->n_active;
  job->n_arcs_expanded += lane->n_arcs;
  if (!job->begin) ++job->n_consumed;
  job->begin = 0;
  share_states(lane);
  if (!makes_lattice(lane)) return begin_frame(lane, m);
  add_frame(lane, m);
  return tend_lattice(lane, m);
}

// The tokens are written down; with a lattice their slots are not yet free.
uint end_tokens(__local Lane *lane, const Memory *m) {
  if (!makes_lattice(lane)) return end_frame(lane, m);
  return lane->overflow != 0 ? give_up(lane, kSearchOverflow) : kStepMakeEmittingLinks;
}

uint next_part(__local Lane *lane, uint first) {
  lane->first_of_part = first;
  if (first < lane->n_staying) return kStepGatherRecords;
  lane->job.n_records = lane->job.n_compacted = lane->n_staying;
  return begin_selection(lane);
}

uint next_step(__local Lane *lane, const Memory *m) {
  switch (lane->step) {
    case kStepBegin:
      return begin_frame(lane, m);
    case kStepFreeSlots:
      return end_giving_up(lane, m);
    case kStepClearMarks:
      return kStepMarkPaths;
    case kStepMarkPaths:
      settle(lane, m);
      return kStepCountBits;
    case kStepCountBits:
      lane->n_staying = add_up(lane->sums);
      return kStepNumberBits;
    case kStepNumberBits:
      return kStepMoveTokens;
    case kStepMoveTokens:
      return next_part(lane, 0);
    case kStepGatherRecords:
      return kStepPutRecords;
    case kStepPutRecords:
      return next_part(lane, lane->first_of_part + m->max_candidates);
    case kStepClearBins:
      return kStepFillBins;
    case kStepFillBins:
      return narrow_kth(lane, m) ? kStepFindMostCost : kStepClearBins;
    case kStepFindMostCost:
      return kStepFindMostState;
    case kStepFindMostState:
      lane->threshold = (ulong)lane->most_cost << 32 | lane->most_state;
      return kStepFreeLocal;
    case kStepFreeLocal:
      return kStepSelect;
    case kStepSelect:
      return expand_list(lane);
    case kStepCountArcs:
      lane->list_size[lane->list] += add_up(lane->sums);
      return kStepNumberArcs;
    case kStepNumberArcs:
      return expand_numbered(lane);
    case kStepSettleKeys:
      return resolve_settled(lane);
    case kStepExpand:
    case kStepExpandEpsilons:
      return end_expansion(lane, m);
    case kStepResolve:
    case kStepResolveEpsilons:
      return follow_epsilons(lane);
    case kStepFinishTokens:
      return end_tokens(lane, m);
    case kStepMakeEmittingLinks:
      return kStepMakeEpsilonLinks;
    case kStepMakeEpsilonLinks:
      return lane->overflow != 0 ? give_up(lane, kSearchOverflow) : kStepFreeUsed;
    case kStepFreeUsed:
      return end_frame(lane, m);
    case kStepGatherFrames:
      return kStepPutFrames;
    case kStepPutFrames:
      return end_taking_frames(lane, m);
    case kStepFindLeast:
      return kStepEndExtras;
    case kStepClearNewest:
    case kStepEndExtras:
      return visit_frame(lane, m);
    case kStepFollowBack:
      return end_following_back(lane);
    case kStepNumberKept:
      return end_numbering_kept(lane);
    case kStepPruneLinks:
      return end_pruning_links(lane);
    case kStepPutLinks:
      return end_visit(lane, m);
    case kStepFreeExtras:
      return end_free_extras(lane, m);
    case kStepCountLinks:
      lane->n_staying = add_up(lane->sums);
      return kStepPlaceFrames;
    case kStepPlaceFrames:
      return next_part_of_links(lane, 0);
    case kStepGatherPart:
      return kStepPutPart;
    case kStepPutPart:
      return next_part_of_links(lane, lane->first_of_part + links_of_part(m));
    default:
      lane->job.lattice.n_links = lane->job.lattice.n_kept = lane->n_staying;
      return begin_frame(lane, m);
  }
}
