// SPDX-License-Identifier: Apache-2.0
// What the engine is doing with a stream, and what may follow. A Session is in one phase at a time, and changes it on the
// engine's thread only.
#pragma once

#include <cassert>
#include <cstddef>
#include <cstdint>

namespace asr {

enum class Phase : uint8_t {
  kBackground,  // no utterance: before the first one, or until speech begins
  kGiving,      // rows go to the user as they are; there is no utterance
  kGivingLast,  // the window under way has the last of these rows
  kHearing,     // an utterance takes rows
  kChecking,    // it takes none, because the window under way shows whether it ends (or comes to a pause)
  kChoosing,    // it takes none, because the window under way shows whether it may still take another graph
  kClosing,     // its end was found; the next window brings its result
  kRestarting,  // it has no words and takes another graph, so it begins again
  kDropping,    // it was cancelled or begins again, and is dropped at the end of this step
  kDraining,    // the window under way has its last rows
  kResult,      // a job makes its result; the stream goes on, or ends, when that is posted
  kEnded,       // END is posted
  kFailed,      // the stream failed in this step, at whose end that is reported, or another device takes it
};
constexpr size_t kNPhases = 13;

constexpr uint32_t phase_bit(Phase phase) { return 1u << static_cast<uint32_t>(phase); }

template <typename... Phases>
constexpr uint32_t phase_bits(Phases... phases) {
  return (phase_bit(phases) | ... | 0u);
}

// The phases that may follow each phase. Whatever uses the device can fail, so only what has left it cannot.
constexpr uint32_t kNextPhases[kNPhases] = {
    /* kBackground */ phase_bits(Phase::kGiving, Phase::kHearing, Phase::kDropping, Phase::kFailed),
    /* kGiving     */ phase_bits(Phase::kGivingLast, Phase::kFailed),
    /* kGivingLast */ phase_bits(Phase::kEnded, Phase::kFailed),
    /* kHearing    */ phase_bits(Phase::kChecking, Phase::kChoosing, Phase::kDraining, Phase::kDropping, Phase::kFailed),
    /* kChecking   */ phase_bits(Phase::kHearing, Phase::kClosing, Phase::kDropping, Phase::kFailed),
    /* kChoosing   */ phase_bits(Phase::kHearing, Phase::kRestarting, Phase::kDropping, Phase::kFailed),
    /* kClosing    */ phase_bits(Phase::kDraining, Phase::kDropping, Phase::kFailed),
    /* kRestarting */ phase_bits(Phase::kDropping, Phase::kFailed),
    /* kDropping   */ phase_bits(Phase::kBackground, Phase::kFailed),
    /* kDraining   */ phase_bits(Phase::kResult, Phase::kEnded, Phase::kDropping, Phase::kFailed),
    /* kResult     */ phase_bits(Phase::kBackground),
    /* kEnded      */ 0,
    /* kFailed     */ phase_bits(Phase::kEnded, Phase::kBackground),
};

constexpr bool may_follow(Phase now, Phase next) { return (kNextPhases[static_cast<size_t>(now)] & phase_bit(next)) != 0; }

// Phases with an utterance that is searched: windows may have parts of it, and results of it are read.
constexpr uint32_t kDecoding =
    phase_bits(Phase::kHearing, Phase::kChecking, Phase::kChoosing, Phase::kClosing, Phase::kRestarting, Phase::kDraining);
// Phases in which the stream has work for the device, or is about to have some.
constexpr uint32_t kLive = kDecoding | phase_bits(Phase::kBackground, Phase::kGiving, Phase::kGivingLast, Phase::kDropping);
// Phases in which the next window takes rows.
constexpr uint32_t kTakingRows = phase_bits(Phase::kBackground, Phase::kGiving, Phase::kHearing, Phase::kClosing);

class PhaseTrack {
 public:
  Phase now() const { return now_; }
  bool is(Phase phase) const { return now_ == phase; }
  bool is_in(uint32_t bits) const { return (phase_bit(now_) & bits) != 0; }
  void to(Phase next) noexcept {
    assert(may_follow(now_, next));
    now_ = next;
  }

 private:
  Phase now_ = Phase::kBackground;
};

}  // namespace asr
