// SPDX-License-Identifier: Apache-2.0
#include "core/rows/speaker_track.h"

#include <algorithm>

#include "core/base/limits.h"

namespace asr {
namespace {

constexpr size_t kLaterFrames = 1024;  // more than a stream reads ahead of its rows

}  // namespace

SpeakerTrack::SpeakerTrack(std::shared_ptr<Speaker> speaker, float warp, bool learns, uint32_t shift_samples, bool normalises)
    : speaker_(std::move(speaker)),
      warp_(warp),
      learns_(learns),
      shift_samples_(shift_samples),
      normalises_(normalises),
      keeps_sound_(learns && shift_samples > 0 && speaker_->searches_warps()),
      uses_means_(speaker_->adapts_means()) {}

void SpeakerTrack::begin_utterance(const LoadedModel &place) {
  rows_.clear();
  const Speaker::Adaptation adaptation = speaker_->adaptation(warp_);
  transform_ = adaptation.transform;
  const bool has_model = uses_means_ && adaptation.model != nullptr;
  model_ = has_model ? std::make_shared<FusedModels>(adaptation.model->on(place), place) : nullptr;
}

void SpeakerTrack::add_sound(const float *samples, size_t n) {
  if (!keeps_sound_) return;
  const size_t n_before = sound_begin_ > n_samples_ ? std::min<uint64_t>(n, sound_begin_ - n_samples_) : 0;
  const size_t most = WarpScorer::kMaxFrames * shift_samples_;
  const size_t n_first = std::min(n - n_before, most - std::min(most, sound_.size()));
  sound_.insert(sound_.end(), samples + n_before, samples + n_before + n_first);
  newer_sound_.insert(newer_sound_.end(), samples + n_before + n_first, samples + n);
  n_samples_ += n;
  const size_t n_later = kLaterFrames * shift_samples_;
  if (newer_sound_.size() > 2 * n_later)
    newer_sound_.erase(newer_sound_.begin(), newer_sound_.end() - static_cast<ptrdiff_t>(n_later));
}

void SpeakerTrack::forget_before(uint64_t frame) {
  if (!keeps_sound_) return;
  const uint64_t begin = std::max(frame * shift_samples_, sound_begin_);
  uint64_t n_gone = begin - sound_begin_;
  const bool is_whole = sound_begin_ + sound_.size() + newer_sound_.size() == n_samples_;
  if (is_whole) {
    sound_.insert(sound_.end(), newer_sound_.begin(), newer_sound_.end());
  } else if (sound_begin_ < n_samples_) {  // only the newest are left, which begin in the middle of a frame
    sound_.swap(newer_sound_);
    n_gone = begin - std::min(begin, n_samples_ - sound_.size());
  }
  newer_sound_.clear();
  sound_.erase(sound_.begin(), sound_.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(n_gone, sound_.size())));
  sound_begin_ = begin;
}

void SpeakerTrack::begin_again(uint64_t frame) {
  sound_.clear();
  newer_sound_.clear();
  n_samples_ = sound_begin_ = frame * shift_samples_;
}

void SpeakerTrack::keep(const float *rows, size_t n) {
  if (keeps_rows()) rows_.insert(rows_.end(), rows, rows + std::min(n, kMaxUtteranceRows - n_kept()) * speaker_->n_dims());
}

const float *SpeakerTrack::take(const float *rows, size_t n) {
  keep(rows, n);
  if (!transform_) return rows;
  transformed_.assign(rows, rows + n * speaker_->n_dims());
  transform_->apply(transformed_.data(), n);
  return transformed_.data();
}

void SpeakerTrack::learn(const asr_event &final, uint64_t first_frame, const std::vector<uint32_t> &states,
                         const StopToken &stop) {
  constexpr uint32_t kDoubtful = ASR_FLAG_NO_SPEECH | ASR_FLAG_BEAM_DIED | ASR_FLAG_REJECTED;
  if (!learns_ || (final.flags & kDoubtful) != 0) return;
  learn_rows(states);
  if (keeps_sound_) learn_warp(first_frame, states, stop);
}

void SpeakerTrack::learn_rows(const std::vector<uint32_t> &states) {
  const size_t n_dims = speaker_->n_dims(), n = std::min(states.size(), rows_.size() / n_dims);
  std::vector<float> rows;
  std::vector<uint32_t> states_of_rows;
  for (size_t i = 0; i < n; ++i) {
    if (states[i] == kNoState) continue;
    const auto row = rows_.begin() + static_cast<ptrdiff_t>(i * n_dims);
    rows.insert(rows.end(), row, row + static_cast<ptrdiff_t>(n_dims));
    states_of_rows.push_back(states[i]);
  }
  speaker_->add(rows, states_of_rows, warp_);
}

// Learns from the frames whose sound is kept.
void SpeakerTrack::learn_warp(uint64_t first_frame, const std::vector<uint32_t> &states, const StopToken &stop) {
  const uint64_t sound_frame = sound_begin_ / shift_samples_, begin = std::max(first_frame, sound_frame);
  const uint64_t end = std::min(first_frame + states.size(), sound_frame + sound_.size() / shift_samples_);
  if (begin >= end) return;
  const std::vector<float> samples(sound_.begin() + static_cast<ptrdiff_t>((begin - sound_frame) * shift_samples_),
                                   sound_.end());
  const auto first = states.begin() + static_cast<ptrdiff_t>(begin - first_frame);
  speaker_->add_sound(samples, {first, first + static_cast<ptrdiff_t>(end - begin)}, normalises_, stop);
}

}  // namespace asr
