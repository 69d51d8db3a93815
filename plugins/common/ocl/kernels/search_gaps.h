// SPDX-License-Identifier: Apache-2.0
// Moves every frame's links, and the extra costs of its tokens, to the end of those before, so that pruning leaves no gaps: by
// way of the scratch memory, as many at a time as fit there. None moves up, so that no part overwrites what the next ones read.

uint links_of_part(const Memory *m) { return min(m->max_candidates, 8 * m->max_slots - 1); }
__global float *extra_scratch(const Memory *m) { return (__global float *)m->items; }

// How many links are before each frame, in two steps with add_up between them.
uint n_own_links(const Memory *m, Share share) {
  uint n = 0;
  for (uint t = share.begin; t < share.end; ++t) n += m->frames[t].n_emitting + m->frames[t].n_epsilon;
  return n;
}
void group_count_links(__local Lane *lane, const Memory *m) {
  warp_sum(lane->sums, n_own_links(m, share_of(lane->job.lattice.n_frames)));
}
void group_place_frames(__local const Lane *lane, const Memory *m) {
  const Share share = share_of(lane->job.lattice.n_frames);
  uint n = warp_sum_before(lane->sums, n_own_links(m, share));
  for (uint t = share.begin; t < share.end; ++t) {
    m->frames[t].moves_to = n;
    n += m->frames[t].n_emitting + m->frames[t].n_epsilon;
  }
}

// What goes to the links from first_of_part on, and to the extra costs, which are one more.
void group_gather_part(__local const Lane *lane, const Memory *m) {
  const uint first = lane->first_of_part, n_part = links_of_part(m), skip = first > 0 ? 1 : 0;
  for (uint t = warp_number(); t < lane->job.lattice.n_frames; t += GROUP_SIZE / WARP) {
    const SearchFrame frame = m->frames[t];
    const uint from_extra = first_extra(lane, t, frame.first_link), to_extra = from_extra - frame.first_link + frame.moves_to;
    for (uint i = lane_number(); i < frame.n_emitting + frame.n_epsilon; i += WARP) {
      const uint to = frame.moves_to + i;
      if (to >= first && to - first < n_part) link_scratch(m)[to - first] = m->links[frame.first_link + i];
    }
    for (uint i = lane_number(); i < frame.n_tokens; i += WARP) {
      const uint to = to_extra + i;
      if (to >= first + skip && to - first <= n_part) extra_scratch(m)[to - first] = m->extras[from_extra + i];
    }
  }
}
void group_put_part(__local const Lane *lane, const Memory *m) {
  const uint first = lane->first_of_part, n = min(lane->n_staying - first, links_of_part(m)), skip = first > 0 ? 1 : 0;
  for (uint i = get_local_id(0); i < n; i += GROUP_SIZE) m->links[first + i] = link_scratch(m)[i];
  for (uint i = get_local_id(0) + skip; i <= n; i += GROUP_SIZE) m->extras[first + i] = extra_scratch(m)[i];
}

void group_settle_frames(__local const Lane *lane, const Memory *m) {
  for (uint t = get_local_id(0); t < lane->job.lattice.n_frames; t += GROUP_SIZE)
    m->frames[t].first_link = m->frames[t].moves_to;
}
