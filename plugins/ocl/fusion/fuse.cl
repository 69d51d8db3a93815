// SPDX-License-Identifier: Apache-2.0
// The kernels of the extension "fusion"; plugins/gpu/fusion/fuse-inl.h has the equations. One serves the jobs of a call from
// tables; a work-group has a part of a row. The other serves one job, all of whose rows are one long row. Its work-items start
// without the tables' chain of reads, and choose no score buffer by a number.
//   -D FLAT=1: the kernel of one job; FLAT=0: of tables, -D MOST=...: terms of a job, at most
#if FLAT
// Private memory, whose elements are registers if their numbers are known: so values are chosen, not numbers.
#define FUSE_SPACE
#define FUSE_NEXT(array, m, n_terms) ((m) + 1 < (n_terms) ? array[(m) + 1] : array[m])
#endif
#include "plugins/gpu/fusion/fuse-inl.h"

#define SCORES(n)                                                                                                             \
  __global const float *m##n##0, __global const float *m##n##1, __global const float *m##n##2, __global const float *m##n##3, \
      __global const float *m##n##4, __global const float *m##n##5, __global const float *m##n##6,                            \
      __global const float *m##n##7
#define NAMES(n) m##n##0, m##n##1, m##n##2, m##n##3, m##n##4, m##n##5, m##n##6, m##n##7

#if FLAT

// Term m has the scores of the m-th buffer, and the result is in `to` from number first_to on.
__kernel void fuse_job(FuseFlatJob job, FuseFewTerms few, ulong first_to, __global float *to, SCORES(0), SCORES(1)) {
  const uint at = get_global_id(0);
  if (at >= job.n_scores) return;
  __global const float *const models[] = {NAMES(0), NAMES(1)};
  FuseTerms terms;
#pragma unroll
  for (uint m = 0; m < kFuseFewTerms; ++m) {
    terms.scores[m] = models[m] + few.first[m];
    terms.weights[m] = few.weights[m], terms.offsets[m] = few.offsets[m];
  }
  to[first_to + at] = fused_score(&terms, job.n_terms, job.rule, job.weight, at, kFuseFewTerms);
}

#else

// `to`: score buffer of the results, which may be one of the models', m00 to m37.
__kernel void fuse(__global const FuseRow *rows, __global const FuseJob *jobs, __global const FuseTerm *terms, uint n_states,
                   __global float *to, SCORES(0), SCORES(1), SCORES(2), SCORES(3)) {
  __local FuseTerms of_row;
  const uint state = get_global_id(0), thread = get_local_id(0);
  const FuseRow row = rows[get_group_id(1)];
  const FuseJob job = jobs[row.job];
  if (thread < job.n_terms) {
    __global const float *const models[] = {NAMES(0), NAMES(1), NAMES(2), NAMES(3)};
    const FuseTerm term = terms[job.first_term + thread];
    fuse_set_term(&of_row, thread, term, models[term.model], n_states, row.number);
  }
  barrier(CLK_LOCAL_MEM_FENCE);
  if (state >= n_states) return;
  const float score = fused_score(&of_row, job.n_terms, job.rule, job.weight, state, MOST);
  to[(size_t)(job.first_row + row.number) * n_states + state] = score;
}

#endif
