// SPDX-License-Identifier: Apache-2.0
// Tiles of Gaussians as hosts pack them for tensor cores (plugins/common/gmm_tensor.h) and kernels read them.
#ifndef SENONE_KERNELS_GMM_TENSOR_TYPES_H
#define SENONE_KERNELS_GMM_TENSOR_TYPES_H

#include "plugins/common/kernels/types.h"
#ifdef __cplusplus
namespace asr {
#endif

enum TileSizes {
  kTileGaussians = 8,  // Gaussians of one state, padded
  kBlockTiles = 8,     // tiles of the expanded kernel's blocks
  kRowStepWords = 256  // words of 16 rows and 16 values of k, expanded and split
};

// A feature of a stream: (row[dim] - centre) * scale.
typedef struct TensorDim {
  uint32_t dim;
  float centre, scale, unused;
} TensorDim;

// Constants of a tile's Gaussians, and the state that ends with it, or -1.
typedef struct TileInfo {
  float constants[kTileGaussians];
  int32_t state, unused[3];
} TileInfo;

// The numbers of a model in a launch of several: its rows, and the work-groups in which it is scored. Used by the wgmma kernel
// of OpenCL (plugins/ocl_nvidia/kernels/gmm_diagonal_wgmma.cu).
typedef struct DiagonalPart {
  uint32_t n_rows, n_features, n_states, add;
  uint32_t n_dims, n_tiles;
  uint32_t n_row_blocks, first_group, n_groups;
  uint32_t passes;  // 1: the tiles are more than the second-level cache keeps for the next launch
} DiagonalPart;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_GMM_TENSOR_TYPES_H
