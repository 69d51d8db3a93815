// SPDX-License-Identifier: Apache-2.0
// WarpScorer does vocal tract length normalisation. It computes how likely an utterance is under each of several warps of its
// frequency axis, given the state of each frame (A2 of docs/equations.md). Cepstra come from the built-in CPU back end, with
// one FFT per frame for all warps (Kou et al. 2013). Any thread may call.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

#include "core/adapt/gaussian_posteriors.h"
#include "core/backend/registry.h"
#include "core/base/stop.h"
#include "core/engine/loaded_model.h"
#include "core/feature/mfcc_tables.h"

namespace asr {

// Throws ASR_UNSUPPORTED if the filter bank is too narrow to bend.
void require_warps(const FrontEnd &front_end);

class WarpScorer {
 public:
  static constexpr size_t kWarps = 21;
  static constexpr size_t kMaxFrames = 6000;  // useful maximum of frames per utterance

  static double warp(size_t i) { return 0.8 + 0.02 * static_cast<double>(i); }  // 0.80, 0.82 ... 1.20

  // Opens the back end. Throws like require_warps().
  explicit WarpScorer(const FrontEnd &front_end);

  // Adds the log-likelihoods under each `stride`-th warp, from the first on, to sums[kWarps]. The units are 2^-16, so that the
  // order of utterances does not change the sums. The samples are those of states.size() frames, at the model's rate and scale;
  // frames of kNoState do not count. normalises: whether the mean of the utterance is subtracted. Returns how many count.
  // Throws ASR_CANCELLED soon after it is stopped.
  size_t score(const std::vector<float> &samples, const std::vector<uint32_t> &states, bool normalises, size_t stride,
               const GaussianPosteriors &posteriors, const StopToken &stop, std::vector<int64_t> *sums) const;

 private:
  using Cepstra = std::vector<std::vector<float>>;  // [kWarps]; empty for omitted warps
  Cepstra extract(const std::vector<float> &samples, size_t n_frames, size_t stride) const;

  FeatureTables tables_;
  const Device device_;
  BackendPointer<asr_backend_features> features_;
  mutable std::mutex mutex_;  // guards the device
};

}  // namespace asr
