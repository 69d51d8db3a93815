// SPDX-License-Identifier: Apache-2.0
// The inner loops of GMM scoring, each compiled for every instruction set and chosen at run time (gmm_diagonal.cc, gmm_full.cc,
// gmm_shared.cc). Called by gmm.cc, which packs the models they read.
//
// Scores inside are base-2 logarithms, so that exponentials need no scaling. A vector of Gaussians has one Gaussian a lane, L
// lanes. Its parameters are floats, or halves if the model is halved; constants and a triangle's offsets are always floats.
// Every frame goes through the same operations in the same order, independent of the other frames of the call.
#pragma once

#include <cstddef>
#include <cstdint>

#include "plugins/common/log_zero.h"

namespace asr::cpu {

constexpr size_t kGroupFrames = 12;                   // features are packed x[group][dim][kGroupFrames], tail zero
constexpr size_t kMaxTileFrames = 21 * kGroupFrames;  // most frames of one call, of any kernel
constexpr size_t kMaxLanes = 16;
constexpr size_t kAskedFrames = 4 * kGroupFrames;  // most frames that are scored at once because one asked; of any kernel

struct GaussianKernels {
  size_t n_lanes;
  size_t n_tile_frames;  // most frames of one call; a multiple of kGroupFrames
  // L mixtures of n_gaussians each: loglike[n_frames][L] = ln sum_m 2^score.
  void (*mixtures)(const void *gaussians, size_t n_dims, size_t n_gaussians, const float *x, size_t n_frames, float *loglike);
  // n_vectors * L Gaussians: score[n_vectors][n_frames][L].
  void (*scores)(const void *gaussians, size_t n_dims, size_t n_vectors, const float *x, size_t n_frames, float *score);
};

// A vector of Gaussians: constant[L], then for each dimension factor[L], offset[L].
GaussianKernels diagonal_kernels(bool halved);
// A vector of Gaussians: constant[L], then for rows i, i + 1 of the triangle: -offset_i[L], -offset_i+1[L], factor_ii[L], and
// for j = i + 1 ...: factor_ij[L], factor_i+1,j[L]; the last row alone if their number is odd.
GaussianKernels full_kernels(bool halved);

// Bytes of a Gaussian, in one lane of a vector, whose parameters take number_bytes each.
constexpr size_t diagonal_bytes(size_t n_dims, size_t number_bytes) { return sizeof(float) + 2 * n_dims * number_bytes; }
constexpr size_t full_bytes(size_t n_dims, size_t number_bytes) {
  return (1 + n_dims) * sizeof(float) + n_dims * (n_dims + 1) / 2 * number_bytes;
}

struct ChosenGaussian {
  uint32_t gaussian;  // number in the codebook
  float relative;     // 2^(score - best)
};

struct SharedKernels {
  // Sets best[t] = max_k score[k][t] and relative[k][t] = 2^(score - best), both in the layout of `scores`.
  void (*relative)(const float *score, size_t n_vectors, size_t n_frames, float *best, float *relative);
  // L mixtures of n_gaussians shared Gaussians: loglike[n_frames][L] = ln sum_k weight[k][L] relative[k][t] + best[t] +
  // weight_shift[L]. Weights are linear, the largest of a mixture is 1, and weight_shift is its base-2 logarithm. If a
  // sum is too small to be trusted, its loglike is +inf and the result is true. next_weight: the weights of the next
  // mixtures, to prefetch them; or the same pointer.
  bool (*mix)(const float *weight, const float *weight_shift, const float *next_weight, size_t n_gaussians,
              const float *relative, const float *best, size_t n_frames, float *loglike);
  // Sets chosen[n_frames][n_chosen] to the Gaussians with the largest relative values of a frame, and these values. The
  // first of equal values wins. n_chosen is less than n_gaussians.
  void (*choose)(const float *relative, size_t n_gaussians, size_t n_frames, size_t n_chosen, ChosenGaussian *chosen);
  // Does the same as mix() for the chosen Gaussians alone.
  bool (*mix_chosen)(const float *weight, const float *weight_shift, const float *next_weight, const ChosenGaussian *chosen,
                     size_t n_chosen, const float *best, size_t n_frames, float *loglike);
};
SharedKernels shared_kernels();

// The choice of clusters of states (G11).
struct ClusterKernels {
  // Takes a block's scores of single Gaussians, score[n_frames][L]. Writes loglike[t * stride] = ln 2^score of L states, and
  // raises nearest[t * n_nearest] to the best.
  void (*approach)(const float *score, size_t n_frames, float *loglike, size_t stride, float *nearest, size_t n_nearest);
  // Chooses the n_chosen largest of nearest[n], which is aligned and has room for a multiple of L; the first of equal ones.
  // chosen[n] is 1 or 0.
  void (*choose)(const float *nearest, size_t n, size_t n_chosen, uint8_t *chosen);
};
ClusterKernels cluster_kernels();

}  // namespace asr::cpu
