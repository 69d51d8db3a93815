// SPDX-License-Identifier: Apache-2.0
// WarpScorer does vocal tract length normalisation. It computes how likely an utterance is under each of several warps of its
// frequency axis, given the state of each frame (A2 of docs/equations.md). A device makes the cepstra and scores the rows, the
// host makes rows of cepstra. Any thread may call.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/adapt/gaussian_posteriors.h"
#include "core/base/stop.h"
#include "core/engine/warp_device.h"

namespace asr {

// Throws ASR_UNSUPPORTED if the filter bank is too narrow to bend.
void require_warps(const FrontEnd &front_end);

class WarpScorer {
 public:
  static constexpr size_t kWarps = 21;
  static constexpr size_t kMaxFrames = 6000;  // useful maximum of frames per utterance

  static double warp(size_t i) { return 0.8 + 0.02 * static_cast<double>(i); }  // 0.80, 0.82 ... 1.20

  // Uses the given device, or the CPU where that does not serve the model or fails. The model must outlive this. Throws like
  // require_warps().
  WarpScorer(const FrontEnd &front_end, const AcousticModel &model, const DeviceEntry &entry, const EngineOptions &options);

  // Adds the log-likelihoods under each `stride`-th warp, from the first on, to sums[kWarps]. The units are 2^-16, so that the
  // order of utterances does not change the sums. The samples are those of states.size() frames, at the model's rate and scale;
  // frames of kNoState do not count. normalises: whether the mean of the utterance is subtracted. Returns how many count.
  // Throws ASR_CANCELLED soon after it is stopped.
  size_t score(const std::vector<float> &samples, const std::vector<uint32_t> &states, bool normalises, size_t stride,
               const StopToken &stop, std::vector<int64_t> *sums) const;

  std::string device_id() const { return device()->id(); }  // the device that serves the next utterance
  const std::string &why_cpu() const { return why_cpu_; }   // why the given device does not serve; empty if it does

 private:
  struct Utterance;
  class Turn;

  std::shared_ptr<WarpDevice> device() const;
  std::shared_ptr<WarpDevice> cpu() const;
  void note_failure(const std::shared_ptr<WarpDevice> &device, const Error &error) const;
  std::vector<int64_t> score_on(WarpDevice &device, const Utterance &said) const;

  FeatureTables tables_;
  const AcousticModel &model_;
  const EngineOptions options_;
  std::string why_cpu_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::condition_variable turn_ended_;
  mutable size_t n_turns_ = 0;                        // utterances that are being scored
  mutable std::shared_ptr<WarpDevice> device_, cpu_;  // device_: nullptr if the CPU serves; cpu_: made when needed
};

}  // namespace asr
