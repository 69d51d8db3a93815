// SPDX-License-Identifier: Apache-2.0
// Log-likelihoods of rows in one state each (G1, G3 and G4 of docs/equations.md). kForcedLanes neighbouring threads own a row.
// Each takes every kForcedLanes-th Gaussian of the state's codebook, so that neighbours read neighbouring parameters, and adds
// it to a sum of its own in registers; the sums are merged in local memory, in an order that the row alone decides. Double
// reference: reference/gmm.h. Accumulators are floats, tolerance 2e-3.
//
// Floor: a row of K Gaussians in d dimensions takes 3 K d operations and K exponentials. 21 warps of a second of speech are
// 2100 rows: with 384 Gaussians in 13 dimensions 31 million operations, 1 us of an H100. Parameters come from the caches,
// because neighbouring rows mostly have the same state.
#ifndef SENONE_KERNELS_FORCED_H
#define SENONE_KERNELS_FORCED_H

#include "plugins/gpu/forced/forced_types.h"
#include "plugins/gpu/scores/log_sum-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// ForcedTables has the arrays of a launch.
typedef struct ForcedTables {
  GLOBAL const ForcedCodebook *codebooks;
  GLOBAL const ForcedMixture *mixtures;  // [n_states][n_streams]
  GLOBAL const uint32_t *dims;
  GLOBAL const float *parameters, *weights;
  GLOBAL const float *rows;       // [n_rows][n_dims]
  GLOBAL const uint32_t *states;  // [n_rows]
  GLOBAL float *loglikes;         // [n_rows]
  uint32_t n_streams, n_dims, n_rows;
} ForcedTables;

// Adds a thread's share of the Gaussians of a mixture to its sum.
DEVICE void add_forced_gaussians(const ForcedTables *t, GLOBAL const float *row, const ForcedMixture *mixture, uint32_t lane,
                                 LogSum *sum) {
  const ForcedCodebook c = t->codebooks[mixture->codebook];
  GLOBAL const uint32_t *const dims = t->dims + c.first_dim;
  GLOBAL const float *const constants = t->parameters + c.first_parameter, *const weights = t->weights + mixture->first_weight;
  for (uint32_t k = lane; k < c.n_gaussians; k += kForcedLanes) {
    GLOBAL const float *parameter = constants + c.n_gaussians + k;
    float distance = 0;
    for (uint32_t i = 0; i < c.n_dims; ++i, parameter += 2 * (size_t)c.n_gaussians) {
      const float x = parameter[c.n_gaussians] * (row[dims[i]] - parameter[0]);
      distance += x * x;
    }
    const float score = fmax(constants[k] + weights[k] - distance, kLogZero);
    log_sum_refer(sum, score);
    sum->sum += fast_exp2(score - sum->reference);
  }
}

// Scores the rows of block `number`. sums: [kForcedThreads]. Threads beyond the last row score it again and store nothing.
DEVICE void score_forced(const ForcedTables *t, uint32_t number, LOCAL LogSum *sums) {
  const uint32_t thread = thread_number(), lane = thread % kForcedLanes;
  const uint32_t at = number * (kForcedThreads / kForcedLanes) + thread / kForcedLanes;
  const uint32_t r = at < t->n_rows ? at : t->n_rows - 1;
  GLOBAL const float *const row = t->rows + (size_t)r * t->n_dims;
  float loglike = 0;
  for (uint32_t j = 0; j < t->n_streams; ++j) {
    const ForcedMixture mixture = t->mixtures[(size_t)t->states[r] * t->n_streams + j];
    LogSum sum;
    log_sum_clear(&sum);
    add_forced_gaussians(t, row, &mixture, lane, &sum);
    sums[thread] = sum;
    for (uint32_t n = kForcedLanes / 2; n > 0; n /= 2) {
      block_sync();
      if (lane < n) {
        log_sum_merge(&sum, sums[thread + n]);
        sums[thread] = sum;
      }
    }
    loglike += log_sum_natural(sum);
    block_sync();
  }
  if (lane == 0 && at < t->n_rows) t->loglikes[at] = loglike;
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_FORCED_H
