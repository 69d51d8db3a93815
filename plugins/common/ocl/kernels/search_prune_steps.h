// SPDX-License-Identifier: Apache-2.0
// The order of the steps in which a lattice is pruned or written (search_prune.h, search_output.h, search_gaps.h); called by
// search_steps.h.

uint begin_frame(__local SearchState *search, const Memory *m);  // what follows
uint end_output(__local SearchState *search, bool fits);

// From the newest frame on.
void begin_visits(__local SearchState *search, const Memory *m) {
  const SearchFrame none = {0, 0, 0, 0, 0};
  search->writes = 0;
  search->of_frame = 0;
  search->frame = search->job.lattice.n_frames - 1;
  search->pruned = m->frames[search->frame];
  search->after = none;
  search->ahead = search->frame > 0 ? m->frames[search->frame - 1] : none;
}
uint begin_newest(__local SearchState *search, const Memory *m) {
  begin_visits(search, m);
  return kStepClearNewest;
}

// Prunes the lattice and, with what was settled by this if it is not 0, goes on with the next frame.
uint begin_pruning(__local SearchState *search, const Memory *m, bool closes_gaps, uint last_settled) {
  search->closes_gaps = closes_gaps ? 1 : 0;
  search->last_settled = last_settled;
  return search->job.lattice.n_taken > 0 ? kStepGatherFrames : begin_newest(search, m);
}

// Returns true if the links of n_frames frames as large as the newest may exceed the capacity.
bool may_lack_links_for(__local const ChannelLattice *lattice, const Memory *m, uint n_frames) {
  const uint n_last = lattice->n_links - m->frames[lattice->n_frames - 1].first_link;
  return lattice->n_links + n_frames * n_last / 4 * 5 > lattice->max_links;
}

// Returns true if the next frame may not fit; pruning can help once.
bool needs_early_pruning(__local const SearchState *search, const Memory *m) {
  __local const ChannelLattice *const lattice = &search->job.lattice;
  if (search->pruned_early) return false;
  return lattice->n_frames == lattice->max_frames || (lattice->n_unpruned > 0 && may_lack_links_for(lattice, m, 1));
}

// After a frame: the lattice is pruned now and then.
uint prune_when_due(__local SearchState *search, const Memory *m) {
  __local const ChannelLattice *const lattice = &search->job.lattice;
  const uint newest = newest_frame(lattice);
  const bool settles = settles_piece(newest, lattice->last_settled);
  search->pruned_early = 0;
  if (lattice->n_unpruned < kPruneFrames && !ends_piece(newest)) return begin_frame(search, m);
  return begin_pruning(search, m, settles || may_lack_links_for(lattice, m, kPruneFrames), settles ? newest - kPieceFrames : 0);
}

// Frames older than those that are settled, and the first whose extra costs are what they were, end a pruning.
uint end_visits(__local SearchState *search) {
  if (search->writes) return end_output(search, true);
  search->job.lattice.n_unpruned = 0;
  if (search->last_settled > 0) search->job.lattice.last_settled = search->last_settled;
  return kStepFreeExtras;
}

uint end_free_extras(__local SearchState *search, const Memory *m) {
  return !search->writes && search->closes_gaps ? kStepCountLinks : begin_frame(search, m);
}

uint number_kept(__local SearchState *search) {
  search->changes = search->writes || !search->pruned.is_pruned ? 1 : 0;
  search->n_staying = search->n_links[0] = search->n_links[1] = 0;
  return kStepNumberKept;
}

// The frame search->frame, which is search->pruned.
uint visit_frame(__local SearchState *search, const Memory *m) {
  __local const ChannelLattice *const lattice = &search->job.lattice;
  if (search->frame + 1 <= (search->writes ? n_known_frames(lattice) : n_fixed_frames(lattice))) return end_visits(search);
  search->before = search->ahead;
  if (!search->writes) search->to = search->pruned.first_link;
  search->changes = 0;
  return search->pruned.n_epsilon > 0 ? kStepFollowBack : number_kept(search);
}

uint end_following_back(__local SearchState *search) {
  if (!search->changes) return number_kept(search);
  search->changes = 0;
  return kStepFollowBack;
}

uint end_numbering_kept(__local SearchState *search) {
  if (is_newest(search)) search->n_newest = search->n_staying;
  return search->changes ? kStepPruneLinks : end_visits(search);
}

uint end_pruning_links(__local SearchState *search) {
  const bool fits = search->to + search->n_links[0] + search->n_links[1] <= search->job.lattice.max_links;
  return fits ? kStepPutLinks : end_output(search, false);
}

uint end_visit(__local SearchState *search, const Memory *m) {
  const SearchFrame pruned = {search->to, search->n_links[0], search->n_links[1], search->n_staying, 1};
  m->frames[search->writes ? output_entry(&search->job.lattice, search->frame) : search->frame] = pruned;
  if (search->writes) search->to += pruned.n_emitting + pruned.n_epsilon;
  search->after = pruned;
  search->pruned = search->before;
  --search->frame;
  search->of_frame ^= 1;
  return visit_frame(search, m);
}

uint end_taking_frames(__local SearchState *search, const Memory *m) {
  drop_taken_frames(&search->job.lattice);
  return begin_newest(search, m);
}

uint next_part_of_links(__local SearchState *search, uint first) {
  search->first_of_part = first;
  return first < search->n_staying || first == 0 ? kStepGatherPart : kStepSettleFrames;
}
