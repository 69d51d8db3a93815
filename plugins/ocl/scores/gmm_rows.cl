// SPDX-License-Identifier: Apache-2.0
// Tiles rows of features for kernels that keep nothing in local memory: tiles[tile][dim][TILE_ROWS], centred (G4), each value
// twice. Values are zero beyond the last row and dimension, which are padded to multiples of TILE_ROWS and DIMS. A work-item
// writes one value.
//   -D TILE_ROWS=..., DIMS=...
#include "plugins/ocl/scores/gmm_types.h"

__kernel void gmm_tile_rows(__global const float *restrict features, uint n_rows, uint n_features,
                            __global const GmmDim *restrict dims, uint n_dims, __global float2 *restrict tiles) {
  const uint i = get_global_id(0), tile_values = (n_dims + DIMS - 1) / DIMS * DIMS * TILE_ROWS;
  const uint tile = i / tile_values, d = i % tile_values / TILE_ROWS, row = tile * TILE_ROWS + i % TILE_ROWS;
  if (tile * TILE_ROWS >= n_rows) return;
  float value = 0;
  if (row < n_rows && d < n_dims) value = features[(size_t)row * n_features + dims[d].dim] - dims[d].centre;
  tiles[i] = (float2)(value);
}
