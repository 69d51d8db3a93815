// SPDX-License-Identifier: Apache-2.0
// Moves every frame's links, and the extra costs of its tokens, to the end of those before, so that pruning leaves no gaps: by
// way of the scratch memory, as many at a time as fit there. None moves up, so that no part overwrites what the next ones read.

// Extra costs of frame t of the lattice, whose first link is given, are stored from here on.
uint first_extra(__local const SearchState *search, uint t, uint first_link) {
  return first_extra_of(search->job.lattice.first_frame + t, first_link);
}

__global SearchLink *link_scratch(const Memory *m) { return (__global SearchLink *)m->candidates; }

uint links_of_part(const Memory *m) { return min(m->max_candidates, 8 * m->max_slots - 1); }
__global float *extra_scratch(const Memory *m) { return (__global float *)m->items; }

// Numbers the links before each frame; returns the number of all. With barriers.
uint group_place_frames(__local SearchState *search, const Memory *m) {
  const Share share = share_of(search->job.lattice.n_frames);
  uint n_own = 0, n_links;
  for (uint t = share.begin; t < share.end; ++t) n_own += m->frames[t].n_emitting + m->frames[t].n_epsilon;
  uint n = group_scan(search->sums, n_own, &n_links);
  for (uint t = share.begin; t < share.end; ++t) {
    moved_frames(m)[t] = n;
    n += m->frames[t].n_emitting + m->frames[t].n_epsilon;
  }
  block_sync();
  return n_links;
}

// Gathers the links that go to `first` and on, and the extra costs, which are one more.
void group_gather_part(__local const SearchState *search, const Memory *m, uint first) {
  const uint n_part = links_of_part(m), skip = first > 0 ? 1 : 0;
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
void group_put_part(const Memory *m, uint first, uint n_links) {
  const uint n = min(n_links - first, links_of_part(m)), skip = first > 0 ? 1 : 0;
  for (uint i = get_local_id(0); i < n; i += GROUP_SIZE) {
    m->links[first + i] = link_scratch(m)[i];
    m->acoustic_costs[first + i] = moved_costs(m)[i];
  }
  for (uint i = get_local_id(0) + skip; i <= n; i += GROUP_SIZE) m->extras[first + i] = extra_scratch(m)[i];
}

// With barriers.
void group_close_gaps(__local SearchState *search, const Memory *m) {
  const uint n_frames = search->job.lattice.n_frames, n_links = group_place_frames(search, m);
  uint first = 0;
  do {  // also without links, for the extra costs
    group_gather_part(search, m, first);
    block_sync();
    group_put_part(m, first, n_links);
    block_sync();
    first += links_of_part(m);
  } while (first < n_links);
  for (uint t = get_local_id(0); t < n_frames; t += GROUP_SIZE) m->frames[t].first_link = moved_frames(m)[t];
  if (is_first()) search->job.lattice.n_links = search->job.lattice.n_kept = n_links;
  block_sync();
}
