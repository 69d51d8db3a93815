// SPDX-License-Identifier: Apache-2.0
// DeviceRows has the device make a stream's rows of audio, in the fused step that scores them (core/backend/
// asr_backend_signals.h). Made by make_row_source().
#pragma once

#include <memory>

#include "core/adapt/feature_transform.h"
#include "core/feature/signal_feed.h"
#include "core/rows/row_source.h"

namespace asr {

class DeviceRows final : public RowSource {
 public:
  // Returns whether the device can make the stream's rows, if it has no more than most_frames().
  static bool suit(const LoadedModel &model, const StreamOptions &options);
  // Returns the most frames of a stream; SIZE_MAX: any number.
  static size_t most_frames(const LoadedModel &model, const StreamOptions &options);

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

}  // namespace asr
