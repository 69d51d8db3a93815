// SPDX-License-Identifier: Apache-2.0
// Between gmm.cc and the scoring kernels: models as they lie in device memory, and the kernels' launches. Scores inside are
// base-2 logarithms, as in the CPU back end. A row's bits do not depend on the rows beside it or on their number: every kernel
// does the same operations in the same order for each row, whatever shape it is launched in.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

namespace asr::cuda {

constexpr float kLogZero = -3e38f;  // log weight of a Gaussian that is not there: finite, so that no NaN arises

// A feature of a stream: (row[dim] - centre) * scale.
struct GmmDim {
  uint32_t dim;
  float centre, scale, unused;
};

// The rows of a call and where a stream's scores go: the first stream writes, the others add.
struct GmmRows {
  const float *features;  // [n_rows][n_features]
  float *scores;          // [n_rows][n_states]
  uint32_t n_rows, n_features, n_states;
  bool add;
};

// ---- FP32 kernels -------------------------------------------------------------------------------------------------------

// Gaussians in fours: constant[4], then for each dimension i -offset_i[4] and factor_i[4], or, if full, the row factor_ii[4],
// factor_i,i+1[4] ... of the triangle.
struct DirectModel {
  const float4 *fours;
  const GmmDim *dims;  // scale unused
  uint32_t n_dims;
  bool full;
};
inline uint32_t direct_four_size(uint32_t n_dims, bool full) {
  return 1 + n_dims + (full ? n_dims * (n_dims + 1) / 2 : n_dims);
}

// A state that has its Gaussians for itself: `n_fours` of them from `first_four`.
struct DirectState {
  uint32_t state, first_four, n_fours;
};
void launch_direct_states(const DirectModel &model, const DirectState *states, uint32_t n_states, const GmmRows &rows,
                          cudaStream_t stream);
// scores[4 * n_fours][n_rows] of single Gaussians.
void launch_direct_scores(const DirectModel &model, uint32_t n_fours, const GmmRows &rows, float *scores, cudaStream_t stream);

// Up to four states that mix the Gaussians of one codebook.
struct SharedStates {
  uint32_t first_gaussian, n_gaussians;  // among the stream's shared ones
  uint32_t first_weight;                 // [n_gaussians] of float4, one value a state, base-2 logarithms
  uint32_t states[4], n_states;
};
void launch_mix_shared(const SharedStates *states, uint32_t n_items, const float4 *log_weights, const float *gaussian_scores,
                       const GmmRows &rows, cudaStream_t stream);

// ---- tensor-core kernels: quadratic forms as products of matrices --------------------------------------------------------
// score = constant + sum_k weight_k phi_k(x), phi the features and their products. Both factors are split into two fp16
// numbers, hi and lo; hi lo + lo hi + hi hi is the product to 2^-22 of itself.

constexpr uint32_t kTileGaussians = 8;  // of one state, padded: the columns of an mma
constexpr uint32_t kBlockTiles = 8;     // of the expanded kernel
constexpr uint32_t kTensorWarps = 8;    // of a block

// Constants of a tile's Gaussians, and the state that ends with it, or -1.
struct TileInfo {
  float constant[kTileGaussians];
  int32_t state, unused[3];
};

// How many warps share a stretch of the model, each with its own rows, and rows a warp: chosen by the number of rows.
struct TensorShape {
  uint32_t warps, tiles_of_16_rows;
};
TensorShape tensor_shape(uint32_t n_rows);
constexpr uint32_t kShapes = 4;  // warps: 1, 2, 4, 8
inline uint32_t shape_index(const TensorShape &shape) {
  return shape.warps == 1 ? 0 : shape.warps == 2 ? 1 : shape.warps == 4 ? 2 : 3;
}

struct TensorModel {
  const uint4 *fragments;
  const TileInfo *tiles;  // of the expanded kernel; the diagonal one has them among its fragments
  const GmmDim *dims;
  uint32_t n_dims, n_steps;            // of 8 values of k (diagonal), of 16 (expanded)
  const uint32_t *stretches[kShapes];  // [n_stretches + 1] tiles or blocks where stretches begin, by shape_index
  uint32_t n_stretches[kShapes];
};

// Diagonal Gaussians of up to 40 dimensions. A tile in memory: for each 16 values of k, {hi, hi, lo, lo} of 32 lanes, for a
// last 8 of them {hi, lo} of 32 lanes; TileInfo.
constexpr uint32_t kMaxDiagonalDims = 40;
uint32_t diagonal_steps(uint32_t n_dims);  // compiled for 4, 9 and 10 steps
inline uint32_t diagonal_tile_bytes(uint32_t n_steps) { return n_steps * 256 + uint32_t(sizeof(TileInfo)); }
constexpr uint32_t kDiagonalBlocks = 2;  // of a multiprocessor at once
void launch_diagonal_tensor(const TensorModel &model, const GmmRows &rows, cudaStream_t stream);

// The same on GPUs of capability 9.0, for which alone it is compiled. A tile in memory: for each 8 values of k, hi of 8
// Gaussians, 16 bytes each; the same of lo, unless the model is `halved`; TileInfo. Stretches by how many warpgroups share
// one: 1, 2, 4.
constexpr uint32_t kWarpgroups = 4;  // of a block, of which a multiprocessor has one
void launch_diagonal_wgmma(const TensorModel &model, bool halved, const GmmRows &rows, cudaStream_t stream);
cudaError_t prepare_diagonal_wgmma();

// Any quadratic form: phi_k = x_i x_j for monomials[k] = i | j << 16, where x_n_dims = 1 and x_n_dims+1 = 0. A block in memory:
// for each step of 16 values of k, for each of 8 tiles, {hi, hi, lo, lo} of 32 lanes.
struct ExpandedRows {
  uint4 *fragments;      // [rows / 16][n_steps][32][2]: hi of 4, lo of 4
  float *inverse_scale;  // [rows]
};
void launch_expand(const TensorModel &model, const uint32_t *monomials, const GmmRows &rows, const ExpandedRows &expanded,
                   cudaStream_t stream);
void launch_expanded_tensor(const TensorModel &model, const GmmRows &rows, const ExpandedRows &expanded, cudaStream_t stream);

// The most shared memory that a block asks for; prepare_* lets the kernels have it.
size_t diagonal_tensor_shared_bytes();
size_t expanded_tensor_shared_bytes();
cudaError_t prepare_diagonal_tensor();
cudaError_t prepare_expanded_tensor();

}  // namespace asr::cuda
