// SPDX-License-Identifier: Apache-2.0
// Prunes the lattice (plugins/common/kernels/search_lattice.h). Links move by way of the scratch memory to the front of the
// frame's range, or, when the lattice is written (search_output.h), behind those of the frames after it.

typedef struct {
  Values of_frame, before, new_number;
} Extras;

Extras extras_of(__local const SearchState *search, const Memory *m) {
  const Extras extras = {token_values(m, search->of_frame, search->pruned.n_tokens),
                         token_values(m, search->of_frame ^ 1, search->before.n_tokens),
                         token_values(m, 2, search->pruned.n_tokens)};
  return extras;
}

// Removes the frames that the host has taken, by way of the scratch memory. With barriers.
void group_drop_taken(__local SearchState *search, const Memory *m) {
  __global SearchFrame *const scratch = (__global SearchFrame *)m->candidates;
  const uint n_taken = search->job.lattice.n_taken, n_left = search->job.lattice.n_frames - n_taken;
  if (n_taken == 0) return;
  for (uint t = get_local_id(0); t < n_left; t += GROUP_SIZE) scratch[t] = m->frames[n_taken + t];
  block_sync();
  for (uint t = get_local_id(0); t < n_left; t += GROUP_SIZE) m->frames[t] = scratch[t];
  if (is_first()) drop_taken_frames(&search->job.lattice);
  block_sync();
}

bool is_newest(__local const SearchState *search) { return search->frame + 1 == search->job.lattice.n_frames; }

void group_clear_newest(__local const SearchState *search, const Memory *m) {
  const Extras extras = extras_of(search, m);
  for (uint i = get_local_id(0); i < search->pruned.n_tokens; i += GROUP_SIZE) set_value(&extras.of_frame, i, 0);
}

// Extra costs of tokens that epsilon links leave, in rounds until none falls. A round's flag is cleared in the round before,
// when all have read it. With barriers.
void group_follow_back(__local SearchState *search, const Memory *m) {
  const Extras extras = extras_of(search, m);
  const uint n_epsilon = search->pruned.n_epsilon;
  __global const SearchLink *const links = m->links + search->pruned.first_link + search->pruned.n_emitting;
  bool fell = n_epsilon > 0;
  for (uint round = 0; fell; round = (round + 1) % 3) {
    fell = false;
    for (uint i = get_local_id(0); i < n_epsilon; i += GROUP_SIZE) {
      const SearchLink link = links[i];
      fell |= follow_back(&extras.of_frame, &link);
    }
    if (fell) search->fell[round] = 1;
    if (is_first()) search->fell[(round + 1) % 3] = 0;
    block_sync();
    fell = search->fell[round] != 0;
  }
}

// Numbers the tokens within the beam, and sees whether extra costs are other than the last time. The newest tokens are all
// kept, and have the numbers that they are known by.
void group_number_kept(__local SearchState *search, const Memory *m, bool writes) {
  const Extras extras = extras_of(search, m);
  const uint most = as_uint(search->job.lattice.lattice_beam), n_tokens = search->pruned.n_tokens;
  const uint stored = first_extra(search, search->frame, search->pruned.first_link);
  const bool compares = !writes && search->pruned.is_pruned;
  const bool keeps_numbers = !writes && is_newest(search);
  bool differs = false;
  for (uint first = warp_number() * WARP; first < n_tokens; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    const uint extra = i < n_tokens ? value_now(&extras.of_frame, i) : as_uint(INFINITY);
    if (i < n_tokens && compares) differs |= as_uint(m->extras[stored + i]) != extra;
    const uint number = warp_append(&search->n_kept, extra <= most);
    if (extra <= most) set_value(&extras.new_number, i, keeps_numbers ? i : number);
  }
  if (differs) search->differs = 1;
  for (uint i = get_local_id(0); i < search->before.n_tokens; i += GROUP_SIZE) set_value(&extras.before, i, as_uint(INFINITY));
}

// Gathers the links of one kind that stay; emitting ones lower the extra costs of the frame before.
void group_gather_links_of(__local SearchState *search, const Memory *m, const Extras *extras, uint kind, uint begin, uint n,
                           __global SearchLink *kept) {
  const uint most = as_uint(search->job.lattice.lattice_beam);
  for (uint first = warp_number() * WARP; first < n; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    bool keep = false;
    uint through = 0;
    SearchLink link = {0, 0, 0, 0.0f};
    if (i < n) {
      link = m->links[begin + i];
      through = extra_of_link(&extras->of_frame, &link);
      keep = through <= most;
    }
    const uint index = warp_append(&search->n_links[kind], keep);
    if (!keep) continue;
    renumber_link(&extras->before, &extras->new_number, kind == 0, through, &link);
    kept[index] = link;
    if (kind == 0) moved_costs(m)[index] = m->acoustic_costs[begin + i];
  }
}

// Keeps the extra costs of the tokens that stay, or, when the lattice is written, the newest tokens themselves.
void group_keep_tokens(__local const SearchState *search, const Memory *m, const Extras *extras, bool writes) {
  const uint most = as_uint(search->job.lattice.lattice_beam),
             stored = first_extra(search, search->frame, search->pruned.first_link);
  if (writes && !is_newest(search)) return;
  for (uint i = get_local_id(0); i < search->pruned.n_tokens; i += GROUP_SIZE) {
    const uint extra = value_now(&extras->of_frame, i);
    if (extra > most) continue;
    const uint number = value_now(&extras->new_number, i);
    if (writes) {
      next_tokens(search, m)[number] = last_tokens(search, m)[i];
    } else {
      m->extras[stored + number] = as_float(extra);
    }
  }
}

