// SPDX-License-Identifier: Apache-2.0
// Tiles of Gaussians as hosts pack them for tensor cores (plugins/gpu/scores/gmm_tensor.h) and kernels read them.
#ifndef SENONE_KERNELS_GMM_TENSOR_TYPES_H
#define SENONE_KERNELS_GMM_TENSOR_TYPES_H

#include "plugins/common/types.h"
#ifdef __cplusplus
namespace asr {
#endif

enum TileSizes {
  kTileGaussians = 8,   // Gaussians of one state, padded, or two of each of four states
  kMaxFourTiles = 8,    // tiles of four states that lie by fours; it may be half as many
  kBlockTiles = 8,      // tiles of the expanded kernel's blocks
  kRowStepWords = 256,  // words of 16 rows and 16 values of k, expanded and split
  kDiagonalModels = 12  // most of a launch of OpenCL's diagonal kernels, which list their arrays
};

// A feature of a stream: (row[dim] - centre) * scale.
typedef struct TensorDim {
  uint32_t dim;
  float centre, scale, unused;
} TensorDim;

// Constants of a tile's Gaussians, and the states that end with it, or -1: only the first, unless they lie by fours.
typedef struct TileInfo {
  float constants[kTileGaussians];
  int32_t states[4];
} TileInfo;

// The numbers of a model in a launch of several: its rows, and the work-groups in which it is scored. Used by the wgmma kernel
// of OpenCL (plugins/ocl_nvidia/scores/gmm_diagonal_wgmma.cu).
typedef struct DiagonalPart {
  uint32_t n_rows, n_features, n_states, add;
  uint32_t n_dims, n_tiles;
  uint32_t first_group, n_groups;
  uint32_t four_tiles;  // as in TensorPack
  uint32_t passes;      // 1: the tiles are more than the second-level cache keeps for the next launch
} DiagonalPart;

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_GMM_TENSOR_TYPES_H
