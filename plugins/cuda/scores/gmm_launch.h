// SPDX-License-Identifier: Apache-2.0
// The interface between gmm.cc and the scoring kernels has models as they lie in device memory, and the launches. Scores inside
// are base-2 logarithms, as in the CPU back end. A row's bits do not depend on the other rows. Every kernel does the
// same operations in the same order for each row, in launches of any shape.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <cstdint>

#include "plugins/common/log_zero.h"
#include "plugins/gpu/scores/gmm_tensor.h"
#include "plugins/gpu/scores/shared_states.h"

namespace asr::gpu {

using GmmDim = TensorDim;  // dimension of a stream

// GmmRows has the rows of a call and the destination of a stream's scores: the first stream writes, the others add.
struct GmmRows {
  const float *features;  // [n_rows][n_features]
  float *scores;          // [n_rows][n_states]
  uint32_t n_rows, n_features, n_states;
  bool add;
};

// ---- FP32 kernels -------------------------------------------------------------------------------------------------------

// Gaussians in fours: constant[4], then for each dimension i -offset_i[4] and factor_i[4], or, if full, the row factor_ii[4],
// factor_i,i+1[4] ... of the triangle. In a halved model all numbers are halves; a constant is the sum of two, in two fours.
struct DirectModel {
  const uint32_t *fours;
  const GmmDim *dims;  // scale unused
  uint32_t n_dims;
  bool full, halved;
};
// Returns the numbers of a four, by 4, and its words.
__host__ __device__ inline uint32_t direct_four_size(uint32_t n_dims, bool full, bool halved) {
  return (halved ? 2 : 1) + n_dims + (full ? n_dims * (n_dims + 1) / 2 : n_dims);
}
inline size_t direct_four_words(const DirectModel &model) {
  return size_t{direct_four_size(model.n_dims, model.full, model.halved)} * (model.halved ? 2 : 4);
}

// A state that has its Gaussians for itself: `n_fours` of them from `first_four`.
struct DirectState {
  uint32_t state, first_four, n_fours;
};
void launch_direct_states(const DirectModel &model, const DirectState *states, uint32_t n_states, const GmmRows &rows,
                          cudaStream_t stream);
// Computes scores[4 * n_fours][n_rows] of single Gaussians.
void launch_direct_scores(const DirectModel &model, uint32_t n_fours, const GmmRows &rows, float *scores, cudaStream_t stream);

// Mixtures of states that share codebooks.
void launch_mix_shared(const SharedStates *states, uint32_t n_items, const float4 *log_weights, const float *gaussian_scores,
                       const GmmRows &rows, cudaStream_t stream);

// ---- tensor-core kernels: quadratic forms as products of matrices (plugins/gpu/scores/gmm_tensor.h) ----

struct TensorModel {
  const uint4 *fragments;
  const TileInfo *tiles;  // tiles of the expanded and the wgmma kernel; the other has them among its fragments
  const GmmDim *dims;
  uint32_t n_dims, n_steps;            // steps of 8 values of k (diagonal), of 16 (expanded)
  const uint32_t *stretches[kShapes];  // [n_stretches + 1] tiles or blocks where stretches begin, by shape_index
  uint32_t n_stretches[kShapes];
  const uint32_t *state_begins;  // for the wgmma kernel, instead: [n_tiles + 1] tiles where each tile's state begins; the end
  uint32_t four_tiles;           // for the wgmma kernel: as in TensorPack
};

// Diagonal Gaussians of up to kMaxDiagonalDims dimensions.
__host__ __device__ constexpr uint32_t diagonal_tile_bytes(uint32_t n_steps, bool halved) {
  return n_steps * (halved ? 128 : 256) + uint32_t(sizeof(TileInfo));
}
constexpr uint32_t kDiagonalBlocks = 2;  // blocks of a multiprocessor at once
void launch_diagonal_tensor(const TensorModel &model, bool halved, const GmmRows &rows, cudaStream_t stream);

// The diagonal kernel for GPUs of capability 9.0, for which alone it is compiled, for several models at once.
constexpr uint32_t kWarpgroups = 4;  // of a multiprocessor at once
constexpr uint32_t kMaxModels = 32;
struct DiagonalJob {
  const TensorModel *model;
  uint32_t n_tiles;
  GmmRows rows;
};
void launch_diagonal_wgmma(const DiagonalJob *jobs, uint32_t n_jobs, bool halved, uint32_t n_multiprocessors,
                           cudaStream_t stream);
cudaError_t prepare_diagonal_wgmma();

// Any quadratic form.
struct ExpandedRows {
  uint4 *fragments;      // [rows / 16][n_steps][32][2]: hi of 4, lo of 4
  float *inverse_scale;  // [rows]
};
void launch_expand(const TensorModel &model, const uint32_t *monomials, const GmmRows &rows, const ExpandedRows &expanded,
                   cudaStream_t stream);
void launch_expanded_tensor(const TensorModel &model, bool halved, const GmmRows &rows, const ExpandedRows &expanded,
                            cudaStream_t stream);

// Return the most shared memory that a block asks for; prepare_* allows the kernels to have it.
size_t diagonal_tensor_shared_bytes();
size_t expanded_tensor_shared_bytes();
cudaError_t prepare_diagonal_tensor();
cudaError_t prepare_expanded_tensor();

}  // namespace asr::gpu
