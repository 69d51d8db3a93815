// SPDX-License-Identifier: Apache-2.0
// The log-sum-exp of scoring kernels that have four terms at once, a vector.
#include "plugins/common/kernels/log_sum.h"

DEVICE void log_sum_add(LogSum *sum, float4 v) {
  log_sum_refer(sum, fmax(fmax(v.x, v.y), fmax(v.z, v.w)));
  const float4 terms = native_exp2(v - sum->reference);
  sum->sum += (terms.x + terms.y) + (terms.z + terms.w);
}
