// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame: the loops over the steps of plugins/common/kernels/search_frame.h. Warps take the arcs of a list's
// items in stretches (search_stretch.h). An arc within the beam so far lowers the key of its state's slot. If it did, or if
// there is to be a lattice, it is remembered as a candidate. In the next step the candidate that is the least of its
// state has won. It writes its path's record, and goes on the next list if its state has epsilon arcs.

// Returns the last item that begins at or before an arc.
uint warp_item_of(__global const ExpandItem *items, uint n_items, uint arc) {
  uint low = 0, high = n_items;
  while (high - low > 1) {
    const uint middle = (low + high) / 2;
    if (items[middle].offset <= arc) {
      low = middle;
    } else {
      high = middle;
    }
  }
  return low;
}

float log_likelihood_of(__global const float *row, uint pdf) { return row[pdf]; }

#include "plugins/common/kernels/search_stretch.h"

// ---- the hooks of search_frame.h ----

// A work-group's search and its memory.
typedef struct {
  __local State *state;
  const Memory *m;
} Search;

bool has_lattice(const Search *s) { return s->state->job.lattice.lattice_beam > 0; }

void warp_append_item(const Search *s, uint list, uint first_arc, uint n_arcs, float cost, uint token) {
  warp_add_item(s->state, s->m, list, first_arc, n_arcs, cost, token);
}

float warp_lower_best(const Search *s, float cost, bool counts) {
  if (counts && ordered(cost) < now(&s->state->best)) atomic_min(&s->state->best, ordered(cost));
  return bound_of(cost_of(now(&s->state->best)), s->state->job.beam.beam);
}

uint warp_enter(const Search *s, bool emitting, uint state, bool wanted, uint arc, float cost) {
  const uint slot = wanted ? find_slot(s->state, s->m, state) : kNoSlot;
  const bool keep = slot != kNoSlot && (lower_key(s->m, emitting, slot, ordered(cost), arc + 1) || has_lattice(s));
  return keep ? slot : kNoSlot;
}

bool has_key(const Search *s, uint slot, float cost, uint arc) {
  return cost_in(s->m, slot) == ordered(cost) && s->m->slots[slot].arc == arc;
}
void must_undercut(const Search *s, uint slot, float cost) { s->m->slots[slot].arc = 0; }

uint slot_state(const Search *s, uint slot) { return state_in(s->m, slot); }
float slot_cost(const Search *s, uint slot) { return cost_of(cost_in(s->m, slot)); }
uint slot_record(const Search *s, uint slot) { return s->m->slots[slot].record; }
void set_slot_record(const Search *s, uint slot, uint record) { s->m->slots[slot].record = record; }
// A token is numbered when its key is no longer compared.
uint slot_number(const Search *s, uint slot) { return s->m->slots[slot].arc; }
void set_slot_number(const Search *s, uint slot, uint number) { s->m->slots[slot].arc = number; }
uint n_used_slots(const Search *s) { return s->state->n_used[0] + s->state->n_used[1]; }
uint used_slot(const Search *s, uint i) {
  const uint n_local = s->state->n_used[0];
  return s->m->used[i < n_local ? i : s->m->max_slots / 2 + (i - n_local)];
}
void free_slot(const Search *s, uint slot) {
  if (is_local(s->m, slot)) {
    s->m->table->states[slot] = kFreeSlot;
    s->m->table->costs[slot] = 0xffffffffu;
    s->m->slots[slot].arc = 0xffffffffu;
  } else {
    const uint4 free = (uint4)(0xffffffffu, 0xffffffffu, kFreeSlot, 0);
    *(__global uint4 *)&s->m->slots[slot] = free;
  }
}
uint warp_number_token(const Search *s, const SearchToken *token, bool keep) {
  return warp_append(&s->state->counts.n_next, keep);
}
uint source_record(const Search *s, uint source) { return slot_record(s, source); }
uint source_number(const Search *s, uint source) { return slot_number(s, source); }

