// SPDX-License-Identifier: Apache-2.0
// Removes the links that cannot be in the final lattice (docs/search.md, "The lattice"): extra costs are found from the newest
// frame backwards, with 0 for all of its tokens, until a frame has the extra costs it had the last time. In a frame they are
// the fixed point of its epsilon links; then its tokens within the beam are numbered anew, and its links within the beam go by
// way of the scratch memory to the front of the frame's place. Extra costs are at least 0, so that their bits order like they
// do.

// By token, in the place of the lists, which are free between frames.
typedef struct {
  __global uint *of_frame, *before, *new_number;
} Extras;

Extras extras_of(__local const Lane *lane, const Memory *m) {
  __global uint *const all = (__global uint *)m->items;
  const Extras extras = {all + (size_t)lane->of_frame * m->max_slots, all + (size_t)(lane->of_frame ^ 1) * m->max_slots,
                         all + 2 * (size_t)m->max_slots};
  return extras;
}

uint extra_now(__global const uint *extra) { return *(volatile __global const uint *)extra; }

// The extra cost of the best path through a link.
uint extra_through(const Extras *extras, SearchLink link) {
  return as_uint(as_float(extra_now(extras->of_frame + link.destination)) + link.cost);
}

// Where the extra costs of a frame's tokens are kept: there are no more tokens than links, but in frame 0 one more.
uint first_extra(__local const Lane *lane, const Memory *m, uint t) {
  return m->frames[t].first_link + (lane->job.lattice.first_frame + t > 0 ? 1 : 0);
}

__global SearchLink *link_scratch(const Memory *m) { return (__global SearchLink *)m->candidates; }

// The frames that the host has taken go, by way of the scratch memory.
void group_gather_frames(__local const Lane *lane, const Memory *m) {
  __global SearchFrame *const scratch = (__global SearchFrame *)m->candidates;
  const uint n_taken = lane->job.lattice.n_taken;
  for (uint t = n_taken + get_local_id(0); t < lane->job.lattice.n_frames; t += GROUP_SIZE) scratch[t - n_taken] = m->frames[t];
}
void group_put_frames(__local const Lane *lane, const Memory *m) {
  __global const SearchFrame *const scratch = (__global const SearchFrame *)m->candidates;
  const uint n = lane->job.lattice.n_frames - lane->job.lattice.n_taken;
  for (uint t = get_local_id(0); t < n; t += GROUP_SIZE) m->frames[t] = scratch[t];
}

void group_clear_newest(__local const Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  for (uint i = get_local_id(0); i < m->frames[lane->frame].n_tokens; i += GROUP_SIZE) extras.of_frame[i] = 0;
}

// Extra costs of tokens that epsilon links leave; again until none falls.
void group_follow_back(__local Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  const SearchFrame frame = m->frames[lane->frame];
  __global const SearchLink *const links = m->links + frame.first_link + frame.n_emitting;
  bool fell = false;
  for (uint i = get_local_id(0); i < frame.n_epsilon; i += GROUP_SIZE) {
    const uint through = extra_through(&extras, links[i]);
    __global uint *const source = extras.of_frame + links[i].source;
    if (through < extra_now(source)) fell |= atomic_min(source, through) > through;
  }
  if (fell) lane->changes = 1;
}

// How many tokens are within the beam, and whether extra costs are other than the last time.
uint n_own_kept(__local const Lane *lane, const Memory *m, const Extras *extras) {
  const uint most = as_uint(lane->job.lattice.lattice_beam);
  const Share share = share_of(m->frames[lane->frame].n_tokens);
  uint n = 0;
  for (uint i = share.begin; i < share.end; ++i) n += extras->of_frame[i] <= most ? 1 : 0;
  return n;
}
void group_count_kept(__local Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  const SearchFrame frame = m->frames[lane->frame];
  const uint n_before = lane->frame > 0 ? m->frames[lane->frame - 1].n_tokens : 0, stored = first_extra(lane, m, lane->frame);
  for (uint i = get_local_id(0); i < n_before; i += GROUP_SIZE) extras.before[i] = as_uint(INFINITY);
  bool differs = false;
  for (uint i = get_local_id(0); i < frame.n_tokens && frame.is_pruned; i += GROUP_SIZE) {
    differs |= as_uint(m->extras[stored + i]) != extras.of_frame[i];
  }
  if (differs) lane->changes = 1;
  warp_sum(lane->sums, n_own_kept(lane, m, &extras));
}

// Numbers them, and keeps their extra costs.
void group_number_kept(__local const Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  const uint most = as_uint(lane->job.lattice.lattice_beam), stored = first_extra(lane, m, lane->frame);
  const Share share = share_of(m->frames[lane->frame].n_tokens);
  uint n = warp_sum_before(lane->sums, n_own_kept(lane, m, &extras));
  for (uint i = share.begin; i < share.end; ++i) {
    const uint extra = extras.of_frame[i];
    extras.new_number[i] = n;
    if (extra <= most) m->extras[stored + n++] = as_float(extra);
  }
}

// Gathers the links of one kind that stay; emitting ones lower the extra costs of the frame before.
void group_gather_links_of(__local Lane *lane, const Memory *m, const Extras *extras, uint kind, uint begin, uint n,
                           __global SearchLink *kept) {
  const uint most = as_uint(lane->job.lattice.lattice_beam);
  for (uint first = warp_number() * WARP; first < n; first += GROUP_SIZE) {
    const uint i = first + warp_lane();
    bool keep = false;
    uint through = 0;
    SearchLink link = {0, 0, 0, 0.0f, 0.0f};
    if (i < n) {
      link = m->links[begin + i];
      through = extra_through(extras, link);
      keep = through <= most;
    }
    const uint place = warp_append(&lane->n_links[kind], keep);
    if (!keep) continue;
    if (kind == 0) {
      atomic_min(extras->before + link.source, through);
    } else {
      link.source = extras->new_number[link.source];
    }
    link.destination = extras->new_number[link.destination];
    kept[place] = link;
  }
}

void group_prune_links(__local Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  const SearchFrame frame = m->frames[lane->frame];
  const uint first = frame.first_link;
  group_gather_links_of(lane, m, &extras, 0, first, frame.n_emitting, link_scratch(m));
  group_gather_links_of(lane, m, &extras, 1, first + frame.n_emitting, frame.n_epsilon, link_scratch(m) + frame.n_emitting);
  if (lane->frame + 1 == lane->job.lattice.n_frames) return;
  const SearchFrame next = m->frames[lane->frame + 1];
  for (uint i = get_local_id(0); i < next.n_emitting; i += GROUP_SIZE) {
    __global uint *const source = &m->links[next.first_link + i].source;
    *source = extras.new_number[*source];
  }
}

void group_put_links(__local const Lane *lane, const Memory *m) {
  const SearchFrame frame = m->frames[lane->frame];
  __global const SearchLink *const kept = link_scratch(m);
  const uint n_emitting = lane->n_links[0], n = n_emitting + lane->n_links[1];
  for (uint i = get_local_id(0); i < n; i += GROUP_SIZE) {
    m->links[frame.first_link + i] = kept[i < n_emitting ? i : frame.n_emitting + (i - n_emitting)];
  }
}
