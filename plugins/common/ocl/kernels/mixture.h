// SPDX-License-Identifier: Apache-2.0
// Log-sum-exp in base 2 (G3), in registers: what ends every scoring kernel. The reference follows the terms only when they
// leave it far behind, so a term costs one exponential.
#define LOG_ZERO -3e38f   // of a Gaussian that is not there: finite, so that no NaN arises
#define LOG_SUM_ROOM 100  // 2^100 times many terms is still a float
#define LN_2 0.69314718f

typedef struct LogSum {
  float reference, sum;  // log2 of the sum is reference + log2(sum)
} LogSum;

static inline void log_sum_clear(LogSum *sum) {
  sum->reference = LOG_ZERO;
  sum->sum = 0;
}

static inline void log_sum_refer(LogSum *sum, float top) {
  if (top > sum->reference + LOG_SUM_ROOM) {
    sum->sum *= native_exp2(sum->reference - top);
    sum->reference = top;
  }
}

static inline void log_sum_add(LogSum *sum, float4 v) {
  log_sum_refer(sum, fmax(fmax(v.x, v.y), fmax(v.z, v.w)));
  const float4 terms = native_exp2(v - sum->reference);
  sum->sum += (terms.x + terms.y) + (terms.z + terms.w);
}

static inline void log_sum_merge(LogSum *sum, LogSum other) {
  const float top = fmax(sum->reference, other.reference);
  sum->sum = sum->sum * native_exp2(sum->reference - top) + other.sum * native_exp2(other.reference - top);
  sum->reference = top;
}

// The natural logarithm.
static inline float log_sum_natural(LogSum sum) { return (sum.reference + native_log2(sum.sum)) * LN_2; }

// The first stream of a row writes, the others add.
static inline void put_score(__global float *score, float value, uint add) { *score = add ? *score + value : value; }
