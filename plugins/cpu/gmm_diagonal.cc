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

template <class N>
struct Diagonal {
  using Number = N;
  static constexpr size_t kMaxFrames = 12;                             // 12 sums, factor, offset and x fill 16 registers
  static constexpr size_t kTileFrames = 4 * kGroupFrames, kChunk = 8;  // features and scores fit the L1 cache
  static size_t n_bytes(size_t n_dims) { return diagonal_bytes(n_dims, sizeof(Number)); }

  template <size_t kFrames>
  static HWY_INLINE void score(const Number *gaussians, size_t n_dims, const float *x, float *out) {
    const size_t n_lanes = hn::Lanes(kTag);
    V sum[kFrames];
    const V constant = next_floats(gaussians);
    for (size_t f = 0; f < kFrames; ++f) sum[f] = constant;
    for (size_t d = 0; d < n_dims; ++d, gaussians += 2 * n_lanes, x += kGroupFrames) {
      const V factor = load_numbers(gaussians), offset = load_numbers(gaussians + n_lanes);
      for (size_t f = 0; f < kFrames; ++f) {
        const V y = hn::MulSub(factor, hn::Set(kTag, x[f]), offset);
        sum[f] = hn::NegMulAdd(y, y, sum[f]);
      }
    }
    for (size_t f = 0; f < kFrames; ++f) hn::Store(sum[f], kTag, out + f * n_lanes);
  }
};

template <class Number>
void mixtures(const void *gaussians, size_t n_dims, size_t n_gaussians, const float *x, size_t n_frames, float *loglike) {
  score_mixtures<Diagonal<Number>>(gaussians, n_dims, n_gaussians, x, n_frames, loglike);
}

template <class Number>
void scores(const void *gaussians, size_t n_dims, size_t n_vectors, const float *x, size_t n_frames, float *score) {
  score_gaussians<Diagonal<Number>>(gaussians, n_dims, n_vectors, x, n_frames, score);
}

template <class Number>
GaussianKernels kernels() {
  return {hn::Lanes(kTag), Diagonal<Number>::kTileFrames, mixtures<Number>, scores<Number>};
}

GaussianKernels diagonal(bool halved) { return halved ? kernels<hwy::float16_t>() : kernels<float>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace asr::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asr::cpu {
HWY_EXPORT(diagonal);
GaussianKernels diagonal_kernels(bool halved) { return HWY_DYNAMIC_DISPATCH(diagonal)(halved); }
}  // namespace asr::cpu
#endif
