// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/features/mfcc_tiles.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "plugins/common/halves.h"

namespace asr {
namespace {

constexpr uint32_t kBins = 256, kChunks = kBins / 16, kBands = 8, kLanes = 32;
constexpr uint32_t kChunkCost = 2, kTileCost = 3;  // relative time in a warp, roughly

// Returns the nearest bf16 number; ties go to the even one. Finite numbers only.
uint32_t brain_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  return (bits + 0x7fffu + (bits >> 16 & 1u)) >> 16;
}

float brain_value(uint32_t bits) {
  bits <<= 16;
  float value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

uint32_t bin_of(uint32_t chunk, uint32_t pair, uint32_t element) {
  return chunk / 2 * 32 + element * 16 + chunk % 2 * 8 + pair;
}

// TileWeights holds the weights of the bands of a tile.
class TileWeights {
 public:
  TileWeights(const asr_features_view &view, uint32_t warp, uint32_t tile) {
    for (uint32_t g = 0; g < kBands && tile * kBands + g < view.n_mel; ++g) {
      const asr_mel_band &band = view.mel_bands[size_t{warp} * view.n_mel + size_t{tile} * kBands + g];
      if (band.first_bin >= kBins) continue;  // F5 ends before this bin
      std::copy_n(view.mel_weights + band.first_weight, std::min(band.n_bins, kBins - band.first_bin),
                  weights_[g].begin() + band.first_bin);
    }
  }
  bool has(uint32_t chunk) const {
    for (uint32_t i = 0; i < kBands * 16; ++i) {
      if (weights_[i / 16][bin_of(chunk, i % 8, i / 8 % 2)] != 0) return true;
    }
    return false;
  }
  MfccFour four(uint32_t chunk, uint32_t lane) const {
    MfccFour four{};
    for (uint32_t i = 0; i < 4; ++i) {  // two pairs of two elements
      const float weight = weights_[lane / 4][bin_of(chunk, lane % 4 * 2 + i / 2, i % 2)];
      const uint32_t high = brain_bits(weight), low = brain_bits(weight - brain_value(high));
      four[i / 2] |= high << 16 * (i % 2);
      four[2 + i / 2] |= low << 16 * (i % 2);
    }
    return four;
  }

 private:
  std::array<std::array<float, kBins>, kBands> weights_{};
};

// Divides the tiles among the warps so that the largest cost of a warp is as small as possible.
MfccParts parts_of(const std::vector<MfccTile> &tiles) {
  const auto n_tiles = static_cast<uint32_t>(tiles.size());
  MfccParts parts{};
  const auto fits = [&](uint32_t most) {
    uint32_t tile = 0;
    for (uint32_t part = 0; part < kMfccParts; ++part) {
      parts.first_tile[part] = static_cast<uint16_t>(tile);
      for (uint32_t sum = 0; tile < n_tiles; ++tile) {
        sum += kChunkCost * tiles[tile].n_chunks + kTileCost;
        if (sum > most) break;
      }
    }
    parts.first_tile[kMfccParts] = static_cast<uint16_t>(tile);
    return tile == n_tiles;
  };
  for (uint32_t most = 1; !fits(most);) ++most;
  return parts;
}

std::vector<MfccFour> make_bank(const asr_features_view &view, uint32_t warp) {
  const uint32_t n_tiles = mfcc_n_tiles(view.n_mel), n_head_fours = n_tiles / 2 + 1;
  std::vector<MfccFour> bank(n_head_fours);
  std::vector<MfccTile> tiles;
  for (uint32_t i = 0; i < n_tiles; ++i) {
    const TileWeights weights(view, warp, i);
    uint32_t first = 0, end = kChunks;
    while (first < end && !weights.has(first)) ++first;
    while (first < end && !weights.has(end - 1)) --end;
    tiles.push_back({static_cast<uint16_t>(first), static_cast<uint16_t>(end - first), static_cast<uint32_t>(bank.size())});
    for (uint32_t chunk = first; chunk < end; ++chunk) {
      for (uint32_t lane = 0; lane < kLanes; ++lane) bank.push_back(weights.four(chunk, lane));
    }
  }
  const MfccParts parts = parts_of(tiles);
  std::memcpy(bank.data(), tiles.data(), tiles.size() * sizeof tiles[0]);
  std::memcpy(bank.data() + n_tiles / 2, &parts, sizeof parts);
  return bank;
}

}  // namespace

std::vector<MfccFour> make_mfcc_banks(const asr_features_view &view, uint32_t *bank_fours) {
  std::vector<std::vector<MfccFour>> each;
  size_t most = 0;
  for (uint32_t warp = 0; warp < view.n_warps; ++warp) {
    each.push_back(make_bank(view, warp));
    most = std::max(most, each.back().size());
  }
  std::vector<MfccFour> banks(each.size() * most);
  for (size_t warp = 0; warp < each.size(); ++warp)
    std::copy(each[warp].begin(), each[warp].end(), banks.begin() + warp * most);
  *bank_fours = static_cast<uint32_t>(most);
  return banks;
}

std::vector<MfccFour> make_mfcc_dct(const asr_features_view &view) {
  std::vector<MfccFour> fours;
  for (uint32_t tile = 0; tile < view.n_ceps; tile += kBands) {
    for (uint32_t step = 0; step < view.n_mel; step += 2 * kBands) {
      for (uint32_t lane = 0; lane < kLanes; ++lane) {
        const uint32_t i = tile + lane / 4, m = step + lane % 4 * 2;
        const auto at = [&](uint32_t band) {
          return i < view.n_ceps && band < view.n_mel ? std::log(2.0) * view.dct[size_t{i} * view.n_mel + band] : 0;
        };
        const HalfPairs first = split_halves(at(m), at(m + 1)), second = split_halves(at(m + kBands), at(m + kBands + 1));
        fours.push_back({first.hi, second.hi, first.lo, second.lo});
      }
    }
  }
  return fours;
}

}  // namespace asr
