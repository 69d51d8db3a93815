// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame. Warps take the arcs of a list's items in stretches (search_stretch.h). An arc within the beam so
// far lowers the key of its state's slot. If it did, or if there is to be a lattice, it is remembered as a candidate. In the
// next step the candidate that is the least of its state has won: it writes its path's record and goes on the next list if its
// state has epsilon arcs.

// The last item that begins at or before an arc.
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

float log_likelihood_of(__global const float *row, const SearchArc *arc) { return row[arc->label & kArcPdf]; }
float arc_acoustic_cost(__local const SearchState *search, const Memory *m, uint arc) {
  return acoustic_cost_of(row_of(search, m)[m->arcs[arc].label & kArcPdf]);
}

#include "plugins/common/kernels/search_stretch.h"

// Remembers epsilon arcs for the lattice, for the lanes that want to.
void warp_add_epsilon_link(__local SearchState *search, const Memory *m, bool wanted, EpsilonLink link) {
  const uint index = warp_append(&search->n_epsilon_links, wanted);
  if (wanted && index < m->max_candidates / 4) m->epsilon_links[index] = link;
  if (wanted && index >= m->max_candidates / 4) report_full(search, kCandidatesFull);
}

// Follows the arcs of a list's items into candidates. The loads of a step are under way while the one before enters the table.
void group_expand(__local SearchState *search, const Memory *m, bool emitting) {
  const SearchBeam beam = search->job.beam;
  const bool keeps_all = makes_lattice(search);
  __global const float *const row = row_of(search, m);
  __global Candidate *const candidates = m->candidates + search->first_candidate;
  const uint list = search->list, max_candidates = m->max_candidates - search->first_candidate;
  ArcStretch stretch = warp_stretch(items_of(m, list), n_items_of(search, list), n_arcs_of(search, list), GROUP_SIZE);
  if (stretch_ends(&stretch)) return;
  ArcStep step = warp_next_step(&stretch, m->arcs);
  for (bool last = false; !last;) {
    ArcStep following = step;
    last = stretch_ends(&stretch);
    if (!last) following = warp_next_step(&stretch, m->arcs);
    const float log_likelihood = emitting && step.valid ? log_likelihood_of(row, &step.arc) : 0.0f;
    const float cost = step.valid ? arc_cost(&beam, emitting, log_likelihood, &step.arc, step.from_cost) : INFINITY;
    float bound = search->bound;
    if (emitting) {
      if (step.valid && ordered(cost) < now(&search->best)) atomic_min(&search->best, ordered(cost));
      bound = bound_of(cost_of(now(&search->best)), beam.beam);
    }
    bool keep = step.valid && cost <= bound;
    uint slot = 0;
    if (keep) {
      slot = find_slot(search, m, step.arc.next_state);
      keep = slot != kNoSlot && (lower_key(m, emitting, slot, ordered(cost), step.arc_index + 1) || keeps_all);
    }
    const uint index = warp_append(&search->n_candidates, keep);
    if (keep && index < max_candidates) {
      const uint from = emitting ? step.token : m->slots[step.token].record;
      const Candidate candidate = {slot | (step.arc.label & kArcEpsilon), step.arc_index, cost, from};
      candidates[index] = candidate;
    }
    if (keep && index >= max_candidates) report_full(search, kCandidatesFull);
    if (!emitting && keeps_all) {
      const EpsilonLink link = {step.token, slot, step.arc_index, step.from_cost};
      warp_add_epsilon_link(search, m, keep, link);
    }
    step = following;
  }
}

// Makes a token of a candidate that won: its record, and how many epsilon arcs, from *epsilon_begin on, are to be followed.
// In a round of epsilon arcs it must be undercut to be replaced in the next.
uint make_token(__local SearchState *search, const Memory *m, bool emitting, Candidate candidate, uint record,
                uint *epsilon_begin) {
  const uint slot = candidate.slot & kCandidateSlot;
  m->slots[slot].record = record;
  if (!emitting) m->slots[slot].arc = 0;
  if (record < search->job.max_records) {
    const float acoustic_cost = emitting ? arc_acoustic_cost(search, m, candidate.arc) : 0.0f;
    const uint previous = emitting ? last_tokens(search, m)[candidate.from].record : candidate.from;
    const TraceRecord made = {previous, candidate.arc, acoustic_cost};
    m->records[record] = made;
  } else {
    report_full(search, kTraceFull);
  }
  if ((candidate.slot & kCandidateEpsilon) == 0) return 0;
  const uint state = state_in(m, slot);
  *epsilon_begin = m->begins[state].epsilon;
  return m->begins[state + 1].epsilon - *epsilon_begin;
}

// Makes tokens of the candidates that won, and the list of those whose epsilon arcs are to be followed.
void group_resolve(__local SearchState *search, const Memory *m, bool emitting) {
  const uint list = search->list;
  const uint n_candidates = n_candidates_of(search, m);
  const float bound = search->bound;
  __global const Candidate *const candidates = m->candidates + search->first_candidate;
  Candidate following = {0, 0, 0.0f, 0};
  if (get_local_id(0) < n_candidates) following = candidates[get_local_id(0)];
  for (uint first = warp_number() * WARP; first < n_candidates; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    const Candidate candidate = following;
    if (i + GROUP_SIZE < n_candidates) following = candidates[i + GROUP_SIZE];
    bool won = false;
    if (i < n_candidates && candidate.cost <= bound) {
      const uint slot = candidate.slot & kCandidateSlot;
      won = cost_in(m, slot) == ordered(candidate.cost) && m->slots[slot].arc == candidate.arc + 1;
    }
    const uint record = warp_append(&search->job.n_records, won);
    uint epsilon_begin = 0, n_arcs = 0;
    if (won) {
      n_arcs = make_token(search, m, emitting, candidate, record, &epsilon_begin);
      if (!emitting && ordered(candidate.cost) < now(&search->best)) atomic_min(&search->best, ordered(candidate.cost));
    }
    warp_add_item(search, m, list ^ 1, epsilon_begin, n_arcs, candidate.cost, candidate.slot & kCandidateSlot);
  }
}
