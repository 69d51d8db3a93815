// SPDX-License-Identifier: Apache-2.0
// From what a stream is fed to rows: of features, made on the device if that has the fused step and the stream allows it, else
// by a pipeline here; or the rows that it is fed. One for the whole life of a stream. Used by the engine's thread only.
#pragma once

#include <optional>
#include <vector>

#include "core/engine/loaded_model.h"
#include "core/engine/stream_options.h"
#include "core/feature/feature_pipeline.h"
#include "core/feature/signal_feed.h"

namespace asr {

class RowSource {
 public:
  // `options` must outlive the source. `warp`: of the frequency axis. `start`: what live normalisation knows already, nullptr
  // if nothing.
  RowSource(const LoadedModel &model, const StreamOptions &options, float warp, const LiveMeanState *start);

  // Input: samples, or whole rows where the stream is fed rows.
  size_t n_wanted() const;  // values to add before the next window; 0 = enough is waiting
  void add(const float *values, size_t n);
  void end();

  // Frames whose cepstra the device can compute now (at most a window); extracted() after it did.
  bool next_extract(asr_extract_job *job);
  void extracted();
  // After the frames extracted so far; nullptr where normalisation keeps none.
  const LiveMeanState *live_state() const { return pipeline_ ? pipeline_->live_state() : nullptr; }

  // Describes the frames that the device makes rows of in its next step; the job has no signal if rows are made here, or fed.
  void next_frames(asr_step_job *job);

  // The next rows, at most a window's. take() writes them to *rows, unless the device makes them.
  size_t n_ready() const;
  size_t row_length() const { return row_length_; }
  bool is_fed_loglikes() const { return options_.input == ASR_INPUT_LOGLIKES; }
  void take(size_t n, std::vector<float> *rows);
  void release_waiting();  // makes rows of frames that wait for their mean, as far as features need no later ones
  bool has_ended() const { return ended_; }
  bool is_dry() const;     // no row is left, nor will one come before more is added
  bool all_taken() const;  // ended, and no row is left or will come

 private:
  void begin_features(float warp, const LiveMeanState *start);
  size_t n_waiting() const;

  const LoadedModel &model_;
  const StreamOptions &options_;
  const size_t row_length_;
  std::optional<FeaturePipeline> pipeline_;  // of audio whose rows are made here
  std::optional<SignalFeed> feed_;           // of audio whose rows the device makes
  BackendPointer<asr_backend_signal> signal_;
  std::vector<float> rows_;  // fed rows not yet taken
  bool ended_ = false;
};

}  // namespace asr
