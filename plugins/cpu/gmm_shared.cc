// SPDX-License-Identifier: Apache-2.0
// Kernels of mixtures over shared codebooks (equation G3), called through shared_kernels(). The Gaussians of a codebook are
// scored once per frame and converted to values relative to the frame's best. A small matrix product of linear weights and
// frames then mixes them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/cpu/gmm_shared.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h
#include <limits>

#include "plugins/cpu/gmm_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu {
namespace HWY_NAMESPACE {
namespace {

// A smaller sum may consist of underflow errors of exp2_nonpositive and the weights, at most 2^-125 each.
constexpr float kLeastSum = 0x1p-100f;

void relative(const float *score, size_t n_vectors, size_t n_frames, float *best, float *relative) {
  const size_t n_lanes = hn::Lanes(kTag);
  const size_t stride = n_frames * n_lanes;
  for (size_t t = 0; t < n_frames; ++t) {
    V lane_best = hn::Set(kTag, kLogZero);
    for (size_t v = 0; v < n_vectors; ++v) lane_best = hn::Max(lane_best, hn::Load(kTag, score + v * stride + t * n_lanes));
    best[t] = hn::GetLane(hn::MaxOfLanes(kTag, lane_best));
    const V frame_best = hn::Set(kTag, best[t]);
    for (size_t v = 0; v < n_vectors; ++v) {
      const size_t at = v * stride + t * n_lanes;
      hn::Store(exp2_nonpositive(hn::Sub(hn::Load(kTag, score + at), frame_best)), kTag, relative + at);
    }
  }
}

// Mixes frames t ... t + kFrames - 1 of mix().
template <size_t kFrames>
HWY_INLINE bool mix_frames(const float *weight, const float *weight_shift, size_t n_gaussians, const float *relative,
                           const float *best, size_t n_frames, float *loglike) {
  const size_t n_lanes = hn::Lanes(kTag);
  V sum[kFrames];
  for (size_t f = 0; f < kFrames; ++f) sum[f] = hn::Zero(kTag);
  for (size_t k = 0; k < n_gaussians; ++k) {
    const V w = hn::Load(kTag, weight + k * n_lanes);
    const float *const at = relative + (k / n_lanes) * n_frames * n_lanes + k % n_lanes;
    for (size_t f = 0; f < kFrames; ++f) sum[f] = hn::MulAdd(w, hn::Set(kTag, at[f * n_lanes]), sum[f]);
  }
  bool any_lost = false;
  for (size_t f = 0; f < kFrames; ++f) {
    const auto lost = hn::Lt(sum[f], hn::Set(kTag, kLeastSum));
    const V shift = hn::Add(hn::Load(kTag, weight_shift), hn::Set(kTag, best[f]));
    const V log2 = hn::Add(log2_positive(hn::Max(sum[f], hn::Set(kTag, kLeastSum))), shift);
    const V infinity = hn::Set(kTag, std::numeric_limits<float>::infinity());
    hn::Store(hn::IfThenElse(lost, infinity, hn::Mul(log2, hn::Set(kTag, kLn2))), kTag, loglike + f * n_lanes);
    any_lost = any_lost || !hn::AllFalse(kTag, lost);
  }
  return any_lost;
}

bool mix(const float *weight, const float *weight_shift, size_t n_gaussians, const float *relative, const float *best,
         size_t n_frames, float *loglike) {
  const size_t n_lanes = hn::Lanes(kTag);
  bool lost = false;
  size_t t = 0;
  for (; t + 12 <= n_frames; t += 12) {
    lost |=
        mix_frames<12>(weight, weight_shift, n_gaussians, relative + t * n_lanes, best + t, n_frames, loglike + t * n_lanes);
  }
  for (; t + 4 <= n_frames; t += 4) {
    lost |= mix_frames<4>(weight, weight_shift, n_gaussians, relative + t * n_lanes, best + t, n_frames, loglike + t * n_lanes);
  }
  for (; t < n_frames; ++t) {
    lost |= mix_frames<1>(weight, weight_shift, n_gaussians, relative + t * n_lanes, best + t, n_frames, loglike + t * n_lanes);
  }
  return lost;
}

SharedKernels shared() { return {relative, mix}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace asr::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asr::cpu {
HWY_EXPORT(shared);
SharedKernels shared_kernels() { return HWY_DYNAMIC_DISPATCH(shared)(); }
}  // namespace asr::cpu
#endif
