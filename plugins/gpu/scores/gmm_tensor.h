// SPDX-License-Identifier: Apache-2.0
// Mixtures in the form that tensor cores score: score = constant + sum_k weight_k phi_k(x), where phi are the features and
// their products. Gaussians are in tiles of 8, the columns of an mma. Both factors are split into two fp16 numbers, hi
// and lo. Their product is hi lo + lo hi + hi hi, with a relative error of 2^-22. gmm_tensor_pack.h packs them.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/gpu/scores/gmm_tensor_types.h"

namespace asr {

constexpr uint32_t kTensorWarps = 8;  // warps of a block of threads

// The number of warps that share a stretch of the model, each with its own rows, and the rows per warp. The number of rows
// determines both.
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

// The diagonal kernels are compiled for these numbers of steps of 8 values of k.
constexpr uint32_t kMaxDiagonalDims = 40;
inline uint32_t diagonal_steps(uint32_t n_dims) { return n_dims <= 16 ? 4 : n_dims <= 36 ? 9 : 10; }

// Cuts tiles or blocks into n stretches; returns their first indices, and the end. A stretch may only begin at one of `starts`,
// whose last element is the end. The longest stretch is as short as possible, and as many as possible are as long. The last
// ones may be empty, so that the others end together.
std::vector<uint32_t> cut_stretches(const std::vector<uint32_t> &starts, uint32_t n);

// Returns for each tile the one that its state begins with, and the end: where a stretch may be cut at a tile. With it a kernel
// cuts a model into any number of stretches, alike but for the rest of a state.
std::vector<uint32_t> state_begins(const std::vector<uint32_t> &starts);

// Shares n blocks of threads out over models of so much work, so that the longest takes as little as possible. Each gets one at
// least, so that many models may get more than n.
std::vector<uint32_t> share_blocks(const std::vector<uint64_t> &work, uint32_t n);

}  // namespace asr