void group_prune_links(__local SearchState *search, const Memory *m, bool writes) {
  const Extras extras = extras_of(search, m);
  const SearchFrame frame = search->pruned;
  const uint first = frame.first_link;
  group_gather_links_of(search, m, &extras, 0, first, frame.n_emitting, link_scratch(m));
  group_gather_links_of(search, m, &extras, 1, first + frame.n_emitting, frame.n_epsilon, link_scratch(m) + frame.n_emitting);
  group_keep_tokens(search, m, &extras, writes);
  for (uint i = get_local_id(0); i < search->after.n_emitting; i += GROUP_SIZE) {
    __global uint *const source = &m->links[search->after.first_link + i].source;
    *source = value_now(&extras.new_number, *source);
  }
}

void group_put_links(__local const SearchState *search, const Memory *m) {
  __global const SearchLink *const kept = link_scratch(m);
  const uint n_before = search->pruned.n_emitting, n_emitting = search->n_links[0], n = n_emitting + search->n_links[1];
  for (uint i = get_local_id(0); i < n; i += GROUP_SIZE) {
    m->links[search->to + i] = kept[i < n_emitting ? i : n_before + (i - n_emitting)];
    m->acoustic_costs[search->to + i] = i < n_emitting ? moved_costs(m)[i] : 0.0f;
  }
}

// ---- the way back through the frames: by one work-item, between barriers ---------------------------------------------------

// Begins the visit of frame search->frame, which is search->pruned; search->ahead is the frame before it.
void begin_visit(__local SearchState *search, bool writes) {
  search->before = search->ahead;
  if (!writes) search->to = search->pruned.first_link;
  search->fell[0] = 0;
  search->differs = writes || !search->pruned.is_pruned ? 1 : 0;
  search->n_kept = search->n_links[0] = search->n_links[1] = 0;
}

void begin_visits(__local SearchState *search, const Memory *m, bool writes) {
  const SearchFrame none = {0, 0, 0, 0, 0};
  const uint newest = search->job.lattice.n_frames - 1;
  search->frame = newest;
  search->of_frame = 0;
  search->pruned = m->frames[newest];
  search->after = none;
  search->ahead = newest > 0 ? m->frames[newest - 1] : none;
  search->to = search->job.lattice.n_links;
  search->least[0] = search->least[1] = ordered(INFINITY);
  begin_visit(search, writes);
}

// Ends a visit and begins that of the frame before; `ahead`: the frame before that.
void end_visit(__local SearchState *search, const Memory *m, bool writes, SearchFrame ahead) {
  const SearchFrame pruned = {search->to, search->n_links[0], search->n_links[1], search->n_kept, 1};
  m->frames[writes ? output_entry(&search->job.lattice, search->frame) : search->frame] = pruned;
  if (writes) search->to += pruned.n_emitting + pruned.n_epsilon;
  search->after = pruned;
  search->pruned = search->before;
  search->ahead = ahead;
  --search->frame;
  search->of_frame ^= 1;
  begin_visit(search, writes);
}

// Prunes the frames from the newest back to the first that is pruned no more, or writes those that the host lacks. A pruning
// ends early at a frame whose extra costs are what they were. Returns false if what is written does not fit. With barriers.
bool group_walk_back(__local SearchState *search, const Memory *m, bool writes) {
  __local const ChannelLattice *const lattice = &search->job.lattice;
  const uint n_fixed = writes ? n_known_frames(lattice) : n_fixed_frames(lattice), max_links = lattice->max_links;
  const SearchFrame none = {0, 0, 0, 0, 0};
  for (uint t = lattice->n_frames - 1;; --t) {
    SearchFrame ahead = none;
    if (is_first() && t > 1) ahead = m->frames[t - 2];
    group_follow_back(search, m);
    group_number_kept(search, m, writes);
    block_sync();
    if (is_first() && is_newest(search)) search->n_newest = search->n_kept;
    if (!search->differs) return true;
    group_prune_links(search, m, writes);
    block_sync();
    if (search->to + search->n_links[0] + search->n_links[1] > max_links) return false;
    group_put_links(search, m);
    block_sync();
    if (is_first()) end_visit(search, m, writes, ahead);
    block_sync();
    if (t == n_fixed) return true;
  }
}

// Prunes the lattice. last_settled: the frame that settles by this, or 0. With barriers.
void group_prune(__local SearchState *search, const Memory *m, bool closes_gaps, uint last_settled) {
  group_drop_taken(search, m);
  if (is_first()) begin_visits(search, m, false);
  block_sync();
  group_clear_newest(search, m);
  block_sync();
  group_walk_back(search, m, false);
  block_sync();
  group_free_local(m);
  if (is_first()) {
    search->job.lattice.n_unpruned = 0;
    if (last_settled > 0) search->job.lattice.last_settled = last_settled;
  }
  block_sync();
  if (closes_gaps) group_close_gaps(search, m);
}
