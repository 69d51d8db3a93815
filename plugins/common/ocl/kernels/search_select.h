// SPDX-License-Identifier: Apache-2.0
// Step 1 of a frame: selects the tokens that are expanded (plugins/common/kernels/search_select.h).

#include "plugins/common/kernels/search_select.h"

uint bin_of(__local const SearchState *search, SearchToken token) {
  return bin_of_cost(token.cost, search->job.best, search->job.bins_per_cost);
}
bool agrees(__local const SearchState *search, SearchToken token) {
  return has_prefix(search->kth.known, bin_of(search, token), make_key(token.cost, token.state));
}

void group_clear_bins(const Memory *m) {
  for (uint b = get_local_id(0); b < kBins; b += GROUP_SIZE) m->bins[b] = 0;
  for (uint b = get_local_id(0); b < kBins / kBinsOfBlock; b += GROUP_SIZE) m->blocks[b] = 0;
}

// Counts the tokens that agree with what is known by their cost, or by the next digit.
void group_fill_bins(__local SearchState *search, const Memory *m) {
  __global const SearchToken *const tokens = tokens_of(search, m, search->job.current);
  for (uint i = get_local_id(0); i < search->job.n_tokens; i += GROUP_SIZE) {
    const SearchToken token = tokens[i];
    uint bin = bin_of(search, token);
    if (search->kth.has_bin) {
      if (!agrees(search, token)) continue;
      bin = next_digit(make_key(token.cost, token.state), search->kth.known.top);
    }
    atomic_inc(&m->bins[bin]);
    atomic_inc(&m->blocks[bin / kBinsOfBlock]);
  }
}

// The bin with the k-th: by one work-item. True if all that agree now are wanted.
bool narrow_kth(__local SearchState *search, const Memory *m) {
  __local KthKey *const kth = &search->kth;
  uint block = 0, k = kth->k;
  while (m->blocks[block] < k) k -= m->blocks[block++];
  uint bin = block * kBinsOfBlock;
  while (m->bins[bin] < k) k -= m->bins[bin++];
  kth->k = k;
  if (!kth->has_bin) {
    kth->has_bin = true;
    kth->known.bin = bin;
  } else {
    kth->known = add_digit(kth->known, bin);
  }
  search->most_cost = search->most_state = 0;
  return kth->known.top == 0 || m->bins[bin] == k;
}

// The greatest key of the tokens that agree: its cost, and then its state.
void group_find_most(__local SearchState *search, const Memory *m, bool has_cost) {
  __global const SearchToken *const tokens = tokens_of(search, m, search->job.current);
  for (uint i = get_local_id(0); i < search->job.n_tokens; i += GROUP_SIZE) {
    const SearchToken token = tokens[i];
    if (!agrees(search, token)) continue;
    if (!has_cost) {
      atomic_max(&search->most_cost, ordered(token.cost));
    } else if (ordered(token.cost) == search->most_cost) {
      atomic_max(&search->most_state, token.state);
    }
  }
}

// Finds the k-th smallest key, which is the threshold. The bins overwrite the table, which is free. With barriers.
void group_find_kth(__local SearchState *search, const Memory *m, uint k) {
  const KthKey nothing_known = {k, false, false, {0, 64, 0}};
  if (thread_number() == 0) search->kth = nothing_known;
  for (bool found = false; !found;) {
    group_clear_bins(m);
    block_sync();
    group_fill_bins(search, m);
    block_sync();
    if (thread_number() == 0) search->kth.found = narrow_kth(search, m);
    block_sync();
    found = search->kth.found;
  }
  group_find_most(search, m, false);
  block_sync();
  group_find_most(search, m, true);
  block_sync();
  if (thread_number() == 0) search->threshold = (ulong)search->most_cost << 32 | search->most_state;
  group_free_local(m);
  block_sync();
}

void lower_best(__local SearchState *search, const Memory *m, uint first_arc, uint n_arcs) {
  const SearchBeam beam = search->job.beam;
  const float least = least_cost_of_first_arcs(&beam, m->arcs, first_arc, n_arcs, row_of(search, m));
  if (least <= FLT_MAX) atomic_min(&search->best, ordered(least));
}

// Puts the active tokens, with costs relative to the best one's, on list 0. With barriers.
void team_select(const Search *s, __global const float *row) {
  __local SearchState *const search = s->state;
  const Memory *const m = s->m;
  const SearchBeam beam = search->job.beam;
  __global const SearchToken *const tokens = tokens_of(search, m, search->job.current);
  const float best = search->job.best;
  const uint n_tokens = search->job.n_tokens, k = active_limit(&beam, n_tokens, search->job.n_within);
  if (k > 0) group_find_kth(search, m, k);
  const ulong threshold = k > 0 ? search->threshold : beam_threshold(best, beam.beam, beam.min_active, n_tokens);
  uint n_active = 0;
  for (uint first = warp_number() * WARP; first < n_tokens; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    SearchToken token = {0, 0.0f, 0};
    uint begin = 0, n_arcs = 0;
    bool active = false;
    if (i < n_tokens) {
      token = tokens[i];
      active = make_key(token.cost, token.state) <= threshold;
    }
    if (active) {
      begin = m->begins[token.state].emitting;
      n_arcs = m->begins[token.state + 1].emitting - begin;
      if (token.cost == best) lower_best(search, m, begin, n_arcs);
      ++n_active;
    }
    warp_add_item(search, m, 0, begin, n_arcs, token.cost - best, i);
  }
  warp_add(&search->n_active, n_active);
}
