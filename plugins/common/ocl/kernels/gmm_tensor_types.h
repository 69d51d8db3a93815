// SPDX-License-Identifier: Apache-2.0
// What the kernels for tensor cores read (plugins/common/gmm_tensor.h), for both compilers.
#ifndef SENONE_OCL_GMM_TENSOR_TYPES_H
#define SENONE_OCL_GMM_TENSOR_TYPES_H
#include "plugins/common/kernels/types.h"
#ifdef __cplusplus
#include "plugins/common/gmm_tensor.h"
#else

// A feature of a stream: (row[dim] - centre) * scale.
typedef struct TensorDim {
  uint32_t dim;
  float centre, scale, unused;
} TensorDim;

// Constants of a tile's Gaussians, and the state that ends with it, or -1.
typedef struct TileInfo {
  float constants[8];
  int state, unused[3];
} TileInfo;

#define BLOCK_TILES 8
#endif
#endif  // SENONE_OCL_GMM_TENSOR_TYPES_H
