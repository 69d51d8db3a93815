// SPDX-License-Identifier: Apache-2.0
// Fusion of the log-likelihoods of several models (G5 to G7 of docs/equations.md). A thread has a state of a row.
// It keeps that state's score of every term in registers. Each operation is rounded and in the order of
// core/base/fused_rows.cc, so that the host finds the same bits where division is exact. Files that include this one are
// compiled without contraction.
//
// Floor: (terms + 1) floats a state and row. Ten models of 5000 states and 256 rows are 56 MB, 12 us of an H200's memory.
#ifndef SENONE_KERNELS_FUSE_H
#define SENONE_KERNELS_FUSE_H

#include "plugins/common/fuse_types.h"
#include "plugins/gpu/runtime/rounded-inl.h"

// After the dialect, whose names the series use.
#include "core/base/fused_series-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// The address space of a row's terms, and term m + 1 of them, if there is one, else m.
#ifndef FUSE_SPACE
#define FUSE_SPACE LOCAL
#define FUSE_NEXT(array, m, n_terms) array[(m) + 1 < (n_terms) ? (m) + 1 : (m)]
#endif
FIXED float kFuseLogZero = -1e30f;  // log-likelihoods below it count as -infinity

// Sets term m of row `number` of a job; `scores`: the score buffer of its model.
DEVICE void fuse_set_term(LOCAL FuseTerms *terms, uint32_t m, FuseTerm term, GLOBAL const float *scores, uint32_t n_states,
                          uint32_t number) {
  terms->scores[m] = scores + (size_t)(term.first_row + number) * n_states;
  terms->weights[m] = term.weight;
  terms->offsets[m] = term.offset;
}

// weight: the largest of the terms. most: what n_terms may be, a number known when the kernel is compiled, up to
// kFuseMostModels and even. Two terms a branch: of an odd number, the last one's twin is read and left out.
DEVICE float fused_score(FUSE_SPACE const FuseTerms *terms, uint32_t n_terms, uint32_t rule, float weight, uint32_t state,
                         uint32_t most) {
  float values[kFuseMostModels];
#pragma unroll
  for (uint32_t m = 0; m < most; m += 2) {
    if (m < n_terms) {
      values[m] = terms->scores[m][state];
      values[m + 1] = FUSE_NEXT(terms->scores, m, n_terms)[state];
    }
  }
  if (rule == kFuseSum) {
    float sum = multiply_rounded(terms->weights[0], values[0]);
#pragma unroll
    for (uint32_t m = 1; m < most; ++m) {
      if (m < n_terms) sum = add_rounded(sum, multiply_rounded(terms->weights[m], values[m]));
    }
    return sum;
  }
  float largest = -INFINITY;
#pragma unroll
  for (uint32_t m = 0; m < most; m += 2) {
    if (m < n_terms) {
      const float offset = terms->offsets[m], next_offset = FUSE_NEXT(terms->offsets, m, n_terms);
      values[m] = add_rounded(values[m], offset);
      values[m + 1] = add_rounded(values[m + 1], next_offset);
      largest = fmax(fmax(largest, values[m]), values[m + 1]);
    }
  }
  if (rule == kFuseMax || !(largest > kFuseLogZero)) return largest;
  float sum = 0.0f;
#pragma unroll
  for (uint32_t m = 0; m < most; m += 2) {
    if (m < n_terms) {
      sum = add_rounded(sum, fused_exp(subtract_rounded(values[m], largest)));
      const float next = fused_exp(subtract_rounded(values[m + 1], largest));
      sum = m + 1 < n_terms ? add_rounded(sum, next) : sum;
    }
  }
  return add_rounded(largest, fused_log(multiply_rounded(weight, sum)));
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_FUSE_H
