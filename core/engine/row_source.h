// SPDX-License-Identifier: Apache-2.0
// RowSource converts a stream's input to rows. Rows of features are made on the device if that has the fused step and the
// stream allows it, else by a pipeline here. Fed rows are passed on. A stream has one for its whole life. Only the engine's
// thread uses it.
#pragma once

#include <optional>
#include <vector>

#include "core/engine/loaded_model.h"
#include "core/engine/row_pipelines.h"
#include "core/engine/stream_options.h"
#include "core/feature/signal_feed.h"

namespace asr {

class RowSource {
 public:
  // `options` must outlive the source. `warp`: of the frequency axis. `start`: initial state of live normalisation, or nullptr.
  RowSource(const LoadedModel &model, const StreamOptions &options, float warp, const LiveMeanState *start);

  // Input: samples, or whole rows if the stream is fed rows.
  size_t n_wanted() const;  // values to add before the next window; 0 = enough are waiting
  void add(const float *values, size_t n);
  void end();

  // Frames whose cepstra the device can compute now (at most a window) for one of the pipelines; extracted() after it did. A
  // stream has a pipeline for each front end of its models, or none.
  size_t n_pipelines() const { return pipelines_.size(); }
  bool next_extract(size_t pipeline, asr_extract_job *job);
  void extracted(size_t pipeline);
  // After the frames extracted so far; nullptr where normalisation keeps none.
  const LiveMeanState *live_state() const;

  // Describes the frames of which the device makes rows in its next step; the job has no signal if rows are made here, or fed.
  void next_frames(asr_step_job *job);

  // The next rows, at most a window's. rows(): of a pipeline, or those that were fed; not of a device that makes them. take()
  // writes them to *rows and drops them.
  size_t n_ready() const;
  const float *rows(size_t pipeline) const;
  void drop(size_t n);
  void take(size_t n, std::vector<float> *rows);
  // Whether the search reads log-likelihoods of the host: those that are fed, or fused ones.
  bool gives_loglikes() const { return options_.input == ASR_INPUT_LOGLIKES || options_.fusion != nullptr; }
  void release_waiting();  // makes rows of frames that wait for their mean, as far as features need no later ones
  bool has_ended() const { return ended_; }
  bool is_dry() const;     // no row is left, and none will come before more is added
  bool all_taken() const;  // ended, and no row is left or will come

 private:
  void begin_features(float warp, const LiveMeanState *start);
  void begin_pipelines(float warp, const LiveMeanState *start);
  size_t n_waiting() const;

  const LoadedModel &model_;
  const StreamOptions &options_;
  const size_t row_length_;
  RowPipelines pipelines_;          // of audio whose rows are made here
  std::optional<SignalFeed> feed_;  // of audio whose rows the device makes
  BackendPointer<asr_backend_signal> signal_;
  std::vector<float> rows_;  // fed rows not yet taken
  bool ended_ = false;
};

}  // namespace asr
