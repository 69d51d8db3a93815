// SPDX-License-Identifier: Apache-2.0
// Filter banks as tensor cores take them: spectra of 256 bins times a matrix of 8 bands a tile, of which only chunks of 16 bins
// with weights are kept. Used by the MFCC kernels for 512 samples, cuda/kernels/mfcc_512.cu and ocl/kernels/mfcc_512.cl.
//
// Bins and weights are sums of two bf16 numbers, pairs of them in a word, the first below. Chunk c has eight pairs: pair s of
// it is bins 32 (c / 2) + 8 (c % 2) + s and 16 further.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

using MfccFour = std::array<uint32_t, 4>;

// Of 8 bands: chunks from first_chunk on. Chunk i has the 32 fours from first_four + 32 i on, of the bank: four 4 g + t is the
// weights of band g for the chunk's pairs 2 t and 2 t + 1: high, high, low, low.
struct MfccTile {
  uint16_t first_chunk, n_chunks;
  uint32_t first_four;
};

// Tiles are shared out among four warps: warp w has first_tile[w] ... first_tile[w + 1] - 1.
constexpr uint32_t kMfccParts = 4;
struct MfccParts {
  uint16_t first_tile[8];
};

// An even number, so that the cosine transform can take two tiles at a time; the last one may be empty.
constexpr uint32_t mfcc_n_tiles(uint32_t n_mel) { return (n_mel + 15) / 16 * 2; }

// Banks one after the other, *bank_fours each: tiles, parts, weights.
std::vector<MfccFour> make_mfcc_banks(const asr_features_view &view, uint32_t *bank_fours);

// The cosine transform of base-2 logarithms, [n_ceps / 8][n_mel / 16][32]: four 4 g + t is of cepstrum g of 8, for bands 2 t,
// 2 t + 1 of 16 and those 8 further, as pairs of fp16 halves: high, high, low, low.
std::vector<MfccFour> make_mfcc_dct(const asr_features_view &view);

}  // namespace asr
