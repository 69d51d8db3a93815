// SPDX-License-Identifier: Apache-2.0
// CarriedState holds the state of a stream's normalisation, for asr_stream_get_state and asr_stream_set_state. The user sets it
// before any audio and reads it at any time; the engine's thread writes it. Any thread may call.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "core/base/error.h"
#include "core/feature/mean_state.h"

namespace asr {

class CarriedState {
 public:
  // kind: that of the stream's normalisation, if it has a state. front_end must outlive this.
  CarriedState(const FrontEnd &front_end, std::optional<CmnKind> kind)
      : front_end_(front_end),
        kind_(kind),
        start_(kind == CmnKind::kLive ? MeanState(LiveMean(front_end).state()) : MeanState(WholeMean(front_end).state())),
        latest_(start_) {}

  // The user's side; both throw if no state is kept.
  std::string bytes() const {
    check_kept("asr_stream_get_state");
    if (kind_ == CmnKind::kBatch) {
      fail(ASR_INVALID_STATE, "asr_stream_get_state: the stream normalises by its own audio; measure with ASR_CMN_MEASURE");
    }
    std::lock_guard lock(mutex_);
    return state_to_bytes(latest_, front_end_);
  }
  void set(const void *bytes, size_t n) {
    check_kept("asr_stream_set_state");
    MeanState state = state_from_bytes(bytes, n, front_end_, "asr_stream_set_state");
    check_suits(state);
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
  const MeanState *start() const { return was_set_ ? &start_ : nullptr; }
  void update(const MeanState &state) {
    std::lock_guard lock(mutex_);
    latest_ = state;
  }

 private:
  void check_kept(const char *who) const {
    if (kind_) return;
    fail(ASR_INVALID_STATE, "%s: the stream keeps no mean; open it for audio with ASR_CMN_LIVE", who);
  }
  void check_suits(const MeanState &state) const {
    const auto *const whole = std::get_if<WholeMeanState>(&state);
    if ((whole == nullptr) != (kind_ == CmnKind::kLive)) {
      fail(ASR_INVALID_ARGUMENT, "asr_stream_set_state: the state is that of a stream with %s, and this one has %s",
           whole != nullptr ? "ASR_CMN_MEASURE" : "ASR_CMN_LIVE", whole != nullptr ? "ASR_CMN_LIVE" : "ASR_CMN_BATCH");
    }
    if (whole == nullptr) return;
    const uint32_t n_passes = WholeMean::n_passes(front_end_);
    if (kind_ == CmnKind::kBatch ? whole->n_passes == n_passes : whole->n_passes < n_passes) return;
    fail(ASR_INVALID_ARGUMENT,
         "asr_stream_set_state: the recording was measured %u times and this model needs %u (asr_engine_info.n_measurements)",
         whole->n_passes, n_passes);
  }

  const FrontEnd &front_end_;
  const std::optional<CmnKind> kind_;
  mutable std::mutex mutex_;
  MeanState start_, latest_;
  bool fed_ = false, was_set_ = false;
};

}  // namespace asr
