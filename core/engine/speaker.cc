// SPDX-License-Identifier: Apache-2.0
#include "core/engine/speaker.h"

#include <utility>

#include "core/base/error.h"

namespace asr {
namespace {

AcousticModel read_for_estimation(const Bundle &bundle) {
  const std::string path = bundle.file("acoustic.bin");
  check_bundle_file(path, bundle.files.at("acoustic.bin"), sum_file(path));
  AcousticModel model = read_acoustic_model(path);
  if (model.covariance != ASR_COVARIANCE_DIAGONAL) {
    fail(ASR_UNSUPPORTED, "asr_speaker_new: %s has full covariances; transforms are estimated for models with diagonal ones",
         path.c_str());
  }
  if (model.n_dims > kMostSpeakerDims) {
    fail(ASR_UNSUPPORTED, "asr_speaker_new: %s has rows of %u values; transforms are estimated for up to %u", path.c_str(),
         model.n_dims, kMostSpeakerDims);
  }
  return model;
}

}  // namespace

EstimationModel::EstimationModel(const Bundle &bundle)
    : model(read_for_estimation(bundle)), posteriors(model), prior(model), checksum(bundle.files.at("acoustic.bin").checksum) {}

std::shared_ptr<const FeatureTransform> Speaker::transform() const {
  const std::lock_guard lock(mutex_);
  return transform_;
}

void Speaker::set_transform(std::shared_ptr<const FeatureTransform> transform) {
  const std::lock_guard lock(mutex_);
  transform_.swap(transform);
}

void Speaker::add(std::vector<float> rows, std::vector<uint32_t> states) {
  const std::lock_guard lock(mutex_);
  sample_.add(std::move(rows), std::move(states));
}

SpeechSample Speaker::sample() const {
  const std::lock_guard lock(mutex_);
  return sample_;
}

void Speaker::adapt() {
  const SpeechSample said = sample();
  if (said.n_rows() < kLeastSpeakerRows) {
    fail(ASR_INVALID_STATE, "asr_adapt: %zu frames of speech have come to a FINAL as yet; %zu are needed", said.n_rows(),
         kLeastSpeakerRows);
  }
  set_transform(std::make_shared<FeatureTransform>(said.estimate(model_->model, model_->posteriors, model_->prior, {})));
}

void Speaker::adapt_if_due(const StopToken &stop) {
  {
    const std::lock_guard lock(mutex_);
    if (sample_.n_rows() < n_due_) return;
    n_due_ = sample_.n_rows() + sample_.n_rows() / 5;
  }
  set_transform(std::make_shared<FeatureTransform>(sample().estimate(model_->model, model_->posteriors, model_->prior, stop)));
}

}  // namespace asr
