// SPDX-License-Identifier: Apache-2.0
// Rows as the diagonal tensor-core kernels hold them: the features and their squares, split, in the registers of a warp.
#pragma once

#include "plugins/cuda/runtime/tensor.cuh"
#include "plugins/cuda/scores/gmm_launch.h"

namespace asr::gpu {

// The rows of a warp: fragments of phi, whose k = 2 d is x_d and 2 d + 1 is x_d^2, so that a register holds both of one x.
template <int kSteps, int kTiles>
struct RowFragments {
  static constexpr int kPairs = kSteps / 2;
  uint32_t hi[kTiles][kPairs][4], lo[kTiles][kPairs][4];
  uint32_t last_hi[kTiles][2], last_lo[kTiles][2];  // last step, if their number is odd
  float inverse_scale[kTiles][2];

  __device__ void load(const GmmDim *dims, uint32_t n_dims, const GmmRows &rows, uint32_t first_row) {
    const uint32_t lane = threadIdx.x % 32, quad = lane / 4, q = lane % 4;
#pragma unroll
    for (int t = 0; t < kTiles; ++t) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const uint32_t row = min(first_row + 16 * t + 8 * half + quad, rows.n_rows - 1);
        const float *const features = rows.features + size_t{row} * rows.n_features;
        float x[kSteps], largest = 0;  // features of dimensions q, q + 4, q + 8 ...
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
          const uint32_t d = 4 * s + q;
          const GmmDim dim = dims[min(d, n_dims - 1)];
          x[s] = d < n_dims ? (features[dim.dim] - dim.centre) * dim.scale : 0;
          largest = fmaxf(largest, fabsf(x[s]));
        }
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 1));
        largest = fmaxf(largest, __shfl_xor_sync(0xffffffffu, largest, 2));
        const float scale = row_scale(largest);
        inverse_scale[t][half] = 1 / scale;
#pragma unroll
        for (int s = 0; s < kSteps; ++s) {
          const float2 phi = {x[s] * scale, x[s] * x[s] * scale};
          if (s < 2 * kPairs) {
            split(phi, &hi[t][s / 2][s % 2 * 2 + half], &lo[t][s / 2][s % 2 * 2 + half]);
          } else {
            split(phi, &last_hi[t][half], &last_lo[t][half]);
          }
        }
      }
    }
  }
};

}  // namespace asr::gpu
