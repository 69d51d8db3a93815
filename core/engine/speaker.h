// SPDX-License-Identifier: Apache-2.0
// Speaker is shared by streams. It holds sums and samples of the speech that SpeakerTrack adds. From them it estimates
// the warp of the frequency axis, the transform of features and the transform of means. Any thread may call.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "core/adapt/mllr.h"
#include "core/adapt/speech_sample.h"
#include "core/base/limits.h"
#include "core/base/stop.h"
#include "core/engine/warp_scorer.h"
#include "core/model/bundle.h"

namespace asr {

// An acoustic model in memory, shared by the speakers of an engine.
class EstimationModel {
 public:
  // `place`: the engine's model, on the device that is to search for warps. Throws if transforms cannot be estimated for it.
  explicit EstimationModel(const LoadedModel &place);

  const AcousticModel model;
  const GaussianPosteriors posteriors;
  const FmllrPrior prior;
  const uint64_t checksum;  // checksum of acoustic.bin
  const FrontEnd front_end;

  const WarpScorer &warps() const;  // created by the first call

 private:
  const DeviceEntry device_;
  const EngineOptions options_;
  mutable std::mutex mutex_;  // guards the members below
  mutable std::optional<WarpScorer> warps_;
};

// A speaker's acoustic model: that of an EstimationModel with other means. It goes when neither the speaker nor a stream's
// utterance has it.
class SpeakerModel {
 public:
  // base: the model of the means, whose other arrays stay in use.
  SpeakerModel(std::shared_ptr<const AcousticModel> base, AdaptedMeans means)
      : base_(std::move(base)), means_(std::move(means)) {}

  const AdaptedMeans &means() const { return means_; }

  // Returns the model on a device, loaded by the first call. On the thread that calls that device.
  std::shared_ptr<asr_backend_acoustic> on(const LoadedModel &place) const;

 private:
  const std::shared_ptr<const AcousticModel> base_;
  const AdaptedMeans means_;
  mutable DeviceCopies<std::shared_ptr<asr_backend_acoustic>> copies_;
};

class Speaker {
 public:
  explicit Speaker(std::shared_ptr<const EstimationModel> model) : model_(std::move(model)) {}

  uint32_t n_dims() const { return model_->model.n_dims; }
  bool suits(const Bundle &bundle) const { return bundle.files.at("acoustic.bin").checksum == model_->checksum; }

  // Selects the estimates of adapt(). n_warps: 0, 11 or 21.
  void set_methods(bool fmllr, bool mllr, size_t n_warps);  // throws ASR_UNSUPPORTED if the front end cannot be warped
  bool searches_warps() const;
  bool adapts_means() const;  // estimates a model, or has one

  // Warp of streams that begin now.
  float warp() const;
  void set_warp(float warp);  // a warp of the model; a change discards rows and transform

  // Adaptation of utterances that begin now, for a stream with this warp; nullptr: none.
  struct Adaptation {
    std::shared_ptr<const FeatureTransform> transform;
    std::shared_ptr<const SpeakerModel> model;  // for rows under the transform
  };
  Adaptation adaptation(float warp) const;
  Adaptation adaptation() const { return adaptation(warp()); }
  void set_transform(std::shared_ptr<const FeatureTransform> transform);  // discards the model
  // Moves the means by a transform of their dimensions, or of none. Throws if it moves one far out of range.
  void set_mean_transform(FeatureTransform transform);

  // Works like SpeechSample::add, from a stream with this warp; rows far outside the model's range do not count.
  void add(const std::vector<float> &rows, const std::vector<uint32_t> &states, float warp);
  // Works like WarpScorer.
  void add_sound(const std::vector<float> &samples, const std::vector<uint32_t> &states, bool normalises,
                 const StopToken &stop);

  // Chooses the warp; if it stays the same, estimates the transforms. Throws ASR_INVALID_STATE if there is too little speech,
  // or if nothing fits it.
  void adapt();
  bool is_due() const;
  void adapt_if_due(const StopToken &stop);  // estimates the transforms once there is enough, then with every fifth more

 private:
  struct Said {
    SpeechSample sample;
    float warp;  // warp of its rows
    bool estimates_transform, estimates_means;
    size_t n_warp_rows;
    std::shared_ptr<const FeatureTransform> transform;
    bool estimates() const { return estimates_transform || estimates_means; }
  };

  Said said() const;
  bool choose_warp();
  bool estimate(const Said &said, const StopToken &stop);
  bool is_usual(const float *row) const;
  bool are_usual(const AdaptedMeans &means) const;
  std::shared_ptr<const SpeakerModel> new_model(AdaptedMeans means) const;

  const std::shared_ptr<const EstimationModel> model_;
  mutable std::mutex mutex_;  // guards the members below
  bool estimates_transform_ = true, estimates_means_ = false;
  size_t n_warps_ = 0;
  std::vector<int64_t> warp_sums_ = std::vector<int64_t>(WarpScorer::kWarps);
  size_t n_warp_rows_ = 0;        // in warp_sums_
  uint64_t warp_generation_ = 0;  // counts changes of n_warps_
  float warp_ = 1;
  SpeechSample sample_{kMaxSpeakerRows};            // with warp_
  size_t n_added_ = 0, n_due_ = kMinSpeakerRows;    // rows so far, and rows for the next adapt_if_due
  Adaptation adaptation_;                           // with warp_
};

}  // namespace asr
