// SPDX-License-Identifier: Apache-2.0
// Kernels of mixtures over shared codebooks (equation G3), called through shared_kernels(). The Gaussians of a codebook are
// scored once per frame and converted to values relative to the frame's best. A small matrix product of linear weights and
// frames then mixes them, or a sum over the Gaussians that a selection chose (G10).
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/cpu/gmm_shared.cc"
#include <hwy/foreach_target.h>
// After foreach_target.h
#include <algorithm>
#include <limits>
#include <type_traits>

#include "plugins/cpu/gmm_kernels-inl.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu {
namespace HWY_NAMESPACE {
namespace {

// A smaller sum may consist of underflow errors of exp2_nonpositive and the weights, at most 2^-125 each.
constexpr float kMinSum = 0x1p-100f;
// Sums begin with the least normal number. A sum of a few tiny products would be subnormal, and each subnormal result takes
// Intel's processors about 150 cycles.
constexpr float kFirstSum = 0x1p-126f;

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

// Writes a frame's scores of L states from their sums of weighted relative values; returns whether a sum is too small.
HWY_INLINE bool store_mixed(V sum, const float *weight_shift, float best, float *loglike) {
  const auto lost = hn::Lt(sum, hn::Set(kTag, kMinSum));
  const V shift = hn::Add(hn::Load(kTag, weight_shift), hn::Set(kTag, best));
  const V log2 = hn::Add(log2_positive(hn::Max(sum, hn::Set(kTag, kMinSum))), shift);
  const V infinity = hn::Set(kTag, std::numeric_limits<float>::infinity());
  hn::Store(hn::IfThenElse(lost, infinity, hn::Mul(log2, hn::Set(kTag, kLn2))), kTag, loglike);
  return !hn::AllFalse(kTag, lost);
}

// Mixes frames t ... t + kFrames - 1 of mix(). Meanwhile it prefetches `next_weight`, the weights of the next L states.
// All weights together are larger than the L2 cache, and their rows are too short for the processor's own prefetcher.
template <size_t kFrames>
HWY_INLINE bool mix_frames(const float *weight, const float *weight_shift, const float *next_weight, size_t n_gaussians,
                           const float *relative, const float *best, size_t n_frames, float *loglike) {
  const size_t n_lanes = hn::Lanes(kTag);
  V sum[kFrames];
  for (size_t f = 0; f < kFrames; ++f) sum[f] = hn::Set(kTag, kFirstSum);
  for (size_t first = 0; first < n_gaussians; first += n_lanes, relative += n_frames * n_lanes) {
    const size_t n = std::min(n_lanes, n_gaussians - first);
    for (size_t k = 0; k < n; ++k, weight += n_lanes, next_weight += n_lanes) {
      hwy::Prefetch(next_weight);
      const V w = hn::Load(kTag, weight);
      for (size_t f = 0; f < kFrames; ++f) sum[f] = hn::MulAdd(w, hn::Set(kTag, relative[f * n_lanes + k]), sum[f]);
    }
  }
  bool any_lost = false;
  for (size_t f = 0; f < kFrames; ++f) any_lost |= store_mixed(sum[f], weight_shift, best[f], loglike + f * n_lanes);
  return any_lost;
}

bool mix(const float *weight, const float *weight_shift, const float *next_weight, size_t n_gaussians, const float *relative,
         const float *best, size_t n_frames, float *loglike) {
  const size_t n_lanes = hn::Lanes(kTag);
  bool lost = false;
  size_t t = 0;
  const auto mix_next = [&](auto n) {
    lost |= mix_frames<n()>(weight, weight_shift, next_weight, n_gaussians, relative + t * n_lanes, best + t, n_frames,
                            loglike + t * n_lanes);
    t += n();
  };
  while (t + 12 <= n_frames) mix_next(std::integral_constant<size_t, 12>());
  while (t + 8 <= n_frames) mix_next(std::integral_constant<size_t, 8>());
  while (t + 4 <= n_frames) mix_next(std::integral_constant<size_t, 4>());
  while (t < n_frames) mix_next(std::integral_constant<size_t, 1>());
  return lost;
}

// The relative values of one frame. Their bits are their keys, as no value is negative.
struct FrameValues {
  const float *relative;  // first vector of the codebook's values
  size_t stride, n_gaussians;

