// SPDX-License-Identifier: Apache-2.0
// Rows of a network's outputs in memory of the device become log-likelihoods of states (S1 of docs/equations.md). A block has a
// row: its threads look for values that cannot be searched, then each makes every kGivenThreads-th state. Operations are those
// of core/base/fused_rows.cc, rounded and in the same order, so that the host finds the same bits where division is exact.
// Files that include this one are compiled without contraction.
//
// Floor: a row read and one written. The second reading of a row comes from the cache. 64 windows of 32 rows of 200 columns are
// 3.3 MB, 1 us of an H200's memory.
#ifndef SENONE_KERNELS_GIVEN_H
#define SENONE_KERNELS_GIVEN_H

#include "plugins/gpu/given/given_types.h"
#include "plugins/gpu/runtime/rounded-inl.h"

// After the dialect, whose names they use.
#include "core/base/fused_series-inl.h"
#include "core/base/half_values-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED uint32_t kGivenFloat32 = 0, kGivenFloat16 = 1;  // asr_value_type
FIXED uint32_t kGivenAllClosed = 0xffffffffu;         // ASR_GIVEN_ALL_CLOSED

// GivenTables has the arrays of a launch.
typedef struct GivenTables {
  GLOBAL const uint32_t *begins, *columns;  // of the states; begins: [n_states + 1], not read if is_one_to_one
  GLOBAL const float *offsets;              // [n_states]
  GLOBAL float *scores;                     // the score buffer
  GLOBAL uint32_t *faults;                  // of its rows
  uint32_t n_columns, n_states, is_one_to_one;
} GivenTables;

DEVICE float given_value(GLOBAL const void *row, uint32_t type, uint32_t column) {
  if (type == kGivenFloat32) return ((GLOBAL const float *)row)[column];
  const uint16_t bits = ((GLOBAL const uint16_t *)row)[column];
  return type == kGivenFloat16 ? float_of_half(bits) : float_of_bfloat(bits);
}

// sum_of_columns() of the host.
DEVICE float given_sum(GLOBAL const void *row, uint32_t type, GLOBAL const uint32_t *columns, uint32_t n) {
  float best = -INFINITY;
  for (uint32_t i = 0; i < n; ++i) {
    const float value = given_value(row, type, columns[i]);
    best = value > best ? value : best;
  }
  if (n < 2 || best == -INFINITY) return best;
  float sum = 0;
  for (uint32_t i = 0; i < n; ++i) {
    sum = add_rounded(sum, fused_exp(subtract_rounded(given_value(row, type, columns[i]), best)));
  }
  return add_rounded(best, fused_log(sum));
}

// Returns the fault of a row, 0 if it has none. found: the first column that is NaN or +inf, plus 1, and whether one is open.
DEVICE uint32_t fault_of_given(GLOBAL const void *row, uint32_t type, uint32_t n_columns, LOCAL uint32_t *found) {
  if (thread_number() == 0) {
    found[0] = 0xffffffffu;
    found[1] = 0;
  }
  block_sync();
  for (uint32_t column = thread_number(); column < n_columns; column += kGivenThreads) {
    const float value = given_value(row, type, column);
    if (!(value < INFINITY)) atomic_min(&found[0], column + 1);
    if (value > -INFINITY) found[1] = 1;
  }
  block_sync();
  if (found[0] != 0xffffffffu) return found[0];
  return found[1] != 0 ? 0 : kGivenAllClosed;
}

// Makes row `to` of the score buffer, on a block of kGivenThreads. A row with a fault becomes zeros. found: [2]
DEVICE void read_given(const GivenTables *t, GLOBAL const void *row, uint32_t type, uint32_t to, LOCAL uint32_t *found) {
  const uint32_t fault = fault_of_given(row, type, t->n_columns, found);
  if (thread_number() == 0) t->faults[to] = fault;
  GLOBAL float *const scores = t->scores + (size_t)to * t->n_states;
  for (uint32_t state = thread_number(); state < t->n_states; state += kGivenThreads) {
    float score;
    if (t->is_one_to_one) {
      score = given_value(row, type, state);
    } else {
      const uint32_t begin = t->begins[state];
      score = given_sum(row, type, t->columns + begin, t->begins[state + 1] - begin);
    }
    scores[state] = fault != 0 ? 0.0f : add_rounded(score, t->offsets[state]);
  }
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_GIVEN_H
