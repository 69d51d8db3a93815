// SPDX-License-Identifier: Apache-2.0
#include "core/engine/speaker.h"

#include <algorithm>
#include <utility>

#include "core/base/error.h"
#include "core/base/log.h"

namespace asr {
namespace {

AcousticModel read_for_estimation(const Bundle &bundle) {
  check_has_gaussians(bundle);
  const std::string path = bundle.file("acoustic.bin");
  check_bundle_file(bundle, "acoustic.bin");
  AcousticModel model = read_acoustic_model(path);
  if (model.n_dims > kMaxSpeakerDims) {
    fail(ASR_UNSUPPORTED, "asr_speaker_new: %s has rows of %u values; transforms are estimated for up to %u", path.c_str(),
         model.n_dims, kMaxSpeakerDims);
  }
  return model;
}

}  // namespace

EstimationModel::EstimationModel(const LoadedModel &place)
    : model(read_for_estimation(place.bundle())),
      posteriors(model),
      prior(posteriors),
      checksum(place.bundle().files.at("acoustic.bin").checksum),
      front_end(place.bundle().front_end),
      device_(place.device().entry()),
      options_(place.options()) {}

const WarpScorer &EstimationModel::warps() const {
  std::string why_cpu;  // told without the lock
  {
    const std::lock_guard lock(mutex_);
    if (warps_) return *warps_;
    why_cpu = warps_.emplace(front_end, model, device_, options_).why_cpu();
  }
  if (!why_cpu.empty()) log(ASR_LOG_INFO, "%s; the CPU searches for warps", why_cpu.c_str());
  return *warps_;
}

std::shared_ptr<asr_backend_acoustic> SpeakerModel::on(const LoadedModel &place) const {
  return copies_.on(place.objects(), [&] {
    return place.objects().hold(load_acoustic(place.device(), AcousticView(*base_, means_.means)), nullptr);
  });
}

void Speaker::set_methods(bool fmllr, bool mllr, size_t n_warps) {
  if (n_warps > 0) model_->warps();
  const std::lock_guard lock(mutex_);
  estimates_transform_ = fmllr;
  estimates_means_ = mllr;
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

bool Speaker::adapts_means() const {
  const std::lock_guard lock(mutex_);
  return estimates_means_ || adaptation_.model != nullptr;
}

float Speaker::warp() const {
  const std::lock_guard lock(mutex_);
  return warp_;
}

void Speaker::set_warp(float warp) {
  if (warp != 1) require_warps(model_->front_end);
  Adaptation discarded;  // goes after the lock
  const std::lock_guard lock(mutex_);
  if (warp == warp_) return;
  warp_ = warp;
  sample_ = SpeechSample(kMaxSpeakerRows);
  n_added_ = 0;
  n_due_ = kMinSpeakerRows;
  std::swap(adaptation_, discarded);
}

Speaker::Adaptation Speaker::adaptation(float warp) const {
  const std::lock_guard lock(mutex_);
  return warp == warp_ ? adaptation_ : Adaptation();
}

void Speaker::set_transform(std::shared_ptr<const FeatureTransform> transform) {
  Adaptation now{std::move(transform), nullptr};
  const std::lock_guard lock(mutex_);
  std::swap(adaptation_, now);
}

void Speaker::set_mean_transform(FeatureTransform transform) {
  std::shared_ptr<const SpeakerModel> model;
  if (transform.n_dims > 0) {
    AdaptedMeans means(model_->model, std::move(transform));
    if (!are_usual(means)) {
      fail(ASR_INVALID_ARGUMENT,
           "asr_speaker_set_mean_transform: the values move a mean beyond a thousand times the range of the model's rows");
    }
    model = new_model(std::move(means));
  }
  const std::lock_guard lock(mutex_);
  adaptation_.model.swap(model);
}

std::shared_ptr<const SpeakerModel> Speaker::new_model(AdaptedMeans means) const {
  return std::make_shared<const SpeakerModel>(std::shared_ptr<const AcousticModel>(model_, &model_->model), std::move(means));
}

// Returns true for rows within a thousand times the range of the model's rows.
bool Speaker::is_usual(const float *row) const {
  for (uint32_t d = 0; d < n_dims(); ++d) {
    const double square = static_cast<double>(row[d]) * static_cast<double>(row[d]);
    if (square > 1e6 * model_->prior.moments[size_t{d} * (d + 3) / 2]) return false;
  }
  return true;
}

// Returns true if no mean moved beyond a thousand times the range of the model's rows, or a thousand times as far out.
bool Speaker::are_usual(const AdaptedMeans &means) const {
  const AcousticModel &model = model_->model;
  for (const asr_gmm_codebook &codebook : model.codebooks) {
    const std::vector<uint32_t> &dims = model.streams[codebook.stream].dims;
    for (size_t i = 0; i < codebook.n_gaussians * dims.size(); ++i) {
      const size_t d = dims[i % dims.size()];
      const auto before = static_cast<double>(model.means[codebook.first_mean + i]);
      const auto now = static_cast<double>(means.means[codebook.first_mean + i]);
      if (now * now > 1e6 * std::max(before * before, model_->prior.moments[d * (d + 3) / 2])) return false;
    }
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
  const size_t n_rows = model_->warps().score(samples, states, normalises, stride, stop, &sums);
  const std::lock_guard lock(mutex_);
  if (generation != warp_generation_) return;  // the methods changed: the sums begin anew
  for (size_t i = 0; i < sums.size(); ++i) warp_sums_[i] += sums[i];
  n_warp_rows_ += n_rows;
}

bool Speaker::is_due() const {
  const std::lock_guard lock(mutex_);
  return (estimates_transform_ || estimates_means_) && n_added_ >= n_due_;
}

Speaker::Said Speaker::said() const {
  const std::lock_guard lock(mutex_);
  return {sample_, warp_, estimates_transform_, estimates_means_, n_warp_rows_, adaptation_.transform};
}

// Replaces the transforms; returns false if none fits, and keeps the old ones. The means are of rows under the transform of
// rows: a new one of these discards them, unless they are estimated, too.
bool Speaker::estimate(const Said &said, const StopToken &stop) {
  Adaptation estimated{said.transform, nullptr};
  if (said.estimates_transform) {
    FeatureTransform transform = said.sample.estimate(model_->posteriors, model_->prior, stop);
    if (transform.n_dims == 0) return false;
    estimated.transform = std::make_shared<const FeatureTransform>(std::move(transform));
  }
  if (said.estimates_means) {
    const FeatureTransform of_rows = estimated.transform ? *estimated.transform : FeatureTransform();
    AdaptedMeans means = said.sample.estimate_means(model_->posteriors, model_->prior, of_rows, stop);
    if (means.transform.n_dims == 0) return false;
    estimated.model = new_model(std::move(means));
  }
  const std::lock_guard lock(mutex_);
  const bool suits = said.warp == warp_ && (said.estimates_transform || said.transform == adaptation_.transform);
  if (suits) std::swap(adaptation_, estimated);
  return true;
}

// Returns true if the warp changed. Among equally likely warps, the one nearest 1 is taken.
bool Speaker::choose_warp() {
  float warp = 1;
  {
    const std::lock_guard lock(mutex_);
    if (n_warps_ == 0 || n_warp_rows_ < kMinSpeakerRows) return false;
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
  const size_t n_rows = said.estimates() ? said.sample.n_rows() : said.n_warp_rows;
  if (n_rows < kMinSpeakerRows) {
    fail(ASR_INVALID_STATE,
         "asr_adapt: %zu frames of speech have come to a FINAL as yet, of streams with the speaker's warp and opened since "
         "asr_speaker_set_methods; %zu are needed",
         n_rows, kMinSpeakerRows);
  }
  if (said.estimates() && !estimate(said, {}))
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
