// SPDX-License-Identifier: Apache-2.0
#include "core/engine/speaker.h"

#include <algorithm>
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
    : model(read_for_estimation(bundle)),
      posteriors(model),
      prior(posteriors),
      checksum(bundle.files.at("acoustic.bin").checksum) {}

std::shared_ptr<const FeatureTransform> Speaker::transform() const {
  const std::lock_guard lock(mutex_);
  return transform_;
}

void Speaker::set_transform(std::shared_ptr<const FeatureTransform> transform) {
  const std::lock_guard lock(mutex_);
  transform_.swap(transform);
}

// Within a thousand times what the model's rows are.
bool Speaker::is_usual(const float *row) const {
  for (uint32_t d = 0; d < n_dims(); ++d) {
    const double square = static_cast<double>(row[d]) * static_cast<double>(row[d]);
    if (square > 1e6 * model_->prior.moments[size_t{d} * (d + 3) / 2]) return false;
  }
  return true;
}

// In pieces, of which the sample keeps some.
void Speaker::add(const std::vector<float> &rows, const std::vector<uint32_t> &states) {
  constexpr size_t kPiece = 256;
  for (size_t begin = 0; begin < states.size(); begin += kPiece) {
    std::vector<float> piece;
    std::vector<uint32_t> piece_states;
    for (size_t i = begin; i < std::min(begin + kPiece, states.size()); ++i) {
      const float *const row = rows.data() + i * n_dims();
      if (!is_usual(row)) continue;
      piece.insert(piece.end(), row, row + n_dims());
      piece_states.push_back(states[i]);
    }
    const std::lock_guard lock(mutex_);
    n_added_ += piece_states.size();
    sample_.add(std::move(piece), std::move(piece_states));
  }
}

bool Speaker::is_due() const {
  const std::lock_guard lock(mutex_);
  return n_added_ >= n_due_;
}

SpeechSample Speaker::sample() const {
  const std::lock_guard lock(mutex_);
  return sample_;
}

// Replaces the transform; false where none fits, and the one before stays.
bool Speaker::estimate(const SpeechSample &said, const StopToken &stop) {
  auto transform = std::make_shared<FeatureTransform>(said.estimate(model_->posteriors, model_->prior, stop));
  if (transform->n_dims == 0) return false;
  set_transform(std::move(transform));
  return true;
}

void Speaker::adapt() {
  const SpeechSample said = sample();
  if (said.n_rows() < kLeastSpeakerRows) {
    fail(ASR_INVALID_STATE, "asr_adapt: %zu frames of speech have come to a FINAL as yet; %zu are needed", said.n_rows(),
         kLeastSpeakerRows);
  }
  if (!estimate(said, {})) fail(ASR_INVALID_STATE, "asr_adapt: no transform fits what was said; the one before stays");
}

void Speaker::adapt_if_due(const StopToken &stop) {
  {
    const std::lock_guard lock(mutex_);
    if (n_added_ < n_due_) return;
    n_due_ = n_added_ + n_added_ / 5;
  }
  estimate(sample(), stop);
}

}  // namespace asr
