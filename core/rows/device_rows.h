// SPDX-License-Identifier: Apache-2.0
// Rows that the device makes, in the fused step that scores them (core/backend/asr_backend_signals.h): DeviceRows for any
// number of frames, WholeRows for a stream that is normalised as a whole. Made by make_row_source().
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/feature/signal_feed.h"
#include "core/rows/host_rows.h"
#include "core/rows/row_source.h"

namespace asr {

class DeviceRows final : public RowSource {
 public:
  // Returns whether the device can make the stream's rows, if it has no more than max_frames().
  static bool suit(const LoadedModel &model, const StreamOptions &options);
  // Returns the most frames of a stream; SIZE_MAX: any number.
  static size_t max_frames(const LoadedModel &model, const StreamOptions &options);

  DeviceRows(const LoadedModel &model, const StreamOptions &options, float warp, SpeakerTrack *speaker);

  void add(const float *values, size_t n) override { feed_.add_samples(values, n); }
  uint64_t n_frames() const { return feed_.n_frames(); }  // whose samples were added
  void begin_utterance() override;
  size_t next_frames() override;
  WindowRows::Place take(size_t n, WindowRows *window) override;
  bool drop(size_t n, WindowRows *window) override;
  const float *rows(size_t) const override { return nullptr; }

 private:
  WindowRows::Place add_step(size_t n, bool returns_rows, WindowRows *window);
  void finish() override { feed_.finish(); }
  size_t n_waiting() const override { return feed_.ready_rows(); }
  bool has_pending_frames() const override { return feed_.n_pending_frames() > 0; }
  bool is_done() const override { return feed_.done(); }

  const LoadedModel &model_;
  SpeakerTrack *const speaker_;                        // nullptr: none
  std::shared_ptr<const FeatureTransform> transform_;  // the signal's present transform; nullptr: none
  BackendPointer<asr_backend_signal> signal_;
  SignalFeed feed_;
  asr_step_job job_{};  // job of next_frames()
};

// The device must have memory for the stream, which must be short enough. WholeRows keeps the samples, from which the host
// makes the rows once the stream has become too long.
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
  bool is_too_long() const { return on_device_ && on_device_->n_frames() > max_frames_; }

  RowSource &source() { return on_device_ ? static_cast<RowSource &>(*on_device_) : *on_host_; }
  const RowSource &source() const { return on_device_ ? static_cast<const RowSource &>(*on_device_) : *on_host_; }

  const LoadedModel &model_;
  const StreamOptions &options_;
  const float warp_;
  SpeakerTrack *const speaker_;
  const size_t max_frames_;
  std::optional<DeviceRows> on_device_;
  std::optional<PipelineRows> on_host_;  // instead
  std::vector<float> samples_;           // all so far, while the device makes the rows
};

}  // namespace asr
