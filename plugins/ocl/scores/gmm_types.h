// SPDX-License-Identifier: Apache-2.0
// An acoustic model as it lies in device memory, for host and kernels. Gaussians are in fours. A four begins with
// constant[4]. For G1, -offset_i[4] and factor_i[4] of each dimension i follow. For G2 (full), every FACTOR_ROWS rows
// of the triangle have their offsets and then their factors, column by column. Kernels that take DIMS dimensions at
// once have zeros for missing dimensions. Dimensions go up to a multiple of DIMS, rows of a triangle begin at one.
// LANES fours lie side by side: value q of the fours of round r is at (r * size + q) * LANES. Scores inside are base-2
// logarithms. A row's bits do not depend on the rows beside it or on their number. In a halved model all numbers are
// halves; a constant is the sum of two.
#ifndef SENONE_OCL_GMM_TYPES_H
#define SENONE_OCL_GMM_TYPES_H
#include "plugins/common/types.h"
#ifdef __cplusplus
namespace asr::gpu {
#endif

enum HalvedSizes { kHalvedConstants = 2 };  // fours of constants of a halved model

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

#ifdef __cplusplus
}  // namespace asr::gpu
#endif
#endif  // SENONE_OCL_GMM_TYPES_H
