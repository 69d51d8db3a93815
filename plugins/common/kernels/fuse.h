// SPDX-License-Identifier: Apache-2.0
// Fusion of the log-likelihoods of several models (G5 to G7 of docs/equations.md). A thread has a state of a row.
// It keeps that state's score of every term in registers. Each operation is rounded and in the order of
// core/base/fused_rows.cc, so that the host finds the same bits where division is exact.
//
// Floor: (terms + 1) floats a state and row. Ten models of 5000 states and 256 rows are 56 MB, 12 us of an H200's memory.
#ifndef SENONE_KERNELS_FUSE_H
#define SENONE_KERNELS_FUSE_H

#include "plugins/common/kernels/fuse_types.h"
#include "plugins/common/kernels/rounded.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED float kFuseLogZero = -1e30f;  // log-likelihoods below it count as -infinity
FIXED float kFuseLn2High = 0.693359375f, kFuseLn2Low = -2.12194440e-4f;

DEVICE float fuse_multiply_add(float a, float b, float c) { return add_rounded(multiply_rounded(a, b), c); }

// e^x for x <= 0, at least e^-87; relative error 2e-7, and exactly 1 for 0: n ln 2 + r, then the series to r^7 / 7!.
DEVICE float fuse_exp(float x) {
  const float round = 12582912.0f;  // 1.5 * 2^23: adding it leaves an integer in the low bits
  x = x < -87.0f ? -87.0f : x;
  const float shifted = fuse_multiply_add(x, 1.44269504f, round), n = subtract_rounded(shifted, round);
  const float r = subtract_rounded(subtract_rounded(x, multiply_rounded(n, kFuseLn2High)), multiply_rounded(n, kFuseLn2Low));
  float p = 1.0f / 5040;
  p = fuse_multiply_add(p, r, 1.0f / 720);
  p = fuse_multiply_add(p, r, 1.0f / 120);
  p = fuse_multiply_add(p, r, 1.0f / 24);
  p = fuse_multiply_add(p, r, 1.0f / 6);
  p = fuse_multiply_add(p, r, 0.5f);
  p = fuse_multiply_add(p, r, 1.0f);
  p = fuse_multiply_add(p, r, 1.0f);
  const uint32_t exponent = as_uint(shifted) - as_uint(round);
  return multiply_rounded(p, as_float((exponent + 127) << 23));
}

// Returns ln x for normal x > 0, with an absolute error of 3e-7, and exactly 0 for 1. It takes x = 2^n m, m from
// sqrt(1/2) to sqrt(2), and the series of 2 artanh((m - 1) / (m + 1)).
DEVICE float fuse_log(float x) {
  const uint32_t bits = as_uint(x);
  const int32_t n = (int32_t)(bits - 0x3f3504f3u) >> 23;
  const float m = as_float(bits - ((uint32_t)n << 23));
  const float z = subtract_rounded(m, 1.0f) / add_rounded(m, 1.0f), square = multiply_rounded(z, z);
  float p = 2.0f / 9;
  p = fuse_multiply_add(p, square, 2.0f / 7);
  p = fuse_multiply_add(p, square, 2.0f / 5);
  p = fuse_multiply_add(p, square, 2.0f / 3);
  p = multiply_rounded(p, square);
  const float exponent = (float)n, rest = fuse_multiply_add(p, z, multiply_rounded(2.0f, z));
  return add_rounded(multiply_rounded(exponent, kFuseLn2High), add_rounded(rest, multiply_rounded(exponent, kFuseLn2Low)));
}

// The terms of a row, which the threads of a block share.
typedef struct FuseTerms {
  GLOBAL const float *scores[kFuseMostModels];  // [n_states]
  float weights[kFuseMostModels], offsets[kFuseMostModels];
} FuseTerms;

// Sets term m of row `number` of a job; `scores`: the score buffer of its model.
DEVICE void fuse_set_term(LOCAL FuseTerms *terms, uint32_t m, FuseTerm term, GLOBAL const float *scores, uint32_t n_states,
                          uint32_t number) {
  terms->scores[m] = scores + (size_t)(term.first_row + number) * n_states;
  terms->weights[m] = term.weight;
  terms->offsets[m] = term.offset;
}

// weight: the largest of the terms. most: what n_terms may be, a number known when the kernel is compiled, up to
// kFuseMostModels and even. Two terms a branch: of an odd number, the last one's twin is read and left out.
DEVICE float fused_score(LOCAL const FuseTerms *terms, uint32_t n_terms, uint32_t rule, float weight, uint32_t state,
                         uint32_t most) {
  float values[kFuseMostModels];
#pragma unroll
  for (uint32_t m = 0; m < most; m += 2) {
    if (m < n_terms) {
      values[m] = terms->scores[m][state];
      values[m + 1] = terms->scores[m + 1 < n_terms ? m + 1 : m][state];
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
      const float offset = terms->offsets[m], next_offset = terms->offsets[m + 1 < n_terms ? m + 1 : m];
      values[m] = add_rounded(values[m], offset);
      values[m + 1] = add_rounded(values[m + 1], next_offset);
      largest = values[m] > largest ? values[m] : largest;
      largest = values[m + 1] > largest ? values[m + 1] : largest;
    }
  }
  if (rule == kFuseMax || !(largest > kFuseLogZero)) return largest;
  float sum = 0.0f;
#pragma unroll
  for (uint32_t m = 0; m < most; m += 2) {
    if (m < n_terms) {
      const float term = multiply_rounded(weight, fuse_exp(subtract_rounded(values[m], largest)));
      const float next = multiply_rounded(weight, fuse_exp(subtract_rounded(values[m + 1], largest)));
      sum = add_rounded(sum, term);
      sum = m + 1 < n_terms ? add_rounded(sum, next) : sum;
    }
  }
  return add_rounded(largest, fuse_log(sum));
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_FUSE_H
