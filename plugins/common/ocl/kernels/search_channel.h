// SPDX-License-Identifier: Apache-2.0
// A channel's way through the frames of a job. Conditions are the same for all work-items of a group: what they read changes
// between two barriers only. All functions of whole groups here have barriers, and end with one.

void reset_frame(__local SearchState *search) {
  search->list_size[0] = search->list_size[1] = 0;
  search->first_candidate = search->n_epsilon_links = search->n_links[0] = search->n_links[1] = 0;
  search->n_used[0] = search->n_used[1] = 0;
  search->n_candidates = search->n_active = search->n_next = search->n_within = search->n_arcs = 0;
  search->best = ordered(INFINITY);
  search->overflow = 0;
  search->is_full = 0;
  search->n_records_before = search->job.n_records;
}

// A frame that cannot be finished: as if it had not begun. If only slots in local memory were missing, or links and pruning can
// help, it begins again.
void group_give_up(__local SearchState *search, const Memory *m, uint status) {
  __local SearchJob *const job = &search->job;
  const bool is_overflow = status == kSearchOverflow, lacks_local = is_overflow && search->overflow == kLocalFull;
  const bool can_prune = is_overflow && search->overflow == kLinksFull && job->lattice.n_unpruned > 0;
  block_sync();
  group_free_slots(m);
  if (is_first()) {
    job->n_records = search->n_records_before;
    if (lacks_local) {
      job->local_share = job->local_share / 4 * 3;
    } else if (!can_prune) {
      job->status = status;
      job->overflow = search->overflow;
    }
  }
  block_sync();
}

// Follows the arcs of a complete list, and makes tokens of the candidates that won. Returns false if the frame is void. Of
// emitting arcs none may be left; then search->best is infinite.
bool group_follow_arcs(__local SearchState *search, const Memory *m, uint list, bool emitting) {
  group_number_arcs(search, m, list);
  if (is_first()) search->n_arcs += n_arcs_of(search, list);
  group_expand(search, m, list, emitting);
  block_sync();
  if (search->is_full) return false;
  if (emitting && is_first()) search->bound = bound_of(cost_of(search->best), search->job.beam.beam);
  group_settle_keys(search, m);
  block_sync();
  group_resolve(search, m, list, emitting);
  block_sync();
  return true;
}

// Follows epsilon arcs, those of list 1 first, until no cost falls. Returns why the frame is void, or kSearchRunning.
uint group_follow_epsilons(__local SearchState *search, const Memory *m) {
  for (uint n_rounds = 0, list = 1;; ++n_rounds, list ^= 1) {
    if (search->overflow != 0) return kSearchOverflow;
    if (n_items_of(search, list) == 0) return kSearchRunning;
    if (n_rounds > n_used_of(search)) return kSearchNegativeCycle;
    if (is_first()) search->list_size[list ^ 1] = search->n_candidates = 0;
    block_sync();
    if (!group_follow_arcs(search, m, list, false)) return kSearchOverflow;
  }
}

// Writes the tokens down and frees their slots, or, if there are links to be made, numbers their tokens.
void group_finish_tokens(__local SearchState *search, const Memory *m) {
  __global SearchToken *const tokens = next_tokens(search, m);
  const float cutoff = cost_of(search->best) + search->job.beam.beam;
  const bool frees = !makes_lattice(search);
  const uint n_used = n_used_of(search);
  uint n_within = 0;
  for (uint first = warp_number() * WARP; first < n_used; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    SearchToken token = {0, 0.0f, 0};
    bool keep = false;
    uint slot = 0;
    if (i < n_used) {
      slot = used_slot(search, m, i);
      token.state = state_in(m, slot);
      token.cost = cost_of(cost_in(m, slot));
      token.record = m->slots[slot].record;
      keep = token.cost <= search->bound;
      if (frees) free_slot(m, slot);
    }
    const uint index = warp_append(&search->n_next, keep);
    if (keep && !frees) m->slots[slot].arc = index;
    if (keep && index < search->job.max_tokens) tokens[index] = token;
    if (keep && index >= search->job.max_tokens) report_full(search, kTokensFull);
    n_within += keep && token.cost <= cutoff ? 1 : 0;
  }
  warp_add(&search->n_within, n_within);
  block_sync();
}

