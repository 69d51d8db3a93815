// SPDX-License-Identifier: Apache-2.0
#include "core/feature/live_mean.h"

#include <algorithm>
#include <cmath>

namespace asr {
namespace {

// Frames above both limits are speech; the mean of an utterance lies below its peaks. All in dB.
constexpr double kSpeechBelowPeakDb = 22, kSpeechAboveFloorDb = 13, kMeanBelowPeakDb = 16;
constexpr double kMaxShiftDb = 24;  // largest change of the prior's level
// A louder frame moves the peak up by a fraction of the difference; other frames lower it. Every frame raises the floor, or
// lowers it to the frame's level.
constexpr double kPeakRise = 0.3, kPeakFallDb = 0.005, kFloorRiseDb = 0.01;
constexpr double kLevelFrames = 20;                           // frames of speech after which they alone determine the level
constexpr double kPriorFrames = 10, kPriorC0Frames = 20;      // weight of the prior
constexpr double kFreeSilence = 10, kSilencePerSpeech = 0.5;  // largest number of silent frames that count
constexpr double kMinMemoryFrames = 100, kCarriedFrames = 300;

// Returns the sum over j of row 0 of the cosine transform, F7.
double c0_of_ones(const FrontEnd &f) {
  const double n = f.n_mel;
  switch (f.dct) {
    case DctKind::kHtk:
      return std::sqrt(2 * n);
    case DctKind::kSphinxLegacy:
      return (n - 0.5) / n;
    default:
      return std::sqrt(n);
  }
}

double c0_per_db(const FrontEnd &f) {
  const double nepers = std::log(10) / 10;  // 1 dB of energy in nepers
  if (f.use_energy) return nepers;
  const double per_neper = f.lpc_order > 0 ? f.compression : c0_of_ones(f);
  return nepers * per_neper * f.cepstral_scale * (f.magnitude ? 0.5 : 1);
}

// Scales a sum down to its maximum of frames, so that old frames fade.
void fade(double max_frames, std::vector<double> *sum, double *n) {
  if (*n <= max_frames) return;
  for (double &value : *sum) value *= max_frames / *n;
  *n = max_frames;
}

}  // namespace

LiveMean::LiveMean(const FrontEnd &f)
    : n_ceps_(f.n_ceps),
      c0_(f.c0_last ? f.n_ceps - 1 : 0),
      lookahead_frames_(f.cmn_lookahead_frames),
      skip_negative_c0_(f.cmn_skip_negative_c0),
      db_(c0_per_db(f)),
      max_frames_(std::max(f.cmn_window_frames, kMinMemoryFrames)),
      prior_(f.n_ceps, 0.0) {
  std::copy(f.cmn_prior.begin(), f.cmn_prior.end(), prior_.begin());
  has_prior_ = prior_[c0_] != 0;
  state_.speech_sum.assign(n_ceps_, 0);
  state_.silence_sum.assign(n_ceps_, 0);
}

bool LiveMean::is_speech(double level) const {
  return level > state_.peak - kSpeechBelowPeakDb * db_ && level > state_.floor + kSpeechAboveFloorDb * db_;
}

void LiveMean::add(const float *frame) {
  const double level = frame[c0_];
  if (skip_negative_c0_ && level < 0) return;
  LiveMeanState &s = state_;
  if (!s.has_level) s.peak = s.floor = level;
  s.has_level = true;
  s.peak += level > s.peak ? kPeakRise * (level - s.peak) : -kPeakFallDb * db_;
  s.floor = std::min(s.floor + kFloorRiseDb * db_, level);
  const bool speech = is_speech(level);
  std::vector<double> &sum = speech ? s.speech_sum : s.silence_sum;
  double &n = speech ? s.n_speech : s.n_silence;
  for (uint32_t i = 0; i < n_ceps_; ++i) sum[i] += frame[i];
  ++n;
  fade(max_frames_, &sum, &n);
  if (speech) s.n_heard = std::min(s.n_heard + 1, std::max<double>(kLevelFrames, lookahead_frames_));
}

// Returns the prior's level; it is the level of the speech heard as soon as there is enough.
double LiveMean::prior_level() const {
  if (!state_.has_level) return prior_[c0_];
  const double heard = state_.peak - kMeanBelowPeakDb * db_;
  if (!has_prior_) return heard;
  const double shift = std::clamp(heard - prior_[c0_], -kMaxShiftDb * db_, kMaxShiftDb * db_);
  return prior_[c0_] + shift * std::min(1.0, state_.n_heard / kLevelFrames);
}

void LiveMean::mean(double *mean) const {
  const LiveMeanState &s = state_;
  const double n_silence = std::min(s.n_silence, kFreeSilence + kSilencePerSpeech * s.n_speech);
  const double silence_share = s.n_silence > 0 ? n_silence / s.n_silence : 0;
  for (uint32_t i = 0; i < n_ceps_; ++i) {
    const double n_prior = i == c0_ ? kPriorC0Frames : kPriorFrames;
    const double prior = i == c0_ ? prior_level() : prior_[i];
    mean[i] = (n_prior * prior + s.speech_sum[i] + silence_share * s.silence_sum[i]) / (n_prior + s.n_speech + n_silence);
  }
}

void LiveMean::set_state(const LiveMeanState &state) {
  state_ = state;
  fade(kCarriedFrames, &state_.speech_sum, &state_.n_speech);
  fade(kCarriedFrames, &state_.silence_sum, &state_.n_silence);
}

}  // namespace asr
