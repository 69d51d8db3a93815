// SPDX-License-Identifier: Apache-2.0
// What follows what while a lattice is pruned (search_prune.h, search_gaps.h) and when that is; called by search_steps.h.

enum {
  kPruneFrames = 16,   // pruned when so many are new
  kPieceFrames = 256,  // "Pieces" in docs/search.md
};

uint begin_frame(__local Lane *lane, const Memory *m);  // what follows

// Prunes the lattice and, with what was settled by this if it is not 0, goes on with the next frame.
uint begin_pruning(__local Lane *lane, bool closes_gaps, uint last_settled) {
  lane->closes_gaps = closes_gaps ? 1 : 0;
  lane->last_settled = last_settled;
  lane->of_frame = 0;
  lane->frame = lane->job.lattice.n_frames - lane->job.lattice.n_taken - 1;
  return lane->job.lattice.n_taken > 0 ? kStepGatherFrames : kStepClearNewest;
}

// Whether the next frame's links may not fit, by those of the last; pruning can help once.
bool is_cramped(__local const Lane *lane, const Memory *m) {
  __local const SearchLinks *const lattice = &lane->job.lattice;
  if (lane->prunes_for_room) return false;
  if (lattice->n_frames == lattice->max_frames) return true;
  const uint n_last = lattice->n_links - m->frames[lattice->n_frames - 1].first_link;
  return lattice->n_unpruned > 0 && lattice->n_links + n_last * 5 / 4 > lattice->max_links;
}

// After a frame: the lattice is pruned now and then.
uint tend_lattice(__local Lane *lane, const Memory *m) {
  __local const SearchLinks *const lattice = &lane->job.lattice;
  const uint newest = lattice->first_frame + lattice->n_frames - 1;
  const bool ends_piece = newest % kPieceFrames == 0;
  const bool settles = ends_piece && newest >= 2 * kPieceFrames && newest - kPieceFrames > lattice->last_settled;
  lane->prunes_for_room = 0;
  if (lattice->n_unpruned < kPruneFrames && !ends_piece) return begin_frame(lane, m);
  return begin_pruning(lane, settles, settles ? newest - kPieceFrames : 0);
}

// Frames older than those that are settled, and the first whose extra costs are what they were, end a pruning.
uint end_pruning(__local Lane *lane, const Memory *m) {
  lane->job.lattice.n_unpruned = 0;
  if (lane->last_settled > 0) lane->job.lattice.last_settled = lane->last_settled;
  return lane->closes_gaps ? kStepCountLinks : begin_frame(lane, m);
}

uint count_kept(__local Lane *lane, const Memory *m) {
  lane->changes = m->frames[lane->frame].is_pruned ? 0 : 1;
  return kStepCountKept;
}

uint prune_frame(__local Lane *lane, const Memory *m) {
  __local const SearchLinks *const lattice = &lane->job.lattice;
  const uint n_fixed = lattice->last_settled > 0 ? lattice->last_settled - lattice->first_frame + 1 : 0;
  if (lane->frame + 1 <= n_fixed) return end_pruning(lane, m);
  lane->changes = 0;
  return m->frames[lane->frame].n_epsilon > 0 ? kStepFollowBack : count_kept(lane, m);
}

uint end_following_back(__local Lane *lane, const Memory *m) {
  if (!lane->changes) return count_kept(lane, m);
  lane->changes = 0;
  return kStepFollowBack;
}

uint end_counting_kept(__local Lane *lane, const Memory *m) {
  if (!lane->changes) return end_pruning(lane, m);
  lane->n_staying = add_up(lane->sums);
  lane->n_links[0] = lane->n_links[1] = 0;
  return kStepNumberKept;
}

uint end_pruning_frame(__local Lane *lane, const Memory *m) {
  __global SearchFrame *const frame = &m->frames[lane->frame];
  const SearchFrame pruned = {frame->first_link, lane->n_links[0], lane->n_links[1], lane->n_staying, 1, 0};
  *frame = pruned;
  --lane->frame;
  lane->of_frame ^= 1;
  return prune_frame(lane, m);
}

uint end_taking_frames(__local Lane *lane) {
  __local SearchLinks *const lattice = &lane->job.lattice;
  lattice->first_frame += lattice->n_taken;
  lattice->n_frames -= lattice->n_taken;
  lattice->n_taken = 0;
  return kStepClearNewest;
}

uint next_part_of_links(__local Lane *lane, uint first) {
  lane->first_of_part = first;
  return first < lane->n_staying || first == 0 ? kStepGatherPart : kStepSettleFrames;
}
