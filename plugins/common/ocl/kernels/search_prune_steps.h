// SPDX-License-Identifier: Apache-2.0
// What follows what while a lattice is pruned or written (search_prune.h, search_output.h, search_gaps.h) and when that is;
// called by search_steps.h.

uint begin_frame(__local Lane *lane, const Memory *m);  // what follows
uint end_output(__local Lane *lane, bool fits);
uint n_known(__local const SearchLinks *lattice);

// From the newest frame on.
void begin_visits(__local Lane *lane, const Memory *m) {
  const SearchFrame none = {0, 0, 0, 0, 0, 0};
  lane->writes = 0;
  lane->of_frame = 0;
  lane->frame = lane->job.lattice.n_frames - 1;
  lane->pruned = m->frames[lane->frame];
  lane->after = none;
  lane->ahead = lane->frame > 0 ? m->frames[lane->frame - 1] : none;
}
uint begin_newest(__local Lane *lane, const Memory *m) {
  begin_visits(lane, m);
  return kStepClearNewest;
}

// Prunes the lattice and, with what was settled by this if it is not 0, goes on with the next frame.
uint begin_pruning(__local Lane *lane, const Memory *m, bool closes_gaps, uint last_settled) {
  lane->closes_gaps = closes_gaps ? 1 : 0;
  lane->last_settled = last_settled;
  return lane->job.lattice.n_taken > 0 ? kStepGatherFrames : begin_newest(lane, m);
}

// Whether there may be no room for the links of so many frames, by those of the last.
bool lacks_room_for(__local const SearchLinks *lattice, const Memory *m, uint n_frames) {
  const uint n_last = lattice->n_links - m->frames[lattice->n_frames - 1].first_link;
  return lattice->n_links + n_frames * n_last / 4 * 5 > lattice->max_links;
}

// Whether the next frame may not fit; pruning can help once.
bool is_cramped(__local const Lane *lane, const Memory *m) {
  __local const SearchLinks *const lattice = &lane->job.lattice;
  if (lane->prunes_for_room) return false;
  return lattice->n_frames == lattice->max_frames || (lattice->n_unpruned > 0 && lacks_room_for(lattice, m, 1));
}

// After a frame: the lattice is pruned now and then.
uint tend_lattice(__local Lane *lane, const Memory *m) {
  __local const SearchLinks *const lattice = &lane->job.lattice;
  const uint newest = lattice->first_frame + lattice->n_frames - 1;
  const bool settles = settles_piece(newest, lattice->last_settled);
  lane->prunes_for_room = 0;
  if (lattice->n_unpruned < kPruneFrames && !ends_piece(newest)) return begin_frame(lane, m);
  return begin_pruning(lane, m, settles || lacks_room_for(lattice, m, kPruneFrames), settles ? newest - kPieceFrames : 0);
}

// Frames older than those that are settled, and the first whose extra costs are what they were, end a pruning.
uint end_visits(__local Lane *lane) {
  if (lane->writes) return end_output(lane, true);
  lane->job.lattice.n_unpruned = 0;
  if (lane->last_settled > 0) lane->job.lattice.last_settled = lane->last_settled;
  return kStepFreeExtras;
}

uint end_free_extras(__local Lane *lane, const Memory *m) {
  return !lane->writes && lane->closes_gaps ? kStepCountLinks : begin_frame(lane, m);
}

uint number_kept(__local Lane *lane) {
  lane->changes = lane->writes || !lane->pruned.is_pruned ? 1 : 0;
  lane->n_staying = lane->n_links[0] = lane->n_links[1] = 0;
  return kStepNumberKept;
}

// The frame lane->frame, which is lane->pruned.
uint visit_frame(__local Lane *lane, const Memory *m) {
  __local const SearchLinks *const lattice = &lane->job.lattice;
  const uint n_settled = n_settled_frames(lattice->last_settled, lattice->first_frame);
  if (lane->frame + 1 <= (lane->writes ? n_known(lattice) : n_settled)) return end_visits(lane);
  lane->before = lane->ahead;
  if (!lane->writes) lane->to = lane->pruned.first_link;
  lane->changes = 0;
  return lane->pruned.n_epsilon > 0 ? kStepFollowBack : number_kept(lane);
}

uint end_following_back(__local Lane *lane) {
  if (!lane->changes) return number_kept(lane);
  lane->changes = 0;
  return kStepFollowBack;
}

uint end_numbering_kept(__local Lane *lane) {
  if (is_newest(lane)) lane->n_newest = lane->n_staying;
  return lane->changes ? kStepPruneLinks : end_visits(lane);
}

uint end_pruning_links(__local Lane *lane) {
  const bool fits = lane->to + lane->n_links[0] + lane->n_links[1] <= lane->job.lattice.max_links;
  return fits ? kStepPutLinks : end_output(lane, false);
}

uint end_visit(__local Lane *lane, const Memory *m) {
  const uint n_frames = lane->job.lattice.n_frames;
  const SearchFrame pruned = {lane->to, lane->n_links[0], lane->n_links[1], lane->n_staying, 1, 0};
  m->frames[lane->writes ? n_frames + (n_frames - 1 - lane->frame) : lane->frame] = pruned;
  if (lane->writes) lane->to += pruned.n_emitting + pruned.n_epsilon;
  lane->after = pruned;
  lane->pruned = lane->before;
  --lane->frame;
  lane->of_frame ^= 1;
  return visit_frame(lane, m);
}

uint end_taking_frames(__local Lane *lane, const Memory *m) {
  __local SearchLinks *const lattice = &lane->job.lattice;
  lattice->first_frame += lattice->n_taken;
  lattice->n_frames -= lattice->n_taken;
  lattice->n_taken = 0;
  return begin_newest(lane, m);
}

uint next_part_of_links(__local Lane *lane, uint first) {
  lane->first_of_part = first;
  return first < lane->n_staying || first == 0 ? kStepGatherPart : kStepSettleFrames;
}
