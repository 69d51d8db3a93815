// SPDX-License-Identifier: Apache-2.0
// The parts of plugins/common/kernels/search_select.h that a work-group does its own way. It owns all tokens. Bins and few keys
// overwrite the table in local memory, which is free.

void block_find_own_tokens(const Search *s) {}
uint n_own_tokens(const Search *s) { return s->state->job.n_tokens; }
OwnToken own_token(const Search *s, uint i) {
  __global const SearchToken *const from = tokens_of(s->state, s->m, s->state->job.current) + i;
  const OwnToken token = {from->state, from->cost, i, 0, 0};
  return token;
}
void need_arcs(const Search *s, OwnToken *token, __global const float *row);

__local uint *bins(const Search *s) { return s->m->bins; }
void release_bins(const Search *s) {
  group_free_local(s->m);
  block_sync();
}
__local const uint *team_add_bins(const Search *s) {
  block_sync();
  return s->m->bins;
}
void add_few_key(const Search *s, SearchKey key) {
  const uint index = atomic_inc(&s->state->kth.n_few);
  if (index < kFewKeys) s->m->few_keys[index] = key;
}
__local const SearchKey *team_share_few_keys(const Search *s, uint n) {
  block_sync();
  return s->m->few_keys;
}

#include "plugins/common/kernels/search_select.h"

void need_arcs(const Search *s, OwnToken *token, __global const float *row) {
  set_arcs(s->m->begins, token);
  if (token->cost == s->state->job.best) lower_best(s->state, s->m->arcs, token, row);
}
