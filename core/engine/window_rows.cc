// SPDX-License-Identifier: Apache-2.0
#include "core/engine/window_rows.h"

#include <algorithm>

#include "core/engine/row_source.h"
#include "core/engine/speaker_track.h"

namespace asr {

WindowRows::WindowRows(const LoadedModel &model, uint32_t buffer) : model_(model), buffer_(buffer) {
  steps_.reserve(model.options().max_lanes);
}

void WindowRows::clear() {
  features_.clear();
  loglikes_.clear();
  fused_.clear();
  steps_.clear();
  n_rows_ = 0;
}

// Rows count once they are appended, so that comes last.
WindowRows::Place WindowRows::add_features(const float *rows, size_t n, SpeakerTrack *speaker) {
  if (model_.is_split()) scores_.resize(std::max(scores_.size(), (n_rows_ + n) * model_.n_states()));
  if (speaker != nullptr) {
    rows = speaker->take(rows, n);
    if (speaker->model()) return add_adapted(speaker->model(), rows, n);
  }
  features_.insert(features_.end(), rows, rows + n * model_.n_dims());
  asr_step_job job{};
  job.n_rows = static_cast<uint32_t>(n);
  return add_step(job);
}

// The host gets the scores, as the search takes rows of the device from the engine's own model only.
WindowRows::Place WindowRows::add_adapted(std::shared_ptr<FusedModels> model, const float *rows, size_t n) {
  const size_t first_row = loglikes_.size() / model_.n_states();
  loglikes_.resize(loglikes_.size() + n * model_.n_states());
  if (n > 0) fused_.add(std::move(model), rows, n, first_row, model_.n_states());
  return {&loglikes_, first_row};
}

WindowRows::Place WindowRows::add_loglikes(const float *rows, size_t n) {
  const size_t first_row = loglikes_.size() / model_.n_states();
  loglikes_.insert(loglikes_.end(), rows, rows + n * model_.n_states());
  return {&loglikes_, first_row};
}

WindowRows::Place WindowRows::add_step(asr_step_job job) noexcept {
  job.first_row = n_rows_;
  if (job.n_rows > 0 || job.n_frames > 0) steps_.push_back(job);
  n_rows_ += job.n_rows;
  return {model_.is_split() ? &scores_ : nullptr, job.first_row};
}

// Rows that a failure leaves behind belong to no stream.
WindowRows::Place WindowRows::add_fused(std::shared_ptr<FusedModels> models, const RowSource &source, size_t n) {
  if (FusedWindow::suits_device(*models, model_)) {
    const float *const own = source.rows(models->front_end_of(model_.acoustic()));
    features_.reserve(features_.size() + n * model_.n_dims());
    if (n > 0) fused_.add_on_device(std::move(models), source, n, n_rows_, model_);
    return add_features(own, n, nullptr);
  }
  const size_t first_row = loglikes_.size() / model_.n_states();
  loglikes_.resize(loglikes_.size() + n * model_.n_states());
  fused_.add(std::move(models), source, n, first_row, model_.n_states());
  return {&loglikes_, first_row};
}

void WindowRows::score() {
  if (!fused_.empty()) fused_.score(model_, buffer_);
  if (steps_.empty()) return;
  score_steps();
  fused_.fuse_on_device(model_, buffer_);
}

void WindowRows::score_steps() {
  asr_backend_device *const device = model_.device().get();
  if (model_.signals() == nullptr) {
    float *const loglikes = model_.is_split() ? scores_.data() : nullptr;
    const asr_score_job job{model_.acoustic(), features_.data(), n_rows_, buffer_, loglikes};
    model_.device().check(model_.api()->score(device, &job, 1));
    return;
  }
  const float *rows = features_.data();
  for (asr_step_job &job : steps_) {
    if (job.signal != nullptr) continue;
    job.rows = rows;
    rows += size_t{job.n_rows} * model_.n_dims();
  }
  model_.device().check(
      model_.signals()->step(device, model_.features(), model_.acoustic(), steps_.data(), steps_.size(), buffer_));
}

void WindowRows::combine(size_t fused_part) noexcept { fused_.combine(fused_part, model_.n_states(), loglikes_.data()); }

void WindowRows::locate(const Place &place, asr_advance_job *job) const {
  job->buffer = buffer_;
  if (place.loglikes != nullptr) {
    job->loglikes = place.loglikes->data() + place.first_row * model_.n_states();
  } else {
    job->first_row = static_cast<uint32_t>(place.first_row);
  }
}

}  // namespace asr
