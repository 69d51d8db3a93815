// SPDX-License-Identifier: Apache-2.0
// Moves every frame's links, and the extra costs of its tokens, to the end of those before, so that pruning leaves no gaps: by
// way of the scratch memory, as many at a time as fit there. None moves up, so that no part overwrites what the next ones read.

uint links_of_part(const Memory *m) { return min(m->max_candidates, 8 * m->max_slots - 1); }
__global float *extra_scratch(const Memory *m) { return (__global float *)m->items; }

// Numbers the links before each frame, in two steps with add_up between them.
uint n_own_links(const Memory *m, Share share) {
  uint n = 0;
  for (uint t = share.begin; t < share.end; ++t) n += m->frames[t].n_emitting + m->frames[t].n_epsilon;
  return n;
}
void group_count_links(__local SearchState *search, const Memory *m) {
  warp_sum(search->sums, n_own_links(m, share_of(search->job.lattice.n_frames)));
}
void group_place_frames(__local const SearchState *search, const Memory *m) {
  const Share share = share_of(search->job.lattice.n_frames);
  uint n = warp_sum_before(search->sums, n_own_links(m, share));
  for (uint t = share.begin; t < share.end; ++t) {
    moved_frames(m)[t] = n;
    n += m->frames[t].n_emitting + m->frames[t].n_epsilon;
  }
}

// Gathers the links that go to first_of_part and on, and the extra costs, which are one more.
void group_gather_part(__local const SearchState *search, const Memory *m) {
  const uint first = search->first_of_part, n_part = links_of_part(m), skip = first > 0 ? 1 : 0;
  for (uint t = warp_number(); t < search->job.lattice.n_frames; t += GROUP_SIZE / WARP) {
    const SearchFrame frame = m->frames[t];
    const uint to_link = moved_frames(m)[t];
    const uint from_extra = first_extra(search, t, frame.first_link), to_extra = from_extra - frame.first_link + to_link;
    for (uint i = lane_number(); i < frame.n_emitting + frame.n_epsilon; i += WARP) {
      const uint to = to_link + i;
      if (to < first || to - first >= n_part) continue;
      link_scratch(m)[to - first] = m->links[frame.first_link + i];
      moved_costs(m)[to - first] = m->acoustic_costs[frame.first_link + i];
    }
    for (uint i = lane_number(); i < frame.n_tokens; i += WARP) {
      const uint to = to_extra + i;
      if (to >= first + skip && to - first <= n_part) extra_scratch(m)[to - first] = m->extras[from_extra + i];
    }
  }
}
void group_put_part(__local const SearchState *search, const Memory *m) {
  const uint first = search->first_of_part, n = min(search->n_staying - first, links_of_part(m)), skip = first > 0 ? 1 : 0;
  for (uint i = get_local_id(0); i < n; i += GROUP_SIZE) {
    m->links[first + i] = link_scratch(m)[i];
    m->acoustic_costs[first + i] = moved_costs(m)[i];
  }
  for (uint i = get_local_id(0) + skip; i <= n; i += GROUP_SIZE) m->extras[first + i] = extra_scratch(m)[i];
}

void group_settle_frames(__local const SearchState *search, const Memory *m) {
  for (uint t = get_local_id(0); t < search->job.lattice.n_frames; t += GROUP_SIZE)
    m->frames[t].first_link = moved_frames(m)[t];
}
