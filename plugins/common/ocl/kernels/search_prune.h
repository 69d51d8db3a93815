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

// Extra costs of frame t of the lattice, whose first link is given, are stored from here on.
uint first_extra(__local const SearchState *search, uint t, uint first_link) {
  return first_extra_of(search->job.lattice.first_frame + t, first_link);
}

__global SearchLink *link_scratch(const Memory *m) { return (__global SearchLink *)m->candidates; }

// Remove the frames that the host has taken, by way of the scratch memory.
void group_gather_frames(__local const SearchState *search, const Memory *m) {
  __global SearchFrame *const scratch = (__global SearchFrame *)m->candidates;
  const uint n_taken = search->job.lattice.n_taken;
  for (uint t = n_taken + get_local_id(0); t < search->job.lattice.n_frames; t += GROUP_SIZE)
    scratch[t - n_taken] = m->frames[t];
}
void group_put_frames(__local const SearchState *search, const Memory *m) {
  __global const SearchFrame *const scratch = (__global const SearchFrame *)m->candidates;
  const uint n = search->job.lattice.n_frames - search->job.lattice.n_taken;
  for (uint t = get_local_id(0); t < n; t += GROUP_SIZE) m->frames[t] = scratch[t];
}

bool is_newest(__local const SearchState *search) { return search->frame + 1 == search->job.lattice.n_frames; }

void group_clear_newest(__local const SearchState *search, const Memory *m) {
  const Extras extras = extras_of(search, m);
  for (uint i = get_local_id(0); i < search->pruned.n_tokens; i += GROUP_SIZE) set_value(&extras.of_frame, i, 0);
}

// Extra costs of tokens that epsilon links leave; again until none falls.
void group_follow_back(__local SearchState *search, const Memory *m) {
  const Extras extras = extras_of(search, m);
  __global const SearchLink *const links = m->links + search->pruned.first_link + search->pruned.n_emitting;
  bool fell = false;
  for (uint i = get_local_id(0); i < search->pruned.n_epsilon; i += GROUP_SIZE) {
    const SearchLink link = links[i];
    fell |= follow_back(&extras.of_frame, &link);
  }
  if (fell) search->changes = 1;
}

// Numbers the tokens within the beam, and sees whether extra costs are other than the last time. The newest tokens are all
// kept, and have the numbers that they are known by.
void group_number_kept(__local SearchState *search, const Memory *m) {
  const Extras extras = extras_of(search, m);
  const uint most = as_uint(search->job.lattice.lattice_beam), n_tokens = search->pruned.n_tokens;
  const uint stored = first_extra(search, search->frame, search->pruned.first_link);
  const bool compares = !search->writes && search->pruned.is_pruned;
  const bool keeps_numbers = !search->writes && is_newest(search);
  bool differs = false;
  for (uint first = warp_number() * WARP; first < n_tokens; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    const uint extra = i < n_tokens ? value_now(&extras.of_frame, i) : as_uint(INFINITY);
    if (i < n_tokens && compares) differs |= as_uint(m->extras[stored + i]) != extra;
    const uint number = warp_append(&search->n_staying, extra <= most);
    if (extra <= most) set_value(&extras.new_number, i, keeps_numbers ? i : number);
  }
  if (differs) search->changes = 1;
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
void group_keep_tokens(__local const SearchState *search, const Memory *m, const Extras *extras) {
  const uint most = as_uint(search->job.lattice.lattice_beam),
             stored = first_extra(search, search->frame, search->pruned.first_link);
  if (search->writes && !is_newest(search)) return;
  for (uint i = get_local_id(0); i < search->pruned.n_tokens; i += GROUP_SIZE) {
    const uint extra = value_now(&extras->of_frame, i);
    if (extra > most) continue;
    const uint number = value_now(&extras->new_number, i);
    if (search->writes) {
      next_tokens(search, m)[number] = last_tokens(search, m)[i];
    } else {
      m->extras[stored + number] = as_float(extra);
    }
  }
}

void group_prune_links(__local SearchState *search, const Memory *m) {
  const Extras extras = extras_of(search, m);
  const SearchFrame frame = search->pruned;
  const uint first = frame.first_link;
  group_gather_links_of(search, m, &extras, 0, first, frame.n_emitting, link_scratch(m));
  group_gather_links_of(search, m, &extras, 1, first + frame.n_emitting, frame.n_epsilon, link_scratch(m) + frame.n_emitting);
  group_keep_tokens(search, m, &extras);
  for (uint i = get_local_id(0); i < search->after.n_emitting; i += GROUP_SIZE) {
    __global uint *const source = &m->links[search->after.first_link + i].source;
    *source = value_now(&extras.new_number, *source);
  }
}

// Also loads the frame that the next visit needs.
void group_put_links(__local SearchState *search, const Memory *m) {
  __global const SearchLink *const kept = link_scratch(m);
  const uint n_before = search->pruned.n_emitting, n_emitting = search->n_links[0], n = n_emitting + search->n_links[1];
  for (uint i = get_local_id(0); i < n; i += GROUP_SIZE) {
    m->links[search->to + i] = kept[i < n_emitting ? i : n_before + (i - n_emitting)];
    m->acoustic_costs[search->to + i] = i < n_emitting ? moved_costs(m)[i] : 0.0f;
  }
  if (get_local_id(0) == GROUP_SIZE - 1 && search->frame > 1) search->ahead = m->frames[search->frame - 2];
}
