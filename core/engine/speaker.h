// SPDX-License-Identifier: Apache-2.0
// A speaker, whom streams share: what was said, as Stream adds it, and the transform of features that is estimated from it and
// that utterances begin with. Any thread.
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "core/adapt/speech_sample.h"
#include "core/base/limits.h"
#include "core/base/stop.h"
#include "core/model/bundle.h"

namespace asr {

// An acoustic model in memory, which the speakers of an engine share.
struct EstimationModel {
  explicit EstimationModel(const Bundle &bundle);  // throws where transforms cannot be estimated for the model

  const AcousticModel model;
  const GaussianPosteriors posteriors;
  const FmllrPrior prior;
  const uint64_t checksum;  // of acoustic.bin
};

class Speaker {
 public:
  explicit Speaker(std::shared_ptr<const EstimationModel> model) : model_(std::move(model)) {}

  uint32_t n_dims() const { return model_->model.n_dims; }
  bool suits(const Bundle &bundle) const { return bundle.files.at("acoustic.bin").checksum == model_->checksum; }

  // The transform of utterances that begin now; nullptr: none.
  std::shared_ptr<const FeatureTransform> transform() const;
  void set_transform(std::shared_ptr<const FeatureTransform> transform);

  // As SpeechSample; rows that are far from all that the model knows do not count.
  void add(const std::vector<float> &rows, const std::vector<uint32_t> &states);
  void adapt();  // throws ASR_INVALID_STATE where too little was said, or nothing fits it
  bool is_due() const;
  void adapt_if_due(const StopToken &stop);  // once there is enough, and then with every fifth more; throws where it is stopped

 private:
  SpeechSample sample() const;
  bool estimate(const SpeechSample &said, const StopToken &stop);
  bool is_usual(const float *row) const;

  const std::shared_ptr<const EstimationModel> model_;
  mutable std::mutex mutex_;  // of what follows
  SpeechSample sample_{kMostSpeakerRows};
  size_t n_added_ = 0, n_due_ = kLeastSpeakerRows;  // rows so far, and for the next adapt_if_due
  std::shared_ptr<const FeatureTransform> transform_;
};

}  // namespace asr
