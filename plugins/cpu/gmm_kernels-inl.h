// SPDX-License-Identifier: Apache-2.0
// Exponential, logarithm and log-sum-exp in vector registers, the loop over frames that the Gaussian kernels share, and the
// search for the n-th largest value. The gmm_*.cc kernels include this file once for each instruction set.
#if defined(SENONE_GMM_KERNELS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SENONE_GMM_KERNELS_INL_H_
#undef SENONE_GMM_KERNELS_INL_H_
#else
#define SENONE_GMM_KERNELS_INL_H_
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cstdint>

#include "plugins/cpu/gmm_kernels.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;
using D = hn::CappedTag<float, kMaxLanes>;
using V = hn::Vec<D>;
constexpr D kTag;
constexpr float kLn2 = 0.69314718f;
using Keys = hn::RebindToSigned<D>;  // of floats: integers in the same order

// Returns 2^v for v <= 0 with a relative error below 3e-6; 2^-125 for all v below -125; exactly 1 for 0.
HWY_INLINE V exp2_nonpositive(V v) {
  const hn::RebindToSigned<D> integers;
  const V rounder = hn::Set(kTag, 12582912.0f);  // 1.5 * 2^23: adding it leaves the nearest integer in the low bits
  v = hn::Max(v, hn::Set(kTag, -125.0f));
  const V shifted = hn::Add(v, rounder);
  const V f = hn::Sub(v, hn::Sub(shifted, rounder));  // in [-1/2, 1/2]
  V p = hn::MulAdd(f, hn::Set(kTag, 0.009582853f), hn::Set(kTag, 0.055906425f));
  p = hn::MulAdd(f, p, hn::Set(kTag, 0.24024099f));
  p = hn::MulAdd(f, p, hn::Set(kTag, 0.6931242f));
  p = hn::MulAdd(f, p, hn::Set(kTag, 1.0f));
  const auto exponent = hn::ShiftLeft<23>(hn::BitCast(integers, shifted));
  return hn::BitCast(kTag, hn::Add(hn::BitCast(integers, p), exponent));
}

// Returns log2 of a positive normal number to float precision: 2 atanh((m - 1) / (m + 1)) / ln 2 of the mantissa m in
// [0.7, 1.42), plus the exponent.
HWY_INLINE V log2_positive(V v) {
  const hn::RebindToSigned<D> integers;
  const auto bits = hn::BitCast(integers, v);
  const auto exponent = hn::ShiftRight<23>(hn::Sub(bits, hn::Set(integers, 0x3f3504f3)));  // exponent of v / sqrt(1/2)
  const V m = hn::BitCast(kTag, hn::Sub(bits, hn::ShiftLeft<23>(exponent)));
  const V one = hn::Set(kTag, 1.0f);
  const V t = hn::Div(hn::Sub(m, one), hn::Add(m, one));
  const V t2 = hn::Mul(t, t);
  V p = hn::MulAdd(t2, hn::Set(kTag, 0.32059889f), hn::Set(kTag, 0.41219858f));  // 2 / (9 ln 2), 2 / (7 ln 2), ...
  p = hn::MulAdd(t2, p, hn::Set(kTag, 0.57707802f));
  p = hn::MulAdd(t2, p, hn::Set(kTag, 0.96179669f));
  p = hn::MulAdd(t2, p, hn::Set(kTag, 2.88539008f));
  return hn::MulAdd(t, p, hn::ConvertTo(kTag, exponent));
}

// A limit of keys, and the number of values that reach it: whose keys are not below it.
struct KeyLimit {
  int32_t key;
  size_t n;
};

// Returns a limit that n_chosen values reach; if equal values leave none, the n_chosen-th largest key, which more reach.
// Bisects between `least`, which at least n_chosen values reach, and `beyond`, which fewer reach. `values.n_at_least(key)`
// counts values.
template <class Values>
HWY_INLINE KeyLimit limit_of_chosen(const Values &values, size_t n_chosen, KeyLimit least, int32_t beyond) {
  while (int64_t{beyond} - least.key > 1 && least.n != n_chosen) {
    const auto middle = static_cast<int32_t>(least.key + (int64_t{beyond} - least.key) / 2);
    const size_t n = values.n_at_least(middle);
    if (n >= n_chosen) {
      least = {middle, n};
    } else {
      beyond = middle;
    }
  }
  return least;
}

// Loads a vector of parameters.
HWY_INLINE V load_numbers(const float *numbers) { return hn::Load(kTag, numbers); }
HWY_INLINE V load_numbers(const hwy::float16_t *numbers) {
  return hn::PromoteTo(kTag, hn::Load(hn::Rebind<hwy::float16_t, D>(), numbers));
}

// Loads a vector of floats and steps over it. Between halves it may be aligned to half a vector only.
template <class Number>
HWY_INLINE V next_floats(const Number *&numbers) {
  const V floats = hn::LoadU(kTag, reinterpret_cast<const float *>(numbers));
  numbers += hn::Lanes(kTag) * (sizeof(float) / sizeof(Number));
  return floats;
}

