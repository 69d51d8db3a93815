// SPDX-License-Identifier: Apache-2.0
// Tables of a call of the extension "fusion", which the host makes (plugins/gpu/fusion/fuser.h) and fuse-inl.h reads.
#ifndef SENONE_KERNELS_FUSE_TYPES_H
#define SENONE_KERNELS_FUSE_TYPES_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

FIXED uint32_t kFuseMostModels = 32;
FIXED uint32_t kFuseFewTerms = 12;  // up to so many, a kernel of its own finds registers for more threads
FIXED uint32_t kFuseSum = 0, kFuseLogSum = 1, kFuseMax = 2;  // asr_fuse_rule

typedef struct FuseJob {
  uint32_t first_term, n_terms, rule;
  uint32_t first_row;  // first row of the result
  float weight;        // the largest of the terms
} FuseJob;

typedef struct FuseTerm {
  uint32_t model, first_row;
  float weight, offset;  // offset: ln of the weight over the largest
} FuseTerm;

// A row of the launch: its job, and its number in that.
typedef struct FuseRow {
  uint32_t job, number;
} FuseRow;

// FuseFlatJob has all rows of a job as one long row.
typedef struct FuseFlatJob {
  uint32_t n_terms, rule, n_scores;  // n_scores: rows times states
  float weight;                      // the largest of the terms
} FuseFlatJob;

// The terms of a job as an argument of OpenCL's kernel; zeros for terms that are not there.
typedef struct FuseFewTerms {
  uint64_t first[kFuseFewTerms];  // of its scores in its model's buffer
  float weights[kFuseFewTerms], offsets[kFuseFewTerms];
} FuseFewTerms;

// The terms of a row, which the threads of a block share.
typedef struct FuseTerms {
  GLOBAL const float *scores[kFuseMostModels];  // [n_states]
  float weights[kFuseMostModels], offsets[kFuseMostModels];
} FuseTerms;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_FUSE_TYPES_H
