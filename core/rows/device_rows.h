// SPDX-License-Identifier: Apache-2.0
// Rows that the device makes, in the fused step that scores them (core/backend/asr_backend_signals.h). Made by
// make_row_source().
#pragma once

#include <memory>
#include <vector>

#include "core/adapt/feature_transform.h"
#include "core/feature/signal_feed.h"
#include "core/rows/host_rows.h"
#include "core/rows/row_source.h"

namespace asr {

class DeviceRows final : public RowSource {
 public:
  // Returns whether the device can make the stream's rows, as long as it has no more than max_frames().
  static bool suit(const LoadedModel &model, const StreamOptions &options);
  // Returns the maximum number of frames of a stream: SIZE_MAX unless it is normalised as a whole. For that the device must
  // have memory for so many, else the constructor throws ASR_OUT_OF_MEMORY.
  static size_t max_frames(const LoadedModel &model, const StreamOptions &options);

  DeviceRows(const LoadedModel &model, const StreamOptions &options, float warp, SpeakerTrack *speaker);

  void add(const float *values, size_t n) override;
  std::unique_ptr<RowSource> replacement() override;
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
  const StreamOptions &options_;
  const float warp_;
  const size_t max_frames_;
  SpeakerTrack *const speaker_;                        // nullptr: none
  std::shared_ptr<const FeatureTransform> transform_;  // the signal's present transform; nullptr: none
  BackendPointer<asr_backend_signal> signal_;
  SignalFeed feed_;
  asr_step_job job_{};          // job of next_frames()
  std::vector<float> samples_;  // all so far, if max_frames_ limits them: replacement() makes the rows of these
};

}  // namespace asr