void put_candidate(const Search *s, uint index, const Candidate *candidate) {
  if (index < s->m->max_candidates) {
    s->m->candidates[index] = *candidate;
  } else {
    report_full(s->state, kCandidatesFull);
  }
}
void put_epsilon_link(const Search *s, uint index, const EpsilonLink *link) {
  if (index < s->m->max_candidates / 4) {
    s->m->epsilon_links[index] = *link;
  } else {
    report_full(s->state, kCandidatesFull);
  }
}
void put_record(const Search *s, uint index, const TraceRecord *record) {
  if (index < s->state->job.max_records) {
    s->m->records[index] = *record;
  } else {
    report_full(s->state, kTraceFull);
  }
}
void put_token(const Search *s, uint index, const SearchToken *token) {
  if (index < s->state->job.max_tokens) {
    tokens_of(s->state, s->m, s->state->job.current ^ 1)[index] = *token;
  } else {
    report_full(s->state, kTokensFull);
  }
}
void put_link(const Search *s, uint index, const SearchLink *link, float acoustic_cost) {
  if (index < s->state->job.lattice.max_links) {
    s->state->lattice.links[index] = *link;
    s->state->lattice.acoustic_costs[index] = acoustic_cost;
  } else {
    report_full(s->state, kLinksFull);
  }
}

#define warp_offer(s, followed, emitting, step, cost, acoustic_cost, wanted) \
  warp_enter_own(s, followed, emitting, step, cost, wanted)
float candidate_acoustic_cost(const Search *s, const FrameSteps *steps, uint index, uint arc);

#include "plugins/common/kernels/search_frame.h"

float candidate_acoustic_cost(const Search *s, const FrameSteps *steps, uint index, uint arc) {
  return arc_acoustic_cost(steps, arc);
}

// ---- the loops -------------------------------------------------------------------------------------------------------------

FrameSteps frame_steps(__local SearchState *search, const Memory *m) {
  const FrameSteps steps = {
      search->job.beam,  search->bound,         m->arcs, m->begins, tokens_of(search, m, search->job.current),
      row_of(search, m), &search->job.n_records};
  return steps;
}

// Follows the arcs of a list's items into candidates.
void block_expand(const Search *s, bool emitting, uint list, __global const float *row) {
  __local SearchState *const search = s->state;
  group_number_arcs(search, s->m, list);
  if (thread_number() == 0) search->n_arcs += n_arcs_of(search, list);
  const FrameSteps steps = frame_steps(search, s->m);
  const FollowedArcs followed = {first_candidate_of(search, emitting), &search->n_candidates[list], &search->n_epsilon_links};
  warp_expand(s, &steps, &followed, emitting,
              warp_stretch(items_of(s->m, list), n_items_of(search, list), n_arcs_of(search, list), GROUP_SIZE));
}

void block_settle(const Search *s, bool emitting, uint list) {
  group_settle_keys(s->state, s->m, emitting, list);
  block_sync();
}

// Makes tokens of the candidates that won, and a list of tokens whose epsilon arcs follow.
void block_resolve(const Search *s, bool emitting, uint list, __global const float *row) {
  const FrameSteps steps = frame_steps(s->state, s->m);
  const uint n_candidates = n_candidates_of(s->state, s->m, emitting, list);
  __global const Candidate *const candidates = s->m->candidates + first_candidate_of(s->state, emitting);
  Candidate following = {0, 0, 0.0f, 0};
  if (get_local_id(0) < n_candidates) following = candidates[get_local_id(0)];
  for (uint first = warp_number() * WARP; first < n_candidates; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    const Candidate candidate = following;
    if (i + GROUP_SIZE < n_candidates) following = candidates[i + GROUP_SIZE];
    warp_resolve(s, &steps, emitting, list ^ 1, i, &candidate, i < n_candidates);
  }
}
