// SPDX-License-Identifier: Apache-2.0
#include "core/rows/adapted_models.h"

#include <algorithm>
#include <utility>

namespace asr {

void SpeakerModel::Bell::ring() noexcept {
  const std::lock_guard lock(mutex_);
  if (ring_) ring_();
}

void SpeakerModel::Bell::silence() noexcept {
  const std::lock_guard lock(mutex_);
  ring_ = nullptr;
}

// The models on devices expire before this rings.
SpeakerModel::~SpeakerModel() {
  for (const std::shared_ptr<Bell> &bell : bells_) bell->ring();
}

void SpeakerModel::ring_at_end(std::shared_ptr<Bell> bell) const {
  const std::lock_guard lock(mutex_);
  if (std::find(bells_.begin(), bells_.end(), bell) == bells_.end()) bells_.push_back(std::move(bell));
}

AdaptedModels::AdaptedModels(const LoadedModel &place, Retired *retired, std::function<void()> wake)
    : place_(place), retired_(retired), bell_(std::make_shared<SpeakerModel::Bell>(std::move(wake))) {}

std::shared_ptr<FusedModels> AdaptedModels::get(const std::shared_ptr<const SpeakerModel> &model) {
  if (!model) return nullptr;
  auto found = std::find_if(copies_.begin(), copies_.end(), [&](const Copy &copy) { return copy.model.lock() == model; });
  if (found == copies_.end()) {
    model->ring_at_end(bell_);
    const AcousticView view(model->base(), model->means().means);
    found = copies_.insert(found, {model, retired_->hold(load_acoustic(place_.device(), view), nullptr)});
  }
  return std::make_shared<FusedModels>(found->acoustic, place_);
}

void AdaptedModels::free_unused() noexcept {
  const auto is_unused = [](const Copy &copy) { return copy.model.expired(); };
  copies_.erase(std::remove_if(copies_.begin(), copies_.end(), is_unused), copies_.end());
}

}  // namespace asr
