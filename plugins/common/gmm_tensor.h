// SPDX-License-Identifier: Apache-2.0
// Mixtures as tensor cores score them, for the back ends that have some: score = constant + sum_k weight_k phi_k(x), phi the
// features and their products, with Gaussians in tiles of 8, the columns of an mma. Both factors are split into two fp16
// numbers, hi and lo; hi lo + lo hi + hi hi is the product to 2^-22 of itself. Packed by gmm_tensor_pack.h.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/common/kernels/gmm_tensor_types.h"

namespace asr {

constexpr uint32_t kTensorWarps = 8;  // of a block of threads

// How many warps share a stretch of the model, each with its own rows, and rows a warp: chosen by the number of rows.
struct TensorShape {
  uint32_t warps, tiles_of_16_rows;
};
constexpr uint32_t kShapes = 4;  // warps: 1, 2, 4, 8
inline TensorShape tensor_shape(uint32_t n_rows) {
  if (n_rows <= 16) return {1, 1};
  return {n_rows <= 32 ? 1u : n_rows <= 64 ? 2u : n_rows <= 128 ? 4u : 8u, 2};
}
inline uint32_t shape_index(const TensorShape &shape) {
  return shape.warps == 1 ? 0 : shape.warps == 2 ? 1 : shape.warps == 4 ? 2 : 3;
}

// Steps of 8 values of k of the diagonal kernels, for which they are compiled.
constexpr uint32_t kMaxDiagonalDims = 40;
inline uint32_t diagonal_steps(uint32_t n_dims) { return n_dims <= 16 ? 4 : n_dims <= 36 ? 9 : 10; }

// Where n stretches of tiles or blocks begin, and the end. They may begin at `starts` only, the last of which is the end. The
// longest is as short as it can be, and as many as possible are as long: the last ones may be empty, so that the others end
// together.
std::vector<uint32_t> cut_stretches(const std::vector<uint32_t> &starts, uint32_t n);

}  // namespace asr
