// SPDX-License-Identifier: Apache-2.0
// Filter banks in the form that tensor cores use. Spectra of 256 bins are multiplied by a matrix of 8 bands per tile,
// which keeps only chunks of 16 bins with weights. The MFCC kernels for 512 samples, plugins/cuda/features/mfcc_512.cu and
// plugins/ocl/features/mfcc_512.cl, use them.
//
// Bins and weights are sums of two bf16 numbers. A word holds a pair of these, the first in the low half. Chunk c has eight
// pairs; its pair s is bin 32 (c / 2) + 8 (c % 2) + s and the bin 16 further.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

using MfccFour = std::array<uint32_t, 4>;

// A tile of 8 bands has n_chunks chunks from first_chunk on. Chunk i has the bank's 32 fours from first_four + 32 i on. Four
// 4 g + t holds the weights of band g for the chunk's pairs 2 t and 2 t + 1: high, high, low, low.
struct MfccTile {
  uint16_t first_chunk, n_chunks;
  uint32_t first_four;
};

// Tiles are divided among four warps: warp w has first_tile[w] ... first_tile[w + 1] - 1.
constexpr uint32_t kMfccParts = 4;
struct MfccParts {
  uint16_t first_tile[8];
};

// Returns an even number of tiles, so that the cosine transform can take two at a time; the last one may be empty.
constexpr uint32_t mfcc_n_tiles(uint32_t n_mel) { return (n_mel + 15) / 16 * 2; }

// Returns the banks of all warps one after the other, *bank_fours each: tiles, parts, weights.
std::vector<MfccFour> make_mfcc_banks(const asr_features_view &view, uint32_t *bank_fours);

// Returns the cosine transform of base-2 logarithms, [n_ceps / 8][n_mel / 16][32]. Four 4 g + t is for cepstrum g of 8,
// and for bands 2 t, 2 t + 1 of 16 and the two bands 8 further. It has pairs of fp16 halves: high, high, low, low.
std::vector<MfccFour> make_mfcc_dct(const asr_features_view &view);

}  // namespace asr
