// SPDX-License-Identifier: Apache-2.0
// WholeRows has the device make the rows of a stream that is normalised as a whole. The device must have memory for it,
// and the stream must be short enough. It keeps the samples, from which the host makes the rows once the stream has
// become too long. Made by make_row_source().
#pragma once

#include <optional>
#include <vector>

#include "core/rows/device_rows.h"
#include "core/rows/pipeline_rows.h"

namespace asr {

class WholeRows final : public RowSource {
 public:
  WholeRows(const LoadedModel &model, const StreamOptions &options, float warp, SpeakerTrack *speaker);

  void add(const float *values, size_t n) override;
  bool next_extract(size_t front_end, asr_extract_job *job) override;
  const LiveMeanState *extracted(size_t front_end) override { return source().extracted(front_end); }
  void begin_utterance() override { source().begin_utterance(); }
  size_t next_frames() override { return source().next_frames(); }
  WindowRows::Place take(size_t n, WindowRows *window) override { return source().take(n, window); }
  bool drop(size_t n, WindowRows *window) override { return source().drop(n, window); }
  const float *rows(size_t front_end) const override { return source().rows(front_end); }

 private:
  void finish() override { source().end(); }
  size_t n_waiting() const override { return source().n_ready(); }
  bool has_pending_frames() const override { return source().n_ready() == 0 && !source().is_dry(); }
  bool is_done() const override { return source().all_taken(); }
  bool is_too_long() const { return on_device_ && on_device_->n_frames() > most_frames_; }

  RowSource &source() { return on_device_ ? static_cast<RowSource &>(*on_device_) : *on_host_; }
  const RowSource &source() const { return on_device_ ? static_cast<const RowSource &>(*on_device_) : *on_host_; }

  const LoadedModel &model_;
  const StreamOptions &options_;
  const float warp_;
  SpeakerTrack *const speaker_;
  const size_t most_frames_;
  std::optional<DeviceRows> on_device_;
  std::optional<PipelineRows> on_host_;  // instead
  std::vector<float> samples_;           // all so far, while the device makes the rows
};

}  // namespace asr