  size_t n_vectors() const { return (n_gaussians + hn::Lanes(kTag) - 1) / hn::Lanes(kTag); }
  V load(size_t v) const { return hn::Load(kTag, relative + v * stride); }
  static V value(int32_t key) { return hn::BitCast(kTag, hn::Set(Keys(), key)); }

  size_t n_at_least(int32_t key) const {
    size_t n = 0;
    for (size_t v = 0; v < n_vectors(); ++v) n += hn::CountTrue(kTag, hn::Ge(load(v), value(key)));
    return n;
  }

  // Appends the Gaussians above a key, or equal to it, until `end`.
  ChosenGaussian *append(int32_t key, bool equal, ChosenGaussian *out, const ChosenGaussian *end) const {
    const size_t n_lanes = hn::Lanes(kTag);
    for (size_t v = 0; v < n_vectors(); ++v) {
      const auto mask = equal ? hn::Eq(load(v), value(key)) : hn::Gt(load(v), value(key));
      if (hn::AllFalse(kTag, mask)) continue;
      uint8_t bytes[8] = {};
      hn::StoreMaskBits(kTag, mask, bytes);
      for (unsigned bits = bytes[0] | unsigned{bytes[1]} << 8; bits != 0 && out != end; bits &= bits - 1) {
        const size_t lane = hwy::Num0BitsBelowLS1Bit_Nonzero32(bits);
        *out++ = {static_cast<uint32_t>(v * n_lanes + lane), relative[v * stride + lane]};
      }
    }
    return out;
  }
};

// Finds the n_chosen-th largest value of a frame. Padding after the last Gaussian has the least value and the largest indices,
// so it is chosen only if the row is beyond all Gaussians. Then it counts as nothing.
void choose(const float *relative, size_t n_gaussians, size_t n_frames, size_t n_chosen, ChosenGaussian *chosen) {
  constexpr int32_t kMinKey = 0x01000000, kBeyondKey = 0x3f800001;  // of 2^-125, and of the next number over 1
  const size_t n_lanes = hn::Lanes(kTag);
  for (size_t t = 0; t < n_frames; ++t, chosen += n_chosen) {
    const FrameValues values{relative + t * n_lanes, n_frames * n_lanes, n_gaussians};
    const int32_t limit = limit_of_chosen(values, n_chosen, {kMinKey, values.n_vectors() * n_lanes}, kBeyondKey).key;
    ChosenGaussian *const end = chosen + n_chosen;
    values.append(limit, true, values.append(limit, false, chosen, end), end);
    std::replace_if(
        chosen, end, [&](const ChosenGaussian &of) { return of.gaussian >= n_gaussians; }, ChosenGaussian{0, 0.0f});
  }
}

bool mix_chosen(const float *weight, const float *weight_shift, const float *next_weight, const ChosenGaussian *chosen,
                size_t n_chosen, const float *best, size_t n_frames, float *loglike) {
  const size_t n_lanes = hn::Lanes(kTag);
  bool lost = false;
  for (size_t t = 0; t < n_frames; ++t, chosen += n_chosen) {
    V sum = hn::Set(kTag, kFirstSum);
    for (size_t i = 0; i < n_chosen; ++i) {
      const size_t row = chosen[i].gaussian * n_lanes;
      hwy::Prefetch(next_weight + row);
      sum = hn::MulAdd(hn::Load(kTag, weight + row), hn::Set(kTag, chosen[i].relative), sum);
    }
    lost |= store_mixed(sum, weight_shift, best[t], loglike + t * n_lanes);
  }
  return lost;
}

SharedKernels shared() { return {relative, mix, choose, mix_chosen}; }

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
