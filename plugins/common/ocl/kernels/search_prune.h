// SPDX-License-Identifier: Apache-2.0
// Removes the links that cannot be in the final lattice (docs/search.md, "The lattice"): extra costs are found from the newest
// frame backwards, with 0 for all of its tokens, until a frame has the extra costs it had the last time. In a frame they are
// the fixed point of its epsilon links; then its tokens within the beam are numbered anew, and its links within the beam go by
// way of the scratch memory to their place: the front of the frame's own, or, when the lattice is written (search_output.h),
// behind those of the frames after it. Extra costs are at least 0, so that their bits order like they do. Of a frame and of the
// one before they lie in local memory, whose table is free between frames, if they fit there.

#define NEAR_TOKENS (2 * LOCAL_SLOTS / 3)

// A value of each token of a frame: where the table in local memory is, or where the lists are, which are free, too.
typedef struct {
  bool is_near;
  __local uint *near;
  __global uint *far;
} TokenValues;

TokenValues token_values(const Memory *m, uint which, uint n_tokens) {
  const TokenValues values = {n_tokens <= NEAR_TOKENS, (__local uint *)m->table + which * NEAR_TOKENS,
                              (__global uint *)m->items + (size_t)which * m->max_slots};
  return values;
}
uint value_now(const TokenValues *v, uint token) {
  return v->is_near ? now(v->near + token) : *(volatile __global const uint *)(v->far + token);
}
void set_value(const TokenValues *v, uint token, uint value) {
  if (v->is_near) {
    v->near[token] = value;
  } else {
    v->far[token] = value;
  }
}
// Returns what it was.
uint lower_value(const TokenValues *v, uint token, uint value) {
  return v->is_near ? atomic_min(v->near + token, value) : atomic_min(v->far + token, value);
}

typedef struct {
  TokenValues of_frame, before, new_number;
} Extras;

Extras extras_of(__local const Lane *lane, const Memory *m) {
  const Extras extras = {token_values(m, lane->of_frame, lane->pruned.n_tokens),
                         token_values(m, lane->of_frame ^ 1, lane->before.n_tokens), token_values(m, 2, lane->pruned.n_tokens)};
  return extras;
}

// The extra cost of the best path through a link.
uint extra_of_link(const Extras *extras, SearchLink link) {
  return extra_through(value_now(&extras->of_frame, link.destination), link.cost);
}

