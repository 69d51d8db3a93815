// SPDX-License-Identifier: Apache-2.0
// Makes the tables of plugins/gpu/features/mfcc_sums_types.h from a front end, for the CUDA back end and for OpenCL on NVIDIA's
// GPUs.
#pragma once

#include <optional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "plugins/gpu/features/mfcc_sums_types.h"
#include "plugins/gpu/features/mfcc_tiles.h"

namespace asr {

// MfccSums has the edges r of bank w at edges[w * n_edges + r]. Step s completes a quarter's bands kSumsStep * s ... by the
// edges kSumsStep * s + 2 ...
struct MfccSums {
  uint32_t n_steps = 0;               // of a quarter: one of kSumsSteps
  uint32_t n_edges = 0, n_bands = 0;  // of a quarter
  uint32_t first_bin = 0;             // the first that a band may count
  std::vector<double> positions;      // [n_bins]
  std::vector<MfccEdges> edges;
  std::vector<float> gains;  // [n_warps][n_bands][kSumsQuarters]; empty if all are 1
  // Cosine transform of base-2 logarithms, as sums of fp16 halves, [n_steps][32]. Steps 2 i and 2 i + 1 have the high parts of
  // both, then the low parts of both. A last step alone has its high and low parts. Four 4 g + q is for cepstra g and g + 8,
  // and for bands of quarter q; its words are g and g + 8 of the first part, g and g + 8 of the second.
  std::vector<MfccFour> dct;
};
constexpr uint32_t kSumsSteps[] = {3, kSumsMostSteps};  // for up to 24 and 40 bands; kernels are compiled for these

// Returns the tables, or nothing if the front end does not suit them: for PLP, for more bands or cepstra than they have room
// for, for edges that coincide, or without view.triangles.
std::optional<MfccSums> make_mfcc_sums(const asr_features_view &view);

}  // namespace asr
