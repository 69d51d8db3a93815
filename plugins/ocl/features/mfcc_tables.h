// SPDX-License-Identifier: Apache-2.0
// A front end's tables as mfcc.cl and mfcc_512.cl read them. Made when a front end is loaded, used by mfcc.cc.
#pragma once

#include <array>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/gpu/features/mfcc_tiles.h"
#include "plugins/ocl/features/mfcc_types.h"

namespace asr::gpu {

using Float2 = std::array<float, 2>;
using Float4 = std::array<float, 4>;

struct MfccTables {
  explicit MfccTables(const asr_features_view &view);
  MfccOptions options{};
  std::vector<MfccPair> pairs;        // [n_points]
  std::vector<Float2> window;         // [n_points], halved
  std::vector<Float2> twiddles;       // [pass][j][16], roots of the radix-16 passes
  std::vector<Float2> real_twiddles;  // [n_points / 2], exp(-i pi k / n_points)
  std::vector<MfccBand> bands;        // [n_warps][n_mel]
  std::vector<Float4> weights;
  std::vector<Float4> dct;  // [n_ceps][n_mel_padded / 4]
  // Tables for mfcc_512.cl (plugins/gpu/features/mfcc_tiles.h).
  std::vector<MfccFour> banks, dct_tiles;
};

}  // namespace asr::gpu
