// SPDX-License-Identifier: Apache-2.0
// An acoustic model as it lies in device memory, for host and kernels. Gaussians stand in fours; a four is constant[4], then for
// each dimension i -offset_i[4] and factor_i[4] or, if full, the row factor_ii[4], factor_i,i+1[4] ... of the triangle (G1, G2).
// LANES fours stand side by side: value q of the fours of round r is at (r * size + q) * LANES. Scores inside are base-2
// logarithms. A row's bits do not depend on the rows beside it or on their number.
#ifndef SENONE_OCL_GMM_TYPES_H
#define SENONE_OCL_GMM_TYPES_H
#include "plugins/common/ocl/kernels/types.h"
#ifdef __cplusplus
namespace asr::ocl {
#endif

// A feature of a stream: row[dim] - centre.
typedef struct GmmDim {
  uint32_t dim;
  float centre;
} GmmDim;

// LANES / PARTS states that have their Gaussians for themselves. Lane l has the fours l / (LANES / PARTS), + PARTS, + 2 PARTS
// ... of state l % (LANES / PARTS), one a round.
typedef struct GmmBlock {
  uint32_t first_round, n_rounds;
} GmmBlock;

// Up to four states that mix the Gaussians of one codebook. Weights: one float4 a Gaussian, a value a state, base 2.
typedef struct GmmShared {
  uint32_t first_gaussian, n_gaussians, first_weight, n_states;
  uint32_t states[4];
} GmmShared;

#ifdef __cplusplus
}  // namespace asr::ocl
#endif
#endif  // SENONE_OCL_GMM_TYPES_H
