// SPDX-License-Identifier: Apache-2.0
// The kernel of the extension "fusion"; plugins/common/kernels/fuse.h has the equations. A work-group has a part of a row.
#include "plugins/common/kernels/fuse.h"

#define SCORES(n)                                                                                                             \
  __global const float *m##n##0, __global const float *m##n##1, __global const float *m##n##2, __global const float *m##n##3, \
      __global const float *m##n##4, __global const float *m##n##5, __global const float *m##n##6,                            \
      __global const float *m##n##7
#define NAMES(n) m##n##0, m##n##1, m##n##2, m##n##3, m##n##4, m##n##5, m##n##6, m##n##7

// `to`: score buffer of the results, which may be one of the models', m00 to m37.
__kernel void fuse(__global const FuseRow *rows, __global const FuseJob *jobs, __global const FuseTerm *terms, uint n_states,
                   __global float *to, SCORES(0), SCORES(1), SCORES(2), SCORES(3)) {
  __global const float *const models[] = {NAMES(0), NAMES(1), NAMES(2), NAMES(3)};
  const uint state = get_global_id(0);
  const FuseRow row = rows[get_group_id(1)];
  if (state >= n_states) return;
  const float score = fused_score(jobs + row.job, terms, models, n_states, row.number, state);
  to[(size_t)(jobs[row.job].first_row + row.number) * n_states + state] = score;
}
