// SPDX-License-Identifier: Apache-2.0
// ChosenStates scores states with codebooks of their own in the clusters that a frame chooses; the others keep the score of the
// single Gaussian of their mixture (equation G11; docs/cpu.md, "Clusters of states"). gmm.cc uses it for windows, gmm_asked.cc
// for tiles on demand. It may be used again, for any model: it keeps the memory of its largest rows.
#pragma once

#include <cstdint>
#include <vector>

#include "plugins/cpu/gmm_scorer.h"

namespace asr::cpu {

class ChosenStates {
 public:
  static constexpr size_t kMaxFrames = 4 * kAskedFrames;

  // Takes at most kMaxFrames frames of a feature stream that has clusters: x[groups][dims][kGroupFrames], which must outlive
  // the calls below. Each of them is safe from several threads, for other frames or blocks.
  void begin(const Gmm::Packed &model, const GmmStream &stream, const float *x, size_t n_frames);
  // Then scores the single Gaussians of the frames from `first` to `end`, and chooses clusters. Both are multiples of
  // kAskedFrames, or n_frames.
  void choose(size_t first, size_t end);
  // Then scores a block in the frames that have chosen it.
  void score(size_t block);
  // Then returns the L log-likelihoods of a block in a frame. Those of the next block follow.
  const float *loglikes(size_t block, size_t frame) const { return loglikes_.data() + frame * stride_ + block * n_lanes_; }

 private:
  const Gmm::Packed *model_ = nullptr;
  const GmmStream *stream_ = nullptr;
  const float *x_ = nullptr;
  size_t n_frames_ = 0, n_lanes_ = 0, stride_ = 0, room_ = 0;  // room_: of loglikes_
  AlignedFloats loglikes_;                                     // [n_frames][blocks][L]
  std::vector<uint8_t> chosen_;                                // [n_frames][clusters]
};

}  // namespace asr::cpu
