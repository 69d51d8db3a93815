// SPDX-License-Identifier: Apache-2.0
// Log-sum-exp in base 2 (G3), in registers: the end of every scoring kernel. A term costs one exponential, because the
// reference follows the terms only when they leave it far behind. Each back end adds its terms in its own order
// (plugins/cuda/scores/mixture.cuh, plugins/ocl/scores/mixture.clh).
#ifndef SENONE_KERNELS_LOG_SUM_H
#define SENONE_KERNELS_LOG_SUM_H

#include "plugins/common/dialect.h"
#include "plugins/common/log_zero.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED float kLogSumRoom = 100;  // 2^100 times many terms is still a float
FIXED float kLn2 = 0.69314718f;

typedef struct LogSum {
  float reference, sum;  // log2 of the sum is reference + log2(sum)
} LogSum;

DEVICE void log_sum_clear(LogSum *sum) {
  sum->reference = kLogZero;
  sum->sum = 0;
}

// Raises the reference before terms are added of which `top` is the greatest.
DEVICE void log_sum_refer(LogSum *sum, float top) {
  if (top > sum->reference + kLogSumRoom) {
    sum->sum *= fast_exp2(sum->reference - top);
    sum->reference = top;
  }
}

DEVICE void log_sum_merge(LogSum *sum, LogSum other) {
  const float top = fmax(sum->reference, other.reference);
  sum->sum = sum->sum * fast_exp2(sum->reference - top) + other.sum * fast_exp2(other.reference - top);
  sum->reference = top;
}

// Returns the natural logarithm of the sum.
DEVICE float log_sum_natural(LogSum sum) { return (sum.reference + fast_log2(sum.sum)) * kLn2; }

// Stores a row's score: the first stream writes, the others add.
DEVICE void put_score(GLOBAL float *score, float value, bool add) { *score = add ? *score + value : value; }

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_LOG_SUM_H
