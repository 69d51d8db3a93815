// SPDX-License-Identifier: Apache-2.0
// Tables of the extension "statistics", which the host makes (plugins/gpu/statistics/statistics_plan.h) and statistics-inl.h
// reads.
#ifndef SENONE_KERNELS_STATISTICS_TYPES_H
#define SENONE_KERNELS_STATISTICS_TYPES_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

// Sizes are macros, because OpenCL C takes no other constants for sizes of arrays.
#define kStatisticsThreads 64u  // of a block, and the most shares whose posteriors it makes
#define kFactorRows 8u          // rows of a factor that a thread multiplies at once
#define kMomentTile 4u          // rows and columns of second moments that a thread sums
#define kSharesAhead 8u         // shares that a thread reads before it adds the first
#define kTileSharesAhead 2u     // the same for a tile of second moments

// A mixture's parameters are doubles, Gaussian by Gaussian in the last index, with K Gaussians of d dimensions:
//   means [d][K], precisions [d][K] or factors, log_norms [K], log_weights [n_weight_rows][K].
// Factors: for each kFactorRows rows, from the first on, columns up to the last of these rows or d: [kFactorRows][K].
// Elements above the diagonal and below row d - 1 are 0.
typedef struct SumsMixture {
  uint64_t means, precisions, log_norms, log_weights;  // offsets
  uint32_t first_dim, n_dims, n_gaussians, reserved;   // first_dim: in the table of dimensions
} SumsMixture;

// SumsJob has a sum's shares in a launch. Posteriors are [n_gaussians][n_shares].
typedef struct SumsJob {
  uint64_t first_posterior;
  uint64_t occupancies, first, second, log_likelihood;  // offsets of the sums
  uint32_t mixture, first_share, n_shares, reserved;
} SumsJob;

// SumsTile is a block's part of a job: shares from `first` on, or elements of the sums.
typedef struct SumsTile {
  uint32_t job, first;
} SumsTile;

typedef struct SumsShare {
  uint32_t row, weight_row;
  float share;
} SumsShare;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_STATISTICS_TYPES_H