// Chooses the share of states that the next frame finds in local memory, so that about three quarters of its slots are used.
void share_states(__local SearchState *search) {
  const float share = (float)(LOCAL_SLOTS / 4 * 3) / (float)max(n_used_of(search), 1u);
  search->job.local_share = share >= 1 ? ALL_LOCAL : (uint)(share * 4294967040.0f);
}

// The frame's tokens and links become the channel's: by one work-item.
void commit(__local SearchState *search, const Memory *m) {
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
  if (makes_lattice(search)) add_frame(search, m);
}

// Epsilon arcs and what follows them. Returns false if the frame was given up.
bool group_finish_frame(__local SearchState *search, const Memory *m) {
  const bool has_links = makes_lattice(search);
  uint status = group_follow_epsilons(search, m);
  if (status == kSearchRunning) {
    group_finish_tokens(search, m);
    if (has_links) {
      group_make_emitting_links(search, m);
      block_sync();
      group_make_epsilon_links(search, m);
      block_sync();
    }
    if (search->overflow != 0) status = kSearchOverflow;
  }
  if (status != kSearchRunning) {
    group_give_up(search, m, status);
    return false;
  }
  if (has_links) group_free_used(search, m);
  if (is_first()) commit(search, m);
  block_sync();
  return true;
}

// The token of the start state, and list 1 with its epsilon arcs: by one work-item.
void begin_channel(__local SearchState *search, const Memory *m) {
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

// Selects tokens and follows their emitting arcs. Returns false if the frame was given up or no token survives.
bool group_consume_row(__local SearchState *search, const Memory *m) {
  __local SearchJob *const job = &search->job;
  if (trace_needs_compaction(job->n_records, job->max_records, job->n_tokens, job->n_compacted)) group_compact_trace(search, m);
  if (is_first()) {
    reset_frame(search);
    choose_threshold(search);
  }
  block_sync();
  if (!search->is_beam) group_find_kth(search, m);
  group_select(search, m);
  block_sync();
  if (!group_follow_arcs(search, m, 0, true)) {
    group_give_up(search, m, kSearchOverflow);
    return false;
  }
  const bool died = !(cost_of(search->best) <= FLT_MAX);
  if (is_first() && died) {
    job->status = kSearchDied;
    job->n_active += search->n_active;
    job->n_arcs_expanded += search->n_arcs;
  }
  if (is_first() && makes_lattice(search)) search->first_candidate = search->n_candidates;  // these stay
  block_sync();
  return !died;
}

// Returns true if the links of n_frames frames as large as the newest may exceed the capacity.
bool may_lack_links_for(__local const SearchState *search, uint n_frames) {
  __local const ChannelLattice *const lattice = &search->job.lattice;
  const uint n_last = lattice->n_links - search->lattice.frames[lattice->n_frames - 1].first_link;
  return lattice->n_links + n_frames * n_last / 4 * 5 > lattice->max_links;
}

// Takes the channel through its frames, and prunes its lattice now and then, and before a frame that may not fit, once.
void group_advance(__local SearchState *search, const Memory *m) {
  __local SearchJob *const job = &search->job;
  __local const ChannelLattice *const lattice = &job->lattice;
  const bool has_links = makes_lattice(search);
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
    const bool may_lack_links =
        has_links && !begins && lattice->n_unpruned > 0 && may_lack_links_for(search, 1);
    if (is_done || (!pruned_early && (frames_full || may_lack_links))) {
      const bool is_early = !is_done && lattice->n_unpruned < kPruneFrames / 2;
      pruned_early = prunes = true;
      block_sync();
      if (is_first() && is_early) ++job->n_early_prunings;
      continue;
    }
    if (frames_full) {
      block_sync();
      if (is_first()) {
        job->status = kSearchOverflow;
        job->overflow = kFramesFull;
      }
      block_sync();
      return;
    }
    if (begins) {
      if (is_first()) begin_channel(search, m);
      block_sync();
    }
    if ((begins || group_consume_row(search, m)) && group_finish_frame(search, m)) {
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
