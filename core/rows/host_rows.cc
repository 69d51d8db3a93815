// SPDX-License-Identifier: Apache-2.0
#include "core/rows/host_rows.h"

#include <algorithm>

namespace asr {

FedRows::FedRows(const LoadedModel &model, const StreamOptions &options, SpeakerTrack *speaker)
    : RowSource(options.values_per_frame(model), model.options().window_frames),
      values_per_frame_(options.values_per_frame(model)),
      row_length_(options.input == ASR_INPUT_LOGLIKES ? model.n_states() : model.n_dims()),
      are_loglikes_(options.input == ASR_INPUT_LOGLIKES),
      tokens_(TokenRows::make(model, options)),
      speaker_(speaker) {}

void FedRows::add(const float *values, size_t n) {
  if (tokens_) {
    tokens_->append(values, n / values_per_frame_, &rows_);
  } else {
    rows_.insert(rows_.end(), values, values + n);
  }
}

WindowRows::Place FedRows::take(size_t n, WindowRows *window) {
  const WindowRows::Place place =
      are_loglikes_ ? window->add_loglikes(rows_.data(), n) : window->add_features(rows_.data(), n, speaker_);
  drop(n, window);
  return place;
}

bool FedRows::drop(size_t n, WindowRows *) {
  rows_.erase(rows_.begin(), rows_.begin() + static_cast<ptrdiff_t>(n * row_length_));
  return false;
}

PipelineRows::PipelineRows(const LoadedModel &model, const StreamOptions &options, float warp, const MeanState *start,
                           SpeakerTrack *speaker)
    : RowSource(options.values_per_frame(model), model.options().window_frames),
      window_frames_(model.options().window_frames),
      speaker_(speaker) {
  const auto begin = [&](const FeatureTables &tables) {
    const uint32_t bank = tables.warp_index(static_cast<double>(warp));
    pipelines_.push_back(std::make_unique<FeaturePipeline>(tables, options.cmn_of(tables.front_end()), bank, start));
  };
  if (options.fusion) {
    for (const auto &front_end : options.fusion->front_ends) begin(front_end ? front_end->tables() : model.tables());
  } else {
    begin(model.tables());
  }
}

void PipelineRows::add(const float *values, size_t n) {
  for (const auto &pipeline : pipelines_) pipeline->add_samples(values, n);
}

void PipelineRows::finish() {
  for (const auto &pipeline : pipelines_) pipeline->finish();
}

bool PipelineRows::next_extract(size_t front_end, asr_extract_job *job) {
  return pipelines_[front_end]->next_extract(job, window_frames_);
}

void PipelineRows::extracted(size_t front_end) { pipelines_[front_end]->extracted(); }

bool PipelineRows::get_state(MeanState *state) const { return pipelines_.size() == 1 && pipelines_[0]->get_state(state); }

WindowRows::Place PipelineRows::take(size_t n, WindowRows *window) {
  const WindowRows::Place place = window->add_features(rows(0), n, speaker_);
  drop(n, window);
  return place;
}

bool PipelineRows::drop(size_t n, WindowRows *) {
  for (const auto &pipeline : pipelines_) pipeline->consume(n);
  return false;
}

void PipelineRows::release_waiting() {
  for (const auto &pipeline : pipelines_) pipeline->release_waiting();
}

size_t PipelineRows::n_waiting() const {
  size_t n = SIZE_MAX;
  for (const auto &pipeline : pipelines_) n = std::min(n, pipeline->ready_rows());
  return n;
}

bool PipelineRows::has_pending_frames() const {
  return std::any_of(pipelines_.begin(), pipelines_.end(), [](const auto &p) { return p->n_pending_frames() > 0; });
}

// One pipeline without rows is enough; rows that others may still have belong to no frame.
bool PipelineRows::is_done() const {
  return std::any_of(pipelines_.begin(), pipelines_.end(), [](const auto &p) { return p->done(); });
}

RewoundRows::RewoundRows(std::unique_ptr<RowSource> source, const LoadedModel &model, const StreamOptions &options)
    : RowSource(options.values_per_frame(model), model.options().window_frames),
      source_(std::move(source)),
      row_length_(options.input == ASR_INPUT_LOGLIKES ? model.n_states() : model.n_dims()),
      are_loglikes_(options.input == ASR_INPUT_LOGLIKES) {}

void RewoundRows::begin_utterance() {
  keeps_ = false;
  kept_.clear();
  source_->begin_utterance();
}

WindowRows::Place RewoundRows::take(size_t n, WindowRows *window) {
  if (keeps_) kept_.insert(kept_.end(), rows(0), rows(0) + n * row_length_);
  if (again_.empty()) return source_->take(n, window);
  const WindowRows::Place place =
      are_loglikes_ ? window->add_loglikes(again_.data(), n) : window->add_features(again_.data(), n, nullptr);
  drop(n, window);
  return place;
}

bool RewoundRows::drop(size_t n, WindowRows *window) {
  if (again_.empty()) return source_->drop(n, window);
  again_.erase(again_.begin(), again_.begin() + static_cast<ptrdiff_t>(n * row_length_));
  return false;
}

void RewoundRows::rewind(size_t n) {
  again_.insert(again_.begin(), kept_.end() - static_cast<ptrdiff_t>(n * row_length_), kept_.end());
  kept_.clear();
}

}  // namespace asr
