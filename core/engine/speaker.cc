// SPDX-License-Identifier: Apache-2.0
#include "core/engine/speaker.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"

namespace asr {
namespace {

AcousticModel read_for_estimation(const Bundle &bundle) {
  const std::string path = bundle.file("acoustic.bin");
  check_bundle_file(bundle, "acoustic.bin");
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
      checksum(bundle.files.at("acoustic.bin").checksum),
      front_end(bundle.front_end) {}

const WarpScorer &EstimationModel::warps() const {
  const std::lock_guard lock(mutex_);
  if (!warps_) warps_.emplace(front_end);
  return *warps_;
}

void Speaker::set_methods(bool fmllr, size_t n_warps) {
  if (n_warps > 0) model_->warps();
  const std::lock_guard lock(mutex_);
  estimates_transform_ = fmllr;
  if (n_warps == n_warps_) return;
  n_warps_ = n_warps;
  ++warp_generation_;
  std::fill(warp_sums_.begin(), warp_sums_.end(), 0);
  n_warp_rows_ = 0;
}

bool Speaker::searches_warps() const {
  const std::lock_guard lock(mutex_);
  return n_warps_ > 0;
}

float Speaker::warp() const {
  const std::lock_guard lock(mutex_);
  return warp_;
}

void Speaker::set_warp(float warp) {
  if (warp != 1) require_warps(model_->front_end);
  const std::lock_guard lock(mutex_);
  if (warp == warp_) return;
  warp_ = warp;
  sample_ = SpeechSample(kMostSpeakerRows);
  n_added_ = 0;
  n_due_ = kLeastSpeakerRows;
  transform_.reset();
}

std::shared_ptr<const FeatureTransform> Speaker::transform(float warp) const {
  const std::lock_guard lock(mutex_);
  return warp == warp_ ? transform_ : nullptr;
}

void Speaker::set_transform(std::shared_ptr<const FeatureTransform> transform) {
  const std::lock_guard lock(mutex_);
  transform_.swap(transform);
}

// Returns true for rows within a thousand times the range of the model's rows.
bool Speaker::is_usual(const float *row) const {
  for (uint32_t d = 0; d < n_dims(); ++d) {
    const double square = static_cast<double>(row[d]) * static_cast<double>(row[d]);
    if (square > 1e6 * model_->prior.moments[size_t{d} * (d + 3) / 2]) return false;
  }
  return true;
}

// Adds in pieces, of which the sample keeps some.
void Speaker::add(const std::vector<float> &rows, const std::vector<uint32_t> &states, float warp) {
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
    if (warp != warp_) return;
    n_added_ += piece_states.size();
    sample_.add(std::move(piece), std::move(piece_states));
  }
}

void Speaker::add_sound(const std::vector<float> &samples, const std::vector<uint32_t> &states, bool normalises,
                        const StopToken &stop) {
  size_t n_warps = 0;
  uint64_t generation = 0;
  {
    const std::lock_guard lock(mutex_);
    n_warps = n_warps_;
    generation = warp_generation_;
  }
  if (n_warps == 0) return;
  std::vector<int64_t> sums(WarpScorer::kWarps);
  const size_t stride = (WarpScorer::kWarps - 1) / (n_warps - 1);
  const size_t n_rows = model_->warps().score(samples, states, normalises, stride, model_->posteriors, stop, &sums);
  const std::lock_guard lock(mutex_);
  if (generation != warp_generation_) return;  // the methods changed: the sums begin anew
  for (size_t i = 0; i < sums.size(); ++i) warp_sums_[i] += sums[i];
  n_warp_rows_ += n_rows;
}

bool Speaker::is_due() const {
  const std::lock_guard lock(mutex_);
  return estimates_transform_ && n_added_ >= n_due_;
}

Speaker::Said Speaker::said() const {
  const std::lock_guard lock(mutex_);
  return {sample_, warp_, estimates_transform_, n_warp_rows_};
}

// Replaces the transform; returns false if none fits, and keeps the old one.
bool Speaker::estimate(const Said &said, const StopToken &stop) {
  auto estimated = std::make_shared<FeatureTransform>(said.sample.estimate(model_->posteriors, model_->prior, stop));
  if (estimated->n_dims == 0) return false;
  std::shared_ptr<const FeatureTransform> transform = std::move(estimated);
  const std::lock_guard lock(mutex_);
  if (said.warp == warp_) transform_.swap(transform);
  return true;
}

// Returns true if the warp changed. Of equally likely warps, the one nearest 1 is taken.
bool Speaker::choose_warp() {
  float warp = 1;
  {
    const std::lock_guard lock(mutex_);
    if (n_warps_ == 0 || n_warp_rows_ < kLeastSpeakerRows) return false;
    const size_t stride = (WarpScorer::kWarps - 1) / (n_warps_ - 1), middle = WarpScorer::kWarps / 2;
    size_t best = middle;
    for (size_t i = 0; i < WarpScorer::kWarps; i += stride) {
      if (warp_sums_[i] > warp_sums_[best]) best = i;
    }
    warp = static_cast<float>(WarpScorer::warp(best));
    if (warp == warp_) return false;
  }
  set_warp(warp);
  return true;
}

void Speaker::adapt() {
  if (choose_warp()) return;
  const Said said = this->said();
  const size_t n_rows = said.estimates_transform ? said.sample.n_rows() : said.n_warp_rows;
  if (n_rows < kLeastSpeakerRows) {
    fail(ASR_INVALID_STATE,
         "asr_adapt: %zu frames of speech have come to a FINAL as yet, of streams with the speaker's warp and opened since "
         "asr_speaker_set_methods; %zu are needed",
         n_rows, kLeastSpeakerRows);
  }
  if (said.estimates_transform && !estimate(said, {}))
    fail(ASR_INVALID_STATE, "asr_adapt: no transform fits what was said; the one before stays");
}

void Speaker::adapt_if_due(const StopToken &stop) {
  {
    const std::lock_guard lock(mutex_);
    if (n_added_ < n_due_) return;
    n_due_ = n_added_ + n_added_ / 5;
  }
  estimate(said(), stop);
}

}  // namespace asr
