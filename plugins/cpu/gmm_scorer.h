// SPDX-License-Identifier: Apache-2.0
// The packed model and its kernels, the features of a window in their order, and the Gaussians of a shared codebook on a tile
// of frames. gmm.cc, which scores all states, and gmm_asked.cc, which scores those that a search asks for, share them.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/cpu/gmm.h"
#include "plugins/cpu/gmm_kernels.h"
#include "plugins/cpu/gmm_pack.h"

namespace asr::cpu {

// Rows of one feature stream, centred, in the order of the kernels: x[groups][dims][kGroupFrames].
AlignedFloats pack_rows(const GmmStream &stream, const float *features, size_t n_rows, size_t n_features);

struct Gmm::Packed {
  Packed(const asr_acoustic_view &view, const GmmOptions &options);

  uint32_t n_dims, n_states;
  size_t n_best;  // Gaussians of a shared codebook that are mixed, 0: all
  GaussianKernels gaussians;
  SharedKernels shared;
  ClusterKernels clusters;
  std::vector<GmmStream> streams;
};

// CodebookTile has the scores of a shared codebook's Gaussians for the frames of a tile. Its states mix them.
class CodebookTile {
 public:
  // Scores n_frames frames, which begin at x.
  void score(const Gmm::Packed &model, const GmmStream &stream, const SharedCodebook &codebook, const float *x,
             size_t n_frames);

  // Mixes them for the states of a block: mixed[n_frames][L]. The block `next` is mixed after it.
  void mix(const MixingBlock &block, const MixingBlock &next, float *mixed) const;

 private:
  float mix_exactly(const float *log_weight, size_t t) const;

  const Gmm::Packed *model_ = nullptr;
  const SharedCodebook *codebook_ = nullptr;
  size_t n_frames_ = 0, room_ = 0, n_chosen_ = 0;
  AlignedFloats score_, relative_;      // see SharedKernels
  std::vector<float> best_;             // [n_frames]
  std::vector<ChosenGaussian> chosen_;  // [n_frames][n_chosen], if a selection chooses
};

}  // namespace asr::cpu
