// SPDX-License-Identifier: Apache-2.0
// The decoding of one stream's audio: its features, made on the device if that has the fused step and the stream allows it,
// else by a pipeline here; its search channel on the device; and how far each has come. Used by the engine's thread only.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "core/engine/loaded_model.h"
#include "core/engine/results.h"
#include "core/engine/retired_channels.h"
#include "core/engine/stream_options.h"
#include "core/feature/feature_pipeline.h"
#include "core/feature/signal_feed.h"

namespace asr {

class Utterance {
 public:
  // Begins a channel on the device. `options` must outlive the utterance and has no unset fields but cmn.
  Utterance(const LoadedModel &model, const StreamOptions &options, RetiredChannels *retired);

  // Input: samples, or whole rows where the stream is fed rows.
  size_t n_wanted() const;  // values to add before the next window; 0 = enough is waiting
  void add(const float *values, size_t n);
  void end();

  // Frames whose cepstra the device can compute now (at most a window); extracted() after it did.
  bool next_extract(asr_extract_job *job);
  void extracted();

  // Describes the frames that the device makes rows of in its next step; the job has no signal if rows are made here, or fed.
  void next_frames(asr_step_job *job);

  // The rows of the next window: at most a window's frames, and not over the frame of the next partial result. They are written
  // to *rows, unless the device makes them.
  size_t n_ready_rows() const;
  size_t row_length() const { return row_length_; }
  bool is_fed_loglikes() const { return options_.input == ASR_INPUT_LOGLIKES; }
  void take_rows(size_t n, std::vector<float> *rows);
  bool has_ended() const { return ended_; }
  bool all_taken() const;  // ended, and no row is left or will come
  bool at_partial() const { return partial_frames_ > 0 && n_frames_ % partial_frames_ == 0; }

  // Workers that read results keep a share of the channel.
  const std::shared_ptr<asr_backend_channel> &channel() const { return channel_; }

  // A PARTIAL or FINAL event from the channel's best path.
  EventPointer result(asr_event_kind kind, const asr_path &path) const;

  // Counts frames that were advanced; true if a piece of the lattice has settled with them. Only streams with a lattice_beam
  // have pieces.
  bool advanced(size_t n_frames);
  const std::shared_ptr<LatticePieces> &pieces() const { return pieces_; }

 private:
  void begin_features();
  void begin_channel(RetiredChannels *retired);
  size_t n_waiting_rows() const;

  const LoadedModel &model_;
  const StreamOptions &options_;
  const size_t row_length_;
  std::optional<FeaturePipeline> pipeline_;  // of audio whose rows are made here
  std::optional<SignalFeed> feed_;           // of audio whose rows the device makes
  BackendPointer<asr_backend_signal> signal_;
  std::vector<float> rows_;  // fed rows not yet taken
  std::shared_ptr<asr_backend_channel> channel_;
  std::shared_ptr<LatticePieces> pieces_;  // for a lattice
  size_t n_advanced_ = 0;
  uint32_t partial_frames_ = 0, n_frames_ = 0;
  bool ended_ = false;
};

}  // namespace asr
