// SPDX-License-Identifier: Apache-2.0
// A value of each token of a frame, while a lattice is pruned or written. Values lie in local memory instead of the table,
// which is free between frames. If they do not fit there, they lie in global memory instead of the lists.

#define NEAR_TOKENS (2 * LOCAL_SLOTS / 3)

typedef struct {
  bool is_near;
  __local uint *near;
  __global uint *far;
} Values;

// Values number `which` of frames that have at most n_tokens.
Values token_values(const Memory *m, uint which, uint n_tokens) {
  const Values values = {n_tokens <= NEAR_TOKENS, (__local uint *)m->table + which * NEAR_TOKENS,
                         (__global uint *)m->items + (size_t)which * m->max_slots};
  return values;
}
uint value_now(const Values *v, uint token) {
  return v->is_near ? now(v->near + token) : *(volatile __global const uint *)(v->far + token);
}
void set_value(const Values *v, uint token, uint value) {
  if (v->is_near) {
    v->near[token] = value;
  } else {
    v->far[token] = value;
  }
}
// Returns the value before.
uint lower_value(const Values *v, uint token, uint value) {
  return v->is_near ? atomic_min(v->near + token, value) : atomic_min(v->far + token, value);
}
void swap_values(Values *a, Values *b) {
  __local uint *const near = a->near;
  __global uint *const far = a->far;
  a->near = b->near;
  a->far = b->far;
  b->near = near;
  b->far = far;
}

#include "plugins/common/kernels/search_lattice.h"