// Scores one vector of Gaussians on all frames, as many as Kernel::kMaxFrames at once: score[n_frames][L]. Meanwhile it
// prefetches the next vector in memory.
template <class Kernel>
HWY_INLINE void score_vector(const char *vector, size_t n_dims, const float *x, size_t n_frames, float *score) {
  constexpr size_t kMax = Kernel::kMaxFrames, kLineBytes = 64;
  const size_t n_lanes = hn::Lanes(kTag);
  const size_t n_bytes = Kernel::n_bytes(n_dims) * n_lanes;
  const size_t n_fetched = (n_bytes / ((n_frames + kGroupFrames - 1) / kGroupFrames) + kLineBytes) / kLineBytes * kLineBytes;
  const auto *const gaussians = reinterpret_cast<const typename Kernel::Number *>(vector);
  const char *next = vector + n_bytes;
  for (size_t t = 0; t < n_frames; t += kGroupFrames, x += n_dims * kGroupFrames, next += n_fetched) {
    for (size_t i = 0; i < n_fetched; i += kLineBytes) hwy::Prefetch(next + i);
    const size_t n = std::min(kGroupFrames, n_frames - t);
    size_t f = 0;
    const auto out = [&] { return score + (t + f) * n_lanes; };
    for (; f + kMax <= n; f += kMax) Kernel::template score<kMax>(gaussians, n_dims, x + f, out());
    if (kMax > 8 && f + 8 <= n) Kernel::template score<8>(gaussians, n_dims, x + f, out()), f += 8;
    if (f + 4 <= n) Kernel::template score<4>(gaussians, n_dims, x + f, out()), f += 4;
    if (f + 2 <= n) Kernel::template score<2>(gaussians, n_dims, x + f, out()), f += 2;
    if (f < n) Kernel::template score<1>(gaussians, n_dims, x + f, out());
  }
}

// GaussianKernels::scores
template <class Kernel>
HWY_INLINE void score_gaussians(const void *gaussians, size_t n_dims, size_t n_vectors, const float *x, size_t n_frames,
                                float *score) {
  const size_t n_lanes = hn::Lanes(kTag), n_bytes = Kernel::n_bytes(n_dims) * n_lanes;
  const char *const vectors = static_cast<const char *>(gaussians);
  for (size_t v = 0; v < n_vectors; ++v, score += n_frames * n_lanes) {
    score_vector<Kernel>(vectors + v * n_bytes, n_dims, x, n_frames, score);
  }
}

// Adds the next scores of n_frames * L mixtures, score[n_scores][n_frames][L], to their running log-sum-exp: the best score
// and the sum of 2^(score - best), both [n_frames][L].
HWY_INLINE void add_scores(const float *score, size_t n_scores, size_t n_frames, float *best, float *sum) {
  const size_t n_lanes = hn::Lanes(kTag), stride = n_frames * n_lanes;
  for (size_t i = 0; i < stride; i += n_lanes) {
    const V old_best = hn::Load(kTag, best + i);
    V new_best = old_best;
    for (size_t m = 0; m < n_scores; ++m) new_best = hn::Max(hn::Load(kTag, score + m * stride + i), new_best);
    V new_sum = hn::Mul(hn::Load(kTag, sum + i), exp2_nonpositive(hn::Sub(old_best, new_best)));
    for (size_t m = 0; m < n_scores; ++m) {
      new_sum = hn::Add(new_sum, exp2_nonpositive(hn::Sub(hn::Load(kTag, score + m * stride + i), new_best)));
    }
    hn::Store(new_best, kTag, best + i);
    hn::Store(new_sum, kTag, sum + i);
  }
}

// GaussianKernels::mixtures. Scores wait in the L1 cache until a chunk of Gaussians is complete. Many exponentials in a
// row fill the processor's pipelines. One after each Gaussian does not.
template <class Kernel>
HWY_INLINE void score_mixtures(const void *gaussians, size_t n_dims, size_t n_gaussians, const float *x, size_t n_frames,
                               float *loglike) {
  constexpr size_t kTileFloats = Kernel::kTileFrames * hn::MaxLanes(kTag), kChunk = Kernel::kChunk;
  const size_t n_lanes = hn::Lanes(kTag);
  HWY_ALIGN float best[kTileFloats], sum[kTileFloats], score[kChunk * kTileFloats];
  std::fill_n(best, n_frames * n_lanes, kLogZero);
  std::fill_n(sum, n_frames * n_lanes, 0.0f);
  const char *const vectors = static_cast<const char *>(gaussians);
  for (size_t m = 0; m < n_gaussians; m += kChunk) {
    const size_t n = std::min(kChunk, n_gaussians - m);
    score_gaussians<Kernel>(vectors + m * Kernel::n_bytes(n_dims) * n_lanes, n_dims, n, x, n_frames, score);
    add_scores(score, n, n_frames, best, sum);
  }
  for (size_t i = 0; i < n_frames * n_lanes; i += n_lanes) {
    const V log2 = hn::Add(hn::Load(kTag, best + i), log2_positive(hn::Load(kTag, sum + i)));
    hn::Store(hn::Mul(log2, hn::Set(kTag, kLn2)), kTag, loglike + i);
  }
}

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace asr::cpu
HWY_AFTER_NAMESPACE();

#endif  // include guard
