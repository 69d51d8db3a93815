// SPDX-License-Identifier: Apache-2.0
// SpeakerTrack connects a stream to its speaker. It transforms the rows of the current utterance and keeps them with their
// sound. Once the result has given their states, it passes them to the speaker. Stream has one, used by the thread of Stream's
// decoding.
#pragma once

#include <memory>
#include <vector>

#include "core/base/limits.h"
#include "core/base/stop.h"
#include "core/engine/speaker.h"
#include "core/rows/fused_models.h"
#include "core/stream/event.h"

namespace asr {

class SpeakerTrack {
 public:
  // warp: of the stream's frequency axis. learns: whether the speaker learns from the rows. shift_samples: of a frame, 0 where
  // rows are fed. normalises: whether rows lose a mean.
  SpeakerTrack(std::shared_ptr<Speaker> speaker, float warp, bool learns, uint32_t shift_samples, bool normalises);

  bool uses_means() const { return uses_means_; }  // utterances may have a model of the speaker's

  void begin_utterance(const LoadedModel &place);  // uses the speaker's current transform and model
  void add_sound(const float *samples, size_t n);
  void forget_before(uint64_t frame);  // before the utterance that begins there
  void begin_again(uint64_t frame);    // beginning of the sound that comes again

  // Keeps the utterance's next rows. Returns them transformed, valid until the next call or as long as `rows`.
  const float *take(const float *rows, size_t n);

  // For rows that the device makes and transforms. transform() is the utterance's, or nullptr. keeps_rows() is true
  // while rows are still kept. keep() takes the next ones, untransformed.
  const std::shared_ptr<const FeatureTransform> &transform() const { return transform_; }
  bool keeps_rows() const { return learns_ && n_kept() < kMaxUtteranceRows; }
  void keep(const float *rows, size_t n);

  // Returns the model that scores the utterance's rows; nullptr: the engine's own.
  const std::shared_ptr<FusedModels> &model() const { return model_; }

  // states: state of each row, or kNoState. Probably wrong results are not learned.
  void learn(const asr_event &final, uint64_t first_frame, const std::vector<uint32_t> &states, const StopToken &stop);

  bool is_due() const { return speaker_->is_due(); }
  void adapt_if_due(const StopToken &stop) { speaker_->adapt_if_due(stop); }

 private:
  size_t n_kept() const { return rows_.size() / speaker_->n_dims(); }
  void learn_rows(const std::vector<uint32_t> &states);
  void learn_warp(uint64_t first_frame, const std::vector<uint32_t> &states, const StopToken &stop);

  const std::shared_ptr<Speaker> speaker_;
  const float warp_;
  const bool learns_;
  const uint32_t shift_samples_;
  std::shared_ptr<const FeatureTransform> transform_;  // transform of the utterance; nullptr: none
  std::shared_ptr<FusedModels> model_;                 // model of the utterance
  std::vector<float> rows_;                            // its rows, untransformed, as many as a speaker keeps
  std::vector<float> transformed_;                     // rows of the last take()
  const bool normalises_, keeps_sound_, uses_means_;
  std::vector<float> sound_;        // consecutive samples of the utterance, as many as are worth looking at
  std::vector<float> newer_sound_;  // the newest samples after these, of which the next utterance may be
  uint64_t sound_begin_ = 0;        // the first of sound_, counted as n_samples_; a multiple of shift_samples_
  uint64_t n_samples_ = 0;          // samples of the stream, so far
};

}  // namespace asr
