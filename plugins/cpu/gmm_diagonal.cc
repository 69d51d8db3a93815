// SPDX-License-Identifier: Apache-2.0
// Kernels of diagonal Gaussians (equation G1): score = constant - sum_d (factor_d x_d - offset_d)^2, in base-2 units, called
// through diagonal_kernels(). They take two fused operations per dimension, like the expanded form u x + v x^2, but no large
// terms cancel. One broadcast of x serves both operations; a Gaussian's vectors stay in L1 for all frames of a tile.
// The lower bound is 2 D fused operations per Gaussian and frame: 36 cycles for 8 Gaussians at D = 36 and two AVX2 FMA a cycle.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/cpu/gmm_diagonal.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h
#include "plugins/cpu/gmm_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu {
namespace HWY_NAMESPACE {
namespace {

struct Diagonal {
  static constexpr size_t kMaxFrames = 12;                             // 12 sums, factor, offset and x fill 16 registers
  static constexpr size_t kTileFrames = 4 * kGroupFrames, kChunk = 8;  // features and scores fit the L1 cache
  static size_t n_floats(size_t n_dims) { return 1 + 2 * n_dims; }

  template <size_t kFrames>
  static HWY_INLINE void score(const float *gaussians, size_t n_dims, const float *x, float *out) {
    const size_t n_lanes = hn::Lanes(kTag);
    V sum[kFrames];
    for (size_t f = 0; f < kFrames; ++f) sum[f] = hn::Load(kTag, gaussians);
    gaussians += n_lanes;
    for (size_t d = 0; d < n_dims; ++d, gaussians += 2 * n_lanes, x += kGroupFrames) {
      const V factor = hn::Load(kTag, gaussians), offset = hn::Load(kTag, gaussians + n_lanes);
      for (size_t f = 0; f < kFrames; ++f) {
        const V y = hn::MulSub(factor, hn::Set(kTag, x[f]), offset);
        sum[f] = hn::NegMulAdd(y, y, sum[f]);
      }
    }
    for (size_t f = 0; f < kFrames; ++f) hn::Store(sum[f], kTag, out + f * n_lanes);
  }
};

void mixtures(const float *gaussians, size_t n_dims, size_t n_gaussians, const float *x, size_t n_frames, float *loglike) {
  score_mixtures<Diagonal>(gaussians, n_dims, n_gaussians, x, n_frames, loglike);
}

void scores(const float *gaussians, size_t n_dims, size_t n_vectors, const float *x, size_t n_frames, float *score) {
  score_gaussians<Diagonal>(gaussians, n_dims, n_vectors, x, n_frames, score);
}

GaussianKernels diagonal() { return {hn::Lanes(kTag), Diagonal::kTileFrames, mixtures, scores}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace asr::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asr::cpu {
HWY_EXPORT(diagonal);
GaussianKernels diagonal_kernels() { return HWY_DYNAMIC_DISPATCH(diagonal)(); }
}  // namespace asr::cpu
#endif
