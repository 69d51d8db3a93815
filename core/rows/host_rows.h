// SPDX-License-Identifier: Apache-2.0
// Rows that come to the device from here: FedRows passes on those that a stream is fed, PipelineRows makes them of audio, from
// cepstra of the device. Made by make_row_source().
#pragma once

#include <vector>

#include "core/feature/feature_pipeline.h"
#include "core/rows/row_source.h"
#include "core/rows/token_rows.h"

namespace asr {

// Rows of features, or of log-likelihoods.
class FedRows final : public RowSource {
 public:
  FedRows(const LoadedModel &model, const StreamOptions &options, SpeakerTrack *speaker);

  void add(const float *values, size_t n) override;
  std::shared_ptr<const FrameMap> frame_map() const override { return tokens_ ? tokens_->frame_map() : nullptr; }
  WindowRows::Place take(size_t n, WindowRows *window) override;
  bool drop(size_t n, WindowRows *window) override;
  const float *rows(size_t) const override { return rows_.data(); }

 private:
  size_t n_waiting() const override { return rows_.size() / row_length_; }
  bool is_done() const override { return rows_.empty(); }

  const size_t values_per_frame_, row_length_;  // what is fed, and what it becomes
  const bool are_loglikes_;
  const std::unique_ptr<TokenRows> tokens_;  // nullptr: the rows stay as they are
  SpeakerTrack *const speaker_;
  std::vector<float> rows_;  // not yet taken
};

// Streams that fuse models have a pipeline for each front end, in lockstep: a row is ready when all of them have theirs.
class PipelineRows final : public RowSource {
 public:
  PipelineRows(const LoadedModel &model, const StreamOptions &options, float warp, const MeanState *start,
               SpeakerTrack *speaker);

  void add(const float *values, size_t n) override;
  bool next_extract(size_t front_end, asr_extract_job *job) override;
  void extracted(size_t front_end) override;
  bool get_state(MeanState *state) const override;
  WindowRows::Place take(size_t n, WindowRows *window) override;
  bool drop(size_t n, WindowRows *window) override;
  const float *rows(size_t front_end) const override { return pipelines_[front_end]->rows(); }
  void release_waiting() override;

 private:
  void finish() override;
  size_t n_waiting() const override;
  bool has_pending_frames() const override;
  bool is_done() const override;

  const uint32_t window_frames_;
  SpeakerTrack *const speaker_;
  std::vector<std::unique_ptr<FeaturePipeline>> pipelines_;
};

// The rows of another source on the host, some of which may be taken twice.
class RewoundRows final : public RowSource {
 public:
  RewoundRows(std::unique_ptr<RowSource> source, const LoadedModel &model, const StreamOptions &options);

  void add(const float *values, size_t n) override { source_->add(values, n); }
  bool next_extract(size_t front_end, asr_extract_job *job) override { return source_->next_extract(front_end, job); }
  void extracted(size_t front_end) override { source_->extracted(front_end); }
  bool get_state(MeanState *state) const override { return source_->get_state(state); }
  void begin_utterance() override;
  size_t next_frames() override { return source_->next_frames(); }
  WindowRows::Place take(size_t n, WindowRows *window) override;
  bool drop(size_t n, WindowRows *window) override;
  const float *rows(size_t front_end) const override { return again_.empty() ? source_->rows(front_end) : again_.data(); }
  void keep_taken() override { keeps_ = true; }
  size_t n_kept() const override { return kept_.size() / row_length_; }
  void rewind(size_t n) override;
  void release_waiting() override { source_->release_waiting(); }

 private:
  void finish() override { source_->end(); }
  size_t n_waiting() const override { return again_.empty() ? source_->n_ready() : again_.size() / row_length_; }
  bool has_pending_frames() const override { return source_->n_ready() == 0 && !source_->is_dry(); }
  bool is_done() const override { return again_.empty() && source_->all_taken(); }

  const std::unique_ptr<RowSource> source_;
  const size_t row_length_;
  const bool are_loglikes_;
  bool keeps_ = false;
  std::vector<float> kept_;   // rows that were taken
  std::vector<float> again_;  // rows that come before those of the source
};

}  // namespace asr
