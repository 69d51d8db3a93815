// SPDX-License-Identifier: Apache-2.0
// Kernels that choose clusters of states (equation G11), called through cluster_kernels(). A frame's clusters are chosen by
// bisection over the bits of their scores.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/cpu/gmm_clusters.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h
#include <algorithm>
#include <limits>

#include "plugins/cpu/gmm_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu {
namespace HWY_NAMESPACE {
namespace {

void approach(const float *score, size_t n_frames, float *loglike, size_t stride, float *nearest, size_t n_nearest) {
  for (size_t t = 0; t < n_frames; ++t, loglike += stride, nearest += n_nearest) {
    const V scores = hn::Max(hn::Load(kTag, score + t * hn::Lanes(kTag)), hn::Set(kTag, kLogZero));
    hn::Store(hn::Mul(scores, hn::Set(kTag, kLn2)), kTag, loglike);
    *nearest = std::max(*nearest, hn::GetLane(hn::MaxOfLanes(kTag, scores)));
  }
}

// Returns the keys of scores, which are no NaN.
HWY_INLINE hn::Vec<Keys> keys_of(V scores) {
  const Keys tag;
  const auto bits = hn::BitCast(tag, scores);
  return hn::Xor(bits, hn::And(hn::BroadcastSignBit(bits), hn::Set(tag, 0x7fffffff)));
}

// The scores of a frame's clusters.
struct ClusterScores {
  const float *scores;
  size_t n;

  size_t n_at_least(int32_t key) const {
    const size_t n_lanes = hn::Lanes(kTag);
    size_t count = 0;
    for (size_t i = 0; i < n; i += n_lanes) {
      const auto is_large = hn::Gt(keys_of(hn::Load(kTag, scores + i)), hn::Set(Keys(), key - 1));
      count += hn::CountTrue(Keys(), hn::And(hn::FirstN(Keys(), n - i), is_large));
    }
    return count;
  }
};

void choose(const float *nearest, size_t n, size_t n_chosen, uint8_t *chosen) {
  using Limits = std::numeric_limits<int32_t>;
  const KeyLimit limit = limit_of_chosen(ClusterScores{nearest, n}, n_chosen, {Limits::min(), n}, Limits::max());
  size_t n_surplus = limit.n - n_chosen;  // of equal ones, of which the last are left out
  const size_t n_lanes = hn::Lanes(kTag);
  for (size_t end = n; end > 0;) {
    const size_t first = (end - 1) / n_lanes * n_lanes;
    HWY_ALIGN int32_t keys[kMaxLanes];
    hn::Store(keys_of(hn::Load(kTag, nearest + first)), Keys(), keys);
    for (; end > first; --end) {
      const int32_t key = keys[end - 1 - first];
      const bool left_out = key == limit.key && n_surplus > 0;
      if (left_out) --n_surplus;
      chosen[end - 1] = key >= limit.key && !left_out ? 1 : 0;
    }
  }
}

ClusterKernels clusters() { return {approach, choose}; }

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace asr::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asr::cpu {
HWY_EXPORT(clusters);
ClusterKernels cluster_kernels() { return HWY_DYNAMIC_DISPATCH(clusters)(); }
}  // namespace asr::cpu
#endif
