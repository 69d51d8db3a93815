// SPDX-License-Identifier: Apache-2.0
// CarriedState holds the state of a stream's live normalisation, for asr_stream_get_state and asr_stream_set_state. The user
// sets it before any audio and reads it at any time; the engine's thread writes it. Any thread may call.
#pragma once

#include <mutex>
#include <string>

#include "core/base/error.h"
#include "core/feature/live_mean.h"

namespace asr {

class CarriedState {
 public:
  // `kept`: the stream's normalisation has a state. front_end must outlive this.
  CarriedState(const FrontEnd &front_end, bool kept)
      : front_end_(front_end), kept_(kept), start_(LiveMean(front_end).state()), latest_(start_) {}

  // The user's side; both throw if no state is kept.
  std::string bytes() const {
    check_kept("asr_stream_get_state");
    std::lock_guard lock(mutex_);
    return state_to_bytes(latest_, front_end_);
  }
  void set(const void *bytes, size_t n) {
    check_kept("asr_stream_set_state");
    LiveMeanState state = state_from_bytes(bytes, n, front_end_, "asr_stream_set_state");
    std::lock_guard lock(mutex_);
    if (fed_) fail(ASR_INVALID_STATE, "asr_stream_set_state: the stream has audio already; set the state before asr_feed");
    start_ = std::move(state);
    latest_ = start_;
    was_set_ = true;
  }
  bool is_fed() const {
    std::lock_guard lock(mutex_);
    return fed_;
  }
  void note_fed() {  // from now on the state cannot be set
    std::lock_guard lock(mutex_);
    fed_ = true;
  }

  // The engine's side, once audio was fed.
  const LiveMeanState *start() const { return was_set_ ? &start_ : nullptr; }
  void update(const LiveMeanState &state) {
    std::lock_guard lock(mutex_);
    latest_ = state;
  }

 private:
  void check_kept(const char *who) const {
    if (kept_) return;
    fail(ASR_INVALID_STATE, "%s: the stream keeps no mean; open it for audio with ASR_CMN_LIVE", who);
  }

  const FrontEnd &front_end_;
  const bool kept_;
  mutable std::mutex mutex_;
  LiveMeanState start_, latest_;
  bool fed_ = false, was_set_ = false;
};

}  // namespace asr