// Extra costs of frame t of the lattice, whose first link is given, are stored from here on.
uint first_extra(__local const Lane *lane, uint t, uint first_link) {
  return first_extra_of(lane->job.lattice.first_frame + t, first_link);
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

bool is_newest(__local const Lane *lane) { return lane->frame + 1 == lane->job.lattice.n_frames; }

void group_clear_newest(__local const Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  for (uint i = get_local_id(0); i < lane->pruned.n_tokens; i += GROUP_SIZE) set_value(&extras.of_frame, i, 0);
}

// Extra costs of tokens that epsilon links leave; again until none falls.
void group_follow_back(__local Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  __global const SearchLink *const links = m->links + lane->pruned.first_link + lane->pruned.n_emitting;
  bool fell = false;
  for (uint i = get_local_id(0); i < lane->pruned.n_epsilon; i += GROUP_SIZE) {
    const SearchLink link = links[i];
    const uint through = extra_of_link(&extras, link);
    if (through < value_now(&extras.of_frame, link.source))
      fell |= lower_value(&extras.of_frame, link.source, through) > through;
  }
  if (fell) lane->changes = 1;
}

// Numbers the tokens within the beam, and sees whether extra costs are other than the last time. The newest tokens are all
// kept, and have the numbers that they are known by.
void group_number_kept(__local Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  const uint most = as_uint(lane->job.lattice.lattice_beam), n_tokens = lane->pruned.n_tokens;
  const uint stored = first_extra(lane, lane->frame, lane->pruned.first_link);
  const bool compares = !lane->writes && lane->pruned.is_pruned;
  const bool keeps_numbers = !lane->writes && is_newest(lane);
  bool differs = false;
  for (uint first = warp_number() * WARP; first < n_tokens; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    const uint extra = i < n_tokens ? value_now(&extras.of_frame, i) : as_uint(INFINITY);
    if (i < n_tokens && compares) differs |= as_uint(m->extras[stored + i]) != extra;
    const uint number = warp_append(&lane->n_staying, extra <= most);
    if (extra <= most) set_value(&extras.new_number, i, keeps_numbers ? i : number);
  }
  if (differs) lane->changes = 1;
  for (uint i = get_local_id(0); i < lane->before.n_tokens; i += GROUP_SIZE) set_value(&extras.before, i, as_uint(INFINITY));
}

// Gathers the links of one kind that stay; emitting ones lower the extra costs of the frame before.
void group_gather_links_of(__local Lane *lane, const Memory *m, const Extras *extras, uint kind, uint begin, uint n,
                           __global SearchLink *kept) {
  const uint most = as_uint(lane->job.lattice.lattice_beam);
  for (uint first = warp_number() * WARP; first < n; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    bool keep = false;
    uint through = 0;
    SearchLink link = {0, 0, 0, 0.0f, 0.0f};
    if (i < n) {
      link = m->links[begin + i];
      through = extra_of_link(extras, link);
      keep = through <= most;
    }
    const uint place = warp_append(&lane->n_links[kind], keep);
    if (!keep) continue;
    if (kind == 0) {
      lower_value(&extras->before, link.source, through);
    } else {
      link.source = value_now(&extras->new_number, link.source);
    }
    link.destination = value_now(&extras->new_number, link.destination);
    kept[place] = link;
  }
}

// Keeps the extra costs of the tokens that stay, or, when the lattice is written, the newest tokens themselves.
void group_keep_tokens(__local const Lane *lane, const Memory *m, const Extras *extras) {
  const uint most = as_uint(lane->job.lattice.lattice_beam), stored = first_extra(lane, lane->frame, lane->pruned.first_link);
  if (lane->writes && !is_newest(lane)) return;
  for (uint i = get_local_id(0); i < lane->pruned.n_tokens; i += GROUP_SIZE) {
    const uint extra = value_now(&extras->of_frame, i);
    if (extra > most) continue;
    const uint number = value_now(&extras->new_number, i);
    if (lane->writes) {
      next_tokens(lane, m)[number] = last_tokens(lane, m)[i];
    } else {
      m->extras[stored + number] = as_float(extra);
    }
  }
}

void group_prune_links(__local Lane *lane, const Memory *m) {
  const Extras extras = extras_of(lane, m);
  const SearchFrame frame = lane->pruned;
  const uint first = frame.first_link;
  group_gather_links_of(lane, m, &extras, 0, first, frame.n_emitting, link_scratch(m));
  group_gather_links_of(lane, m, &extras, 1, first + frame.n_emitting, frame.n_epsilon, link_scratch(m) + frame.n_emitting);
  group_keep_tokens(lane, m, &extras);
  for (uint i = get_local_id(0); i < lane->after.n_emitting; i += GROUP_SIZE) {
    __global uint *const source = &m->links[lane->after.first_link + i].source;
    *source = value_now(&extras.new_number, *source);
  }
}

// And loads what the next visit needs to know.
void group_put_links(__local Lane *lane, const Memory *m) {
  __global const SearchLink *const kept = link_scratch(m);
  const uint n_before = lane->pruned.n_emitting, n_emitting = lane->n_links[0], n = n_emitting + lane->n_links[1];
  for (uint i = get_local_id(0); i < n; i += GROUP_SIZE) {
    m->links[lane->to + i] = kept[i < n_emitting ? i : n_before + (i - n_emitting)];
  }
  if (get_local_id(0) == GROUP_SIZE - 1 && lane->frame > 1) lane->ahead = m->frames[lane->frame - 2];
}
