// SPDX-License-Identifier: Apache-2.0
// Prunes and writes lattices (plugins/common/kernels/search_prune.h), without prefetching.

typedef struct {
  __local SearchState *search;
  Values of_frame, before, new_number;
  __local WalkState *state;
  __local ChannelLattice *lattice;
  __local const LatticeMemory *memory;
  uint t, to;
  uint turn;  // turn of block_any
} Walk;

// ---- the hooks of search_prune.h
// ---------------------------------------------------------------------------------------------

// Has one barrier: a turn's flag is cleared in the turn before, when all have read it.
bool block_any(Walk *w, bool value) {
  __local uint *const any = &w->search->any[w->turn];
  w->turn = (w->turn + 1) % 3;
  if (value) *any = 1;
  if (thread_number() == 0) w->search->any[w->turn] = 0;
  block_sync();
  return *any != 0;
}

void report_links_full(const Walk *w) { report_full(w->search, kLinksFull); }
uint n_staged(const Walk *w) { return 0; }
void set_old_source(const Walk *w, uint i, uint source) {}
uint old_source(const Walk *w, uint i) { return 0; }
void finish_prefetch(const Walk *w) {}
void prefetch(const Walk *w);
SearchLink frame_link(const Walk *w, uint i);
float frame_acoustic_cost(const Walk *w, uint i);
float stored_extra(const Walk *w, uint i);

#include "plugins/common/kernels/search_gaps.h"
#include "plugins/common/kernels/search_prune.h"

SearchLink frame_link(const Walk *w, uint i) { return w->memory->links[walk_frame(w, w->t)->first_link + i]; }
float frame_acoustic_cost(const Walk *w, uint i) { return w->memory->acoustic_costs[walk_frame(w, w->t)->first_link + i]; }
float stored_extra(const Walk *w, uint i) { return stored_extras(w, w->t)[i]; }
void prefetch(const Walk *w) {  // the counts of the frame that is visited after the next
  if (thread_number() == 0 && w->t > 1) *walk_frame(w, w->t - 2) = w->memory->frames[w->t - 2];
}

// ---- pruning and writing: with barriers, and end with one -------------------------------------------------------------------

Walk group_begin_walk(__local SearchState *search, const Memory *m) {
  __local ChannelLattice *const lattice = &search->job.lattice;
  const uint max_tokens = block_max_tokens(lattice, search->lattice.frames, &search->walk.max_tokens);
  Walk walk;
  walk.search = search;
  walk.of_frame = token_values(m, 0, max_tokens);
  walk.before = token_values(m, 1, max_tokens);
  walk.new_number = token_values(m, 2, max_tokens);
  walk.turn = 0;
  for (uint i = thread_number(); i < 3; i += GROUP_SIZE) search->any[i] = 0;
  begin_walk(&walk, lattice, &search->lattice, &search->walk);
  return walk;
}

// Prunes the lattice. last_settled: the frame that settles by this, or 0.
void group_prune(__local SearchState *search, const Memory *m, bool closes_gaps, uint last_settled) {
  __local ChannelLattice *const lattice = &search->job.lattice;
  block_drop_taken(lattice, search->lattice.frames);
  Walk walk = group_begin_walk(search, m);
  for (uint i = thread_number(); i < walk_frame(&walk, walk.t)->n_tokens; i += GROUP_SIZE) set_value(&walk.of_frame, i, 0);
  block_walk_back(&walk, false, n_fixed_frames(lattice), &search->overflow, 0, 0);
  if (thread_number() == 0) {
    lattice->n_unpruned = 0;
    if (last_settled > 0) lattice->last_settled = last_settled;
  }
  if (closes_gaps) block_close_gaps(lattice, search->lattice, (__local uint *)m->table, search->sums);
  group_free_local(m);
  block_sync();
}

// Writes the lattice as it is if the utterance ends with the newest frame, or sets the status if it does not fit.
void group_output(__local SearchState *search, const Memory *m) {
  __local SearchJob *const job = &search->job;
  __local ChannelLattice *const lattice = &job->lattice;
  const uint n_known = n_known_frames(lattice);
  const bool fits = output_fits(lattice, n_known);
  if (thread_number() == 0) search->overflow = fits ? 0 : kFramesFull;
  block_sync();
  if (fits) {
    __global const SearchToken *const tokens = tokens_of(search, m, job->current);
    Walk walk = group_begin_walk(search, m);
    block_end_extras(&walk, tokens, job->n_tokens, job->use_final, m->final_costs, search->least);
    const uint n_left =
        block_walk_back(&walk, true, n_known, &search->overflow, tokens, tokens_of(search, m, job->current ^ 1));
    const SearchOutput written = {lattice->n_frames - n_known, walk.to - lattice->n_links, n_left,
                                  reaches_final(search->least) ? 1 : 0};
    if (thread_number() == 0) job->written = written;
    group_free_local(m);
  }
  if (thread_number() == 0) {
    job->has_written = search->overflow == 0 ? 1 : 0;
    job->overflow = search->overflow;
    if (search->overflow != 0) job->status = kSearchOverflow;
  }
  block_sync();
}
