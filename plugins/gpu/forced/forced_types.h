// SPDX-License-Identifier: Apache-2.0
// Tables of the extension "forced", which the host makes (plugins/gpu/forced/forced_pack.h) and forced-inl.h reads.
#ifndef SENONE_KERNELS_FORCED_TYPES_H
#define SENONE_KERNELS_FORCED_TYPES_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

// Macros, because OpenCL C takes no other constants for sizes of arrays.
#define kForcedThreads 128u  // of a block
#define kForcedLanes 32u     // threads that share a row

// A codebook of K Gaussians in the array of parameters, Gaussian by Gaussian in the last index: constants [K], then for each
// dimension means [K] and factors [K]. In base 2, a Gaussian is constant - sum (factor (x - mean))^2.
typedef struct ForcedCodebook {
  uint32_t first_parameter, n_gaussians;
  uint32_t first_dim, n_dims;  // in the table of dimensions
} ForcedCodebook;

// What a state has in a feature stream; its weights are base-2 logarithms.
typedef struct ForcedMixture {
  uint32_t codebook, first_weight;
} ForcedMixture;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_FORCED_TYPES_H
