// SPDX-License-Identifier: Apache-2.0
#include "core/session/announcer.h"

namespace asr {

Announcer::Announcer(Stream *stream) : stream_(stream) {
  for (const asr_event_kind kind : {ASR_EVENT_SPEECH_START, ASR_EVENT_ENDPOINT, ASR_EVENT_ERROR, ASR_EVENT_END}) {
    reserve_[kind] = new_event(kind);
  }
}

void Announcer::begin_utterance() {
  for (const asr_event_kind kind : {ASR_EVENT_SPEECH_START, ASR_EVENT_ENDPOINT}) {
    if (!reserve_[kind]) reserve_[kind] = new_event(kind);
  }
  n_partial_frames_ = n_pause_frames_ = 0;
  is_pause_ = false;
}

void Announcer::post_once(asr_event_kind kind, double time_s) noexcept {
  EventPointer event = std::move(reserve_[kind]);
  if (!event) return;
  event->time_s = time_s;
  stream_->post(std::move(event));
}

void Announcer::post(EventPointer event) noexcept {
  if (fell_back_) event->flags |= ASR_FLAG_FELL_BACK;
  stream_->post(std::move(event));
}

void Announcer::partial(EventPointer event, uint32_t n_frames) noexcept {
  if (n_frames <= n_partial_frames_) return;
  n_partial_frames_ = n_frames;
  post(std::move(event));
}

void Announcer::pause(EventPointer event, bool is_pause, uint32_t n_frames) noexcept {
  if (!event || n_frames <= n_pause_frames_) return;
  n_pause_frames_ = n_frames;
  is_pause_ = is_pause;
  post(std::move(event));
}

void Announcer::failure(const Error &reason, double time_s) noexcept {
  if (reserve_[ASR_EVENT_ERROR]) reserve_[ASR_EVENT_ERROR]->error = reason;
  post_once(ASR_EVENT_ERROR, time_s);
  post_once(ASR_EVENT_END, time_s);
}

}  // namespace asr
