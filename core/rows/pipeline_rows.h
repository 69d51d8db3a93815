// SPDX-License-Identifier: Apache-2.0
// PipelineRows makes a stream's rows of audio here, from cepstra of the device. Streams that fuse models have a pipeline for
// each front end, in lockstep: a row is ready when all of them have theirs. Made by make_row_source().
#pragma once

#include <vector>

#include "core/feature/feature_pipeline.h"
#include "core/rows/row_source.h"

namespace asr {

class PipelineRows final : public RowSource {
 public:
  PipelineRows(const LoadedModel &model, const StreamOptions &options, float warp, const LiveMeanState *start,
               SpeakerTrack *speaker);

  void add(const float *values, size_t n) override;
  bool next_extract(size_t front_end, asr_extract_job *job) override;
  const LiveMeanState *extracted(size_t front_end) override;
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

}  // namespace asr
