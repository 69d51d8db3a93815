// SPDX-License-Identifier: Apache-2.0
// SpeakerModel is a speaker's acoustic model: the engine's own with other means. AdaptedModels holds such models on one device,
// for the utterances that use them; each Scheduler has one. A model goes when neither a speaker nor a stream has it.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "core/adapt/mllr.h"
#include "core/engine/retired.h"
#include "core/rows/fused_models.h"

namespace asr {

class SpeakerModel {
 public:
  // base: the model of the means, whose other arrays stay in use.
  SpeakerModel(std::shared_ptr<const AcousticModel> base, AdaptedMeans means)
      : base_(std::move(base)), means_(std::move(means)) {}
  ~SpeakerModel();
  SpeakerModel(const SpeakerModel &) = delete;
  SpeakerModel &operator=(const SpeakerModel &) = delete;

  const AcousticModel &base() const { return *base_; }
  const AdaptedMeans &means() const { return means_; }

  // Bell notifies the engine's thread that a model was freed. The engine may be gone by then.
  class Bell {
   public:
    explicit Bell(std::function<void()> ring) : ring_(std::move(ring)) {}
    void ring() noexcept;
    void silence() noexcept;  // later rings have no effect; returns after current ones

   private:
    std::mutex mutex_;
    std::function<void()> ring_;
  };
  void ring_at_end(std::shared_ptr<Bell> bell) const;  // any thread

 private:
  const std::shared_ptr<const AcousticModel> base_;
  const AdaptedMeans means_;
  mutable std::mutex mutex_;                          // guards the member below
  mutable std::vector<std::shared_ptr<Bell>> bells_;  // one of each engine that has loaded the model
};

class AdaptedModels {
 public:
  // wake: makes the engine's thread call free_unused() soon.
  AdaptedModels(const LoadedModel &place, Retired *retired, std::function<void()> wake);
  ~AdaptedModels() { bell_->silence(); }
  AdaptedModels(const AdaptedModels &) = delete;
  AdaptedModels &operator=(const AdaptedModels &) = delete;

  // Returns the model for one stream; the first call loads it. nullptr for nullptr.
  std::shared_ptr<FusedModels> get(const std::shared_ptr<const SpeakerModel> &model);
  void free_unused() noexcept;

 private:
  struct Copy {
    std::weak_ptr<const SpeakerModel> model;
    std::shared_ptr<asr_backend_acoustic> acoustic;
  };

  const LoadedModel &place_;
  Retired *const retired_;
  const std::shared_ptr<SpeakerModel::Bell> bell_;
  std::vector<Copy> copies_;
};

}  // namespace asr
