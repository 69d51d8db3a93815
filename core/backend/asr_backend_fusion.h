/* SPDX-License-Identifier: Apache-2.0 */
/*
 * asr_backend_fusion.h - the extension "fusion" of a back end: rows of several models in score buffers become one.
 *
 * A device with memory of its own fuses scores in that memory, so that they need not be copied to the host. Without this
 * extension the core asks `score` for the scores and fuses them on the host. The rules of asr_backend.h for calls, threads
 * and versions hold. Equations G5 to G7 are in docs/equations.md.
 */
#ifndef SENONE_ASR_BACKEND_FUSION_H
#define SENONE_ASR_BACKEND_FUSION_H

#include "asr_backend.h"

#ifdef __cplusplus
extern "C" {
#endif

#define ASR_BACKEND_FUSION "fusion" /* argument of asr_backend_api.extension, which returns an asr_backend_fusion_api */

#define ASR_FUSE_MOST_TERMS 32u

typedef enum asr_fuse_rule {
  ASR_FUSE_SUM = 0,     /* G5 */
  ASR_FUSE_LOG_SUM = 1, /* G6 */
  ASR_FUSE_MAX = 2      /* G7 */
} asr_fuse_rule;

typedef struct asr_fuse_term { /* one model of a fusion */
  asr_backend_acoustic *acoustic;
  uint32_t first_row; /* row in its score buffer */
  float weight;       /* positive; the sum of a job's weights is 1 */
} asr_fuse_term;

/* Rows first_row ... first_row + n_rows - 1 of a score buffer become the fusion of as many rows of each term. They must have
 * been scored. No other job of the call reads or writes them; a term of the same job may be these rows, from the first one on.
 */
typedef struct asr_fuse_job {
  const asr_fuse_term *terms;
  uint32_t n_terms; /* 1 ... ASR_FUSE_MOST_TERMS */
  asr_fuse_rule rule;
  uint32_t first_row, n_rows;
} asr_fuse_job;

typedef struct asr_backend_fusion_api {
  size_t size;

  /* [async] Carries out the jobs. The rows of all terms are in score buffer `buffer`, 0 or 1, each of its model. The
   * results are in the buffer of `to`. At most ASR_FUSE_MOST_TERMS models in a call, all with the states of `to`.
   * loglikes: out, all rows of that buffer afterwards, until wait; NULL: the host does not want them. */
  asr_status (*fuse)(asr_backend_device *, asr_backend_acoustic *to, const asr_fuse_job *jobs, size_t n_jobs, uint32_t buffer,
                     float *loglikes);
} asr_backend_fusion_api;

#ifdef __cplusplus
}
#endif
#endif /* SENONE_ASR_BACKEND_FUSION_H */
