// SPDX-License-Identifier: Apache-2.0
#include "core/rows/window_rows.h"

#include <algorithm>

#include "core/backend/asr_backend_given.h"
#include "core/base/error.h"
#include "core/rows/row_source.h"
#include "core/rows/speaker_track.h"

namespace asr {

WindowRows::WindowRows(const LoadedModel &model, uint32_t buffer) : model_(model), buffer_(buffer) {
  steps_.reserve(model.options().max_lanes);
  returns_.reserve(model.options().max_lanes);
}

void WindowRows::clear() {
  features_.clear();
  loglikes_.clear();
  fused_.clear();
  steps_.clear();
  returns_.clear();
  given_.clear();
  n_rows_ = 0;
}

// Rows count once they are appended, so that comes last.
WindowRows::Place WindowRows::add_features(const float *rows, size_t n, SpeakerTrack *speaker) {
  if (model_.is_split()) scores_.resize(std::max(scores_.size(), (n_rows_ + n) * model_.n_states()));
  if (speaker != nullptr) {
    rows = speaker->take(rows, n);
    if (speaker->model()) return add_for_host(speaker->model(), rows, n);
  }
  features_.insert(features_.end(), rows, rows + n * model_.n_dims());
  asr_step_job job{};
  job.n_rows = static_cast<uint32_t>(n);
  return add_step(job);
}

// The search takes rows of the device from the engine's own model only, so the host gets those of a speaker's.
WindowRows::Place WindowRows::add_for_host(std::shared_ptr<FusedModels> model, const float *rows, size_t n) {
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

WindowRows::Place WindowRows::add_step(asr_step_job job, bool returns_rows) noexcept {
  job.first_row = n_rows_;
  if (job.n_rows > 0 || job.n_frames > 0) {
    steps_.push_back(job);
    returns_.push_back(returns_rows && job.n_rows > 0);
  }
  n_rows_ += job.n_rows;
  return {model_.is_split() ? &scores_ : nullptr, job.first_row, returns_rows && job.n_rows > 0};
}

// Rows that a failure leaves behind belong to no stream.
WindowRows::Place WindowRows::add_fused(std::shared_ptr<FusedModels> models, const RowSource &source, size_t n) {
  if (FusedWindow::suits_device(*models, model_)) {
    const float *const own = source.rows(models->front_end_of(model_.acoustic()));
    features_.reserve(features_.size() + n * model_.n_dims());
    if (n > 0) fused_.add_on_device(std::move(models), source, n, n_rows_, model_);
    return add_features(own, n, nullptr);
  }
  return add_for_host(std::move(models), source, n);
}

WindowRows::Place WindowRows::add_for_host(std::shared_ptr<FusedModels> models, const RowSource &source, size_t n) {
  const size_t first_row = loglikes_.size() / model_.n_states();
  loglikes_.resize(loglikes_.size() + n * model_.n_states());
  fused_.add(std::move(models), source, n, first_row, model_.n_states());
  return {&loglikes_, first_row};
}

WindowRows::Place WindowRows::add_given(const std::shared_ptr<asr_backend_given_map> &map, std::vector<GivenSpan> spans) {
  const size_t first_row = n_rows_;
  given_.reserve(given_.size() + spans.size());
  for (GivenSpan &span : spans) {
    const auto n = static_cast<uint32_t>(span.n_rows);
    given_.push_back({map, std::move(span), n_rows_});
    n_rows_ += n;
  }
  return {nullptr, first_row};
}

// Rows that are checked by check_given() later; a failure before that leaves them without a fault.
void WindowRows::read_given() {
  std::vector<asr_given_job> jobs;
  jobs.reserve(given_.size());
  for (const Given &given : given_) {
    const auto n = static_cast<uint32_t>(given.span.n_rows);
    jobs.push_back({given.map.get(), &given.span.piece->rows, given.span.first_row, given.first_row, n});
  }
  if (faults_.size() < n_rows_) faults_.resize(n_rows_);
  std::fill_n(faults_.begin(), n_rows_, 0);
  model_.device().check(model_.given()->read(model_.device().get(), model_.acoustic(), jobs.data(), jobs.size(), n_rows_,
                                             buffer_, faults_.data()));
}

void WindowRows::check_given(const Place &place, size_t n) const {
  if (given_.empty() || place.loglikes != nullptr) return;
  const auto begin = faults_.begin() + static_cast<ptrdiff_t>(place.first_row), end = begin + static_cast<ptrdiff_t>(n);
  const auto fault = std::find_if(begin, end, [](uint32_t value) { return value != 0; });
  if (fault == end) return;
  const auto row = static_cast<uint32_t>(fault - faults_.begin());
  const Given &given = *std::find_if(given_.rbegin(), given_.rend(), [&](const Given &g) { return g.first_row <= row; });
  const uint64_t frame = given.span.piece->first_frame + given.span.first_row + (row - given.first_row);
  const auto number = static_cast<unsigned long long>(frame);
  if (*fault == ASR_GIVEN_ALL_CLOSED) {
    fail(ASR_BAD_AUDIO, "asr_feed_device: frame %llu: all log-likelihoods are -inf; some state must be possible in every frame",
         number);
  }
  fail(ASR_BAD_AUDIO, "asr_feed_device: frame %llu: value %u is not a number, or infinite", number, *fault - 1);
}

void WindowRows::score() {
  if (!given_.empty()) read_given();
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
  const asr_backend_signals_api &signals = *model_.signals();
  const size_t n = steps_.size();
  if (float *const *const returned = reserve_returned()) {
    model_.device().check(
        signals.step_with_rows(device, model_.features(), model_.acoustic(), steps_.data(), returned, n, buffer_));
  } else {
    model_.device().check(signals.step(device, model_.features(), model_.acoustic(), steps_.data(), n, buffer_));
  }
}

// Returns the destinations of the steps' rows; NULL if none come to the host.
float *const *WindowRows::reserve_returned() {
  if (std::find(returns_.begin(), returns_.end(), true) == returns_.end()) return nullptr;
  returned_.resize(std::max(returned_.size(), size_t{n_rows_} * model_.n_dims()));
  returned_to_.assign(steps_.size(), nullptr);
  for (size_t i = 0; i < steps_.size(); ++i) {
    if (returns_[i]) returned_to_[i] = returned_.data() + size_t{steps_[i].first_row} * model_.n_dims();
  }
  return returned_to_.data();
}

const float *WindowRows::returned_rows(const Place &place) const {
  return place.returns_rows ? returned_.data() + place.first_row * model_.n_dims() : nullptr;
}

void WindowRows::combine(size_t fused_part) noexcept { fused_.combine(fused_part, model_.n_states(), loglikes_.data()); }

void WindowRows::locate(const Place &place, asr_advance_job *job) const {
  job->buffer = buffer_;
  if (place.loglikes != nullptr) {
    job->loglikes = loglikes(place);
  } else {
    job->first_row = static_cast<uint32_t>(place.first_row);
  }
}

}  // namespace asr
