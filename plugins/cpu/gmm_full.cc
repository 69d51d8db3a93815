// SPDX-License-Identifier: Apache-2.0
// Kernels of full-covariance Gaussians (equation G2): score = constant - sum_i y_i^2 with y_i = sum_{j >= i} factor_ij x_j -
// offset_i, in base-2 units, called through full_kernels(). factor is the transposed Cholesky factor of the precision. They
// take D (D + 1) / 2 + D fused operations, like the expansion into monomials, but no large terms cancel and no monomial is
// formed. Two rows i share each broadcast of x.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/cpu/gmm_full.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h
#include "plugins/cpu/gmm_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu {
namespace HWY_NAMESPACE {
namespace {

template <class N>
struct Full {
  using Number = N;
  static constexpr size_t kMaxFrames = HWY_TARGET == HWY_AVX3 ? 12 : 6;  // 2 * kMaxFrames sums, 2 factors and x in registers
  static constexpr size_t kTileFrames = 21 * kGroupFrames, kChunk = 4;   // large: each tile reads the whole model again
  static size_t n_bytes(size_t n_dims) { return full_bytes(n_dims, sizeof(Number)); }

  template <size_t kFrames>
  static HWY_INLINE void score(const Number *gaussians, size_t n_dims, const float *x, float *out) {
    const size_t n_lanes = hn::Lanes(kTag);
    V sum[kFrames];
    const V constant = next_floats(gaussians);
    for (size_t f = 0; f < kFrames; ++f) sum[f] = constant;
    size_t i = 0;
    for (; i + 2 <= n_dims; i += 2, x += 2 * kGroupFrames) {
      V y0[kFrames], y1[kFrames];
      const V offset0 = next_floats(gaussians), offset1 = next_floats(gaussians), diagonal = load_numbers(gaussians);
      gaussians += n_lanes;
      for (size_t f = 0; f < kFrames; ++f) {
        y0[f] = hn::MulAdd(diagonal, hn::Set(kTag, x[f]), offset0);
        y1[f] = offset1;
      }
      const float *xj = x + kGroupFrames;
      for (size_t j = i + 1; j < n_dims; ++j, xj += kGroupFrames, gaussians += 2 * n_lanes) {
        const V factor0 = load_numbers(gaussians), factor1 = load_numbers(gaussians + n_lanes);
        for (size_t f = 0; f < kFrames; ++f) {
          const V xf = hn::Set(kTag, xj[f]);
          y0[f] = hn::MulAdd(factor0, xf, y0[f]);
          y1[f] = hn::MulAdd(factor1, xf, y1[f]);
        }
      }
      for (size_t f = 0; f < kFrames; ++f) {
        sum[f] = hn::NegMulAdd(y1[f], y1[f], hn::NegMulAdd(y0[f], y0[f], sum[f]));
      }
    }
    if (i < n_dims) {
      const V offset = next_floats(gaussians), diagonal = load_numbers(gaussians);
      for (size_t f = 0; f < kFrames; ++f) {
        const V y = hn::MulAdd(diagonal, hn::Set(kTag, x[f]), offset);
        sum[f] = hn::NegMulAdd(y, y, sum[f]);
      }
    }
    for (size_t f = 0; f < kFrames; ++f) hn::Store(sum[f], kTag, out + f * n_lanes);
  }
};

template <class Number>
void mixtures(const void *gaussians, size_t n_dims, size_t n_gaussians, const float *x, size_t n_frames, float *loglike) {
  score_mixtures<Full<Number>>(gaussians, n_dims, n_gaussians, x, n_frames, loglike);
}

template <class Number>
void scores(const void *gaussians, size_t n_dims, size_t n_vectors, const float *x, size_t n_frames, float *score) {
  score_gaussians<Full<Number>>(gaussians, n_dims, n_vectors, x, n_frames, score);
}

template <class Number>
GaussianKernels kernels() {
  return {hn::Lanes(kTag), Full<Number>::kTileFrames, mixtures<Number>, scores<Number>};
}

GaussianKernels full(bool halved) { return halved ? kernels<hwy::float16_t>() : kernels<float>(); }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace asr::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asr::cpu {
HWY_EXPORT(full);
GaussianKernels full_kernels(bool halved) { return HWY_DYNAMIC_DISPATCH(full)(halved); }
}  // namespace asr::cpu
#endif
