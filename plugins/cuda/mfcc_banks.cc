// SPDX-License-Identifier: Apache-2.0
#include "plugins/cuda/mfcc_banks.h"

#include <algorithm>
#include <cstring>

#include "plugins/cuda/kernels/mfcc.h"

namespace asr::cuda {
namespace {

constexpr uint32_t kTwoCost = 16, kSlopeCost = 35;  // instructions, about

// One side of a band: bins first ... end - 1.
struct Side {
  uint32_t first = 0, end = 0;
  const float *weights = nullptr;  // from bin first on
  float weight(uint32_t bin) const { return bin >= first && bin < end ? weights[bin - first] : 0; }
};

// The side up to the band's peak, or the one after it.
Side side_of(const asr_features_view &view, const asr_mel_band &band, bool rising) {
  const float *const weights = view.mel_weights + band.first_weight;
  const auto peak = static_cast<uint32_t>(std::max_element(weights, weights + band.n_bins) - weights);
  const uint32_t n_rising = std::min(peak + 1, band.n_bins), middle = band.first_bin + n_rising;
  if (rising) return {band.first_bin, middle, weights};
  return {middle, band.first_bin + band.n_bins, weights + n_rising};
}

struct Slope {
  Side falling, rising;
  uint32_t first_bin() const {
    if (falling.first == falling.end) return rising.first;
    return rising.first == rising.end ? falling.first : std::min(falling.first, rising.first);
  }
  uint32_t n_twos() const {
    const uint32_t end = std::max(falling.first == falling.end ? 0 : falling.end, rising.end);
    return end > first_bin() ? (end - first_bin() + 1) / 2 : 0;
  }
};

std::vector<Slope> slopes_of(const asr_features_view &view, uint32_t warp) {
  const asr_mel_band *const bands = view.mel_bands + size_t{warp} * view.n_mel;
  std::vector<Slope> slopes(view.n_mel + 1);
  for (uint32_t m = 0; m < view.n_mel; ++m) {
    slopes[m].rising = side_of(view, bands[m], true);
    slopes[m + 1].falling = side_of(view, bands[m], false);
  }
  return slopes;
}

// Shares of the bands, none empty while there are bands; the dearest is as cheap as it can be. A share's first and last slopes
// are its neighbours' too.
MfccParts parts_of(const std::vector<Slope> &slopes) {
  const auto n_mel = static_cast<uint32_t>(slopes.size() - 1);
  const auto cost = [&](uint32_t slope) { return kTwoCost * slopes[slope].n_twos() + kSlopeCost; };
  MfccParts parts{};
  const auto fits = [&](uint32_t most) {
    uint32_t band = 0;
    for (uint32_t part = 0; part < kMfccParts; ++part) {
      parts.first_band[part] = static_cast<uint16_t>(band);
      uint32_t sum = cost(band);
      for (const uint32_t first = band; band < n_mel && (band == first || sum + cost(band + 1) <= most); ++band) {
        sum += cost(band + 1);
      }
    }
    parts.first_band[kMfccParts] = static_cast<uint16_t>(band);
    return band == n_mel;
  };
  uint32_t too_little = 0, enough = 0;
  for (uint32_t i = 0; i <= n_mel; ++i) enough += cost(i);
  while (enough - too_little > 1) {
    const uint32_t middle = too_little + (enough - too_little) / 2;
    (fits(middle) ? enough : too_little) = middle;
  }
  fits(enough);
  return parts;
}

}  // namespace

std::vector<float4> make_banks(const asr_features_view &view, uint32_t *bank_fours) {
  const uint32_t n_slope_fours = (view.n_mel + 2) / 2, n_head_fours = n_slope_fours + sizeof(MfccParts) / sizeof(float4);
  *bank_fours = 0;
  for (uint32_t warp = 0; warp < view.n_warps; ++warp) {
    uint32_t n_fours = n_head_fours;
    for (const Slope &slope : slopes_of(view, warp)) n_fours += slope.n_twos();
    *bank_fours = std::max(*bank_fours, n_fours);
  }
  std::vector<float4> banks(size_t{view.n_warps} * *bank_fours);
  for (uint32_t warp = 0; warp < view.n_warps; ++warp) {
    float4 *const bank = banks.data() + size_t{warp} * *bank_fours;
    const std::vector<Slope> slopes = slopes_of(view, warp);
    std::vector<MfccSlope> heads;
    uint32_t at = n_head_fours;
    for (const Slope &slope : slopes) {
      const uint32_t bin = slope.first_bin(), n_twos = slope.n_twos();
      heads.push_back({static_cast<uint16_t>(bin), static_cast<uint16_t>(n_twos), at});
      for (uint32_t k = bin; k < bin + 2 * n_twos; k += 2) {
        bank[at++] = {slope.falling.weight(k), slope.rising.weight(k), slope.falling.weight(k + 1), slope.rising.weight(k + 1)};
      }
    }
    const MfccParts parts = parts_of(slopes);
    std::memcpy(bank, heads.data(), heads.size() * sizeof heads[0]);
    std::memcpy(bank + n_slope_fours, &parts, sizeof parts);
  }
  return banks;
}

}  // namespace asr::cuda
