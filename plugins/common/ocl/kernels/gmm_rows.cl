// SPDX-License-Identifier: Apache-2.0
// Rows of features as kernels read them that keep nothing in local memory: tiles[tile][dim][TILE_ROWS], centred (G4); zero
// beyond the last row. A work item writes one value.
//   -D TILE_ROWS=...
#include "plugins/common/ocl/kernels/gmm_types.h"

__kernel void gmm_tile_rows(__global const float *restrict features, uint n_rows, uint n_features,
                            __global const GmmDim *restrict dims, uint n_dims, __global float *restrict tiles) {
  const uint i = get_global_id(0), tile_values = n_dims * TILE_ROWS;
  const uint tile = i / tile_values, d = i % tile_values / TILE_ROWS, row = tile * TILE_ROWS + i % TILE_ROWS;
  if (tile * TILE_ROWS >= n_rows) return;
  const GmmDim dim = dims[d];
  tiles[i] = row < n_rows ? features[(size_t)row * n_features + dim.dim] - dim.centre : 0;
}
