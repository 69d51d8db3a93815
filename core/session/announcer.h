// SPDX-License-Identifier: Apache-2.0
// Announcer posts a stream's events but READY: each at most once an utterance, and none again after a device was lost. The last
// events are allocated when the stream is opened, so that it reaches its END even after memory has run out. Used by the
// engine's thread and, after the end of an utterance, by the job that makes its result.
#pragma once

#include "core/stream/stream.h"

namespace asr {

class Announcer {
 public:
  explicit Announcer(Stream *stream);

  void begin_utterance();                                                        // allocates the utterance's events
  bool is_heard() const { return reserve_[ASR_EVENT_SPEECH_START] == nullptr; }  // SPEECH_START was posted
  bool is_pause() const { return is_pause_; }  // PROBABLY_FINISHED was posted, and not taken back
  void fall_back() noexcept { fell_back_ = true; }

  void speech_start(double time_s) noexcept { post_once(ASR_EVENT_SPEECH_START, time_s); }
  void endpoint(double time_s) noexcept { post_once(ASR_EVENT_ENDPOINT, time_s); }
  void end(double time_s) noexcept { post_once(ASR_EVENT_END, time_s); }
  void partial(EventPointer event, uint32_t n_frames) noexcept;
  void pause(EventPointer event, bool is_pause, uint32_t n_frames) noexcept;  // PROBABLY_FINISHED or SPEECH_RESUMED
  void no_input(double time_s) {                                              // throws std::bad_alloc
    EventPointer event = new_event(ASR_EVENT_NO_INPUT);
    event->time_s = time_s;
    post(std::move(event));
  }
  void final(EventPointer event) noexcept { post(std::move(event)); }
  void rows(EventPointer event) noexcept { post(std::move(event)); }
  void failure(const Error &reason, double time_s) noexcept;  // ERROR and END

 private:
  void post_once(asr_event_kind kind, double time_s) noexcept;
  void post(EventPointer event) noexcept;

  Stream *const stream_;
  EventPointer reserve_[ASR_EVENT_END + 1];  // events that post_once has not yet posted
  bool fell_back_ = false, is_pause_ = false;
  uint32_t n_partial_frames_ = 0, n_pause_frames_ = 0;  // at the last posted event of the kind
};

}  // namespace asr
