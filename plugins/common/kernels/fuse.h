// SPDX-License-Identifier: Apache-2.0
// Fusion of the log-likelihoods of several models (G5 to G7 of docs/equations.md). A thread has a state of a row. It
// reads that state's score of every term twice: for the largest, then, by kFuseLogSum, for the sum. The second read
// finds the nearest cache. Each operation is rounded and in the order of core/base/fused_rows.cc, so that the host
// finds the same bits where division is exact.
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

// Returns the score of a state by term m of a job in row `number` of it. models: [n_models], the score buffers.
DEVICE float term_score(GLOBAL const FuseTerm *term, GLOBAL const float *const *models, uint32_t n_states, uint32_t number,
                        uint32_t state) {
  return models[term->model][(size_t)(term->first_row + number) * n_states + state];
}

DEVICE float fused_score(GLOBAL const FuseJob *job, GLOBAL const FuseTerm *terms, GLOBAL const float *const *models,
                         uint32_t n_states, uint32_t number, uint32_t state) {
  GLOBAL const FuseTerm *const first = terms + job->first_term;
  const uint32_t n_terms = job->n_terms;
  if (job->rule == kFuseSum) {
    float sum = multiply_rounded(first->weight, term_score(first, models, n_states, number, state));
    for (uint32_t m = 1; m < n_terms; ++m) {
      sum = add_rounded(sum, multiply_rounded(first[m].weight, term_score(first + m, models, n_states, number, state)));
    }
    return sum;
  }
  float most = -INFINITY;
  for (uint32_t m = 0; m < n_terms; ++m) {
    const float value = add_rounded(term_score(first + m, models, n_states, number, state), first[m].offset);
    most = value > most ? value : most;
  }
  if (job->rule == kFuseMax || !(most > kFuseLogZero)) return most;
  float sum = 0.0f;
  for (uint32_t m = 0; m < n_terms; ++m) {
    const float value = add_rounded(term_score(first + m, models, n_states, number, state), first[m].offset);
    sum = add_rounded(sum, multiply_rounded(job->weight, fuse_exp(subtract_rounded(value, most))));
  }
  return add_rounded(most, fuse_log(sum));
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_FUSE_H
