// SPDX-License-Identifier: Apache-2.0
// The table of legal transitions between phases, said again the other way round: what leads to each phase.
#include "core/session/phase.h"

#include <gtest/gtest.h>

#include <set>
#include <utility>

namespace asr {
namespace {

using Pair = std::pair<Phase, Phase>;

std::set<Pair> legal_pairs() {
  std::set<Pair> pairs;
  const auto leads = [&](std::initializer_list<Phase> from, Phase to) {
    for (const Phase phase : from) pairs.insert({phase, to});
  };
  leads({Phase::kDropping, Phase::kResult, Phase::kFailed}, Phase::kBackground);
  leads({Phase::kBackground, Phase::kChecking, Phase::kChoosing}, Phase::kHearing);
  leads({Phase::kBackground}, Phase::kGiving);
  leads({Phase::kGiving}, Phase::kGivingLast);
  leads({Phase::kHearing}, Phase::kChecking);
  leads({Phase::kHearing}, Phase::kChoosing);
  leads({Phase::kChecking}, Phase::kClosing);
  leads({Phase::kChoosing}, Phase::kRestarting);
  leads({Phase::kBackground, Phase::kHearing, Phase::kChecking, Phase::kChoosing, Phase::kClosing, Phase::kRestarting,
         Phase::kDraining},
        Phase::kDropping);
  leads({Phase::kHearing, Phase::kClosing}, Phase::kDraining);
  leads({Phase::kDraining}, Phase::kResult);
  leads({Phase::kDraining, Phase::kGivingLast, Phase::kFailed}, Phase::kEnded);
  leads({Phase::kBackground, Phase::kHearing, Phase::kChecking, Phase::kChoosing, Phase::kClosing, Phase::kRestarting,
         Phase::kDropping, Phase::kDraining, Phase::kGiving, Phase::kGivingLast},
        Phase::kFailed);
  return pairs;
}

TEST(Phase, TheTableHasTheseTransitionsAndNoOther) {
  const std::set<Pair> legal = legal_pairs();
  for (size_t from = 0; from < kNPhases; ++from) {
    for (size_t to = 0; to < kNPhases; ++to) {
      const Pair pair(static_cast<Phase>(from), static_cast<Phase>(to));
      EXPECT_EQ(may_follow(pair.first, pair.second), legal.count(pair) > 0) << from << " -> " << to;
    }
  }
}

TEST(Phase, EveryPhaseIsReachedAndOnlyTheEndIsFinal) {
  uint32_t reached = phase_bit(PhaseTrack().now());
  for (size_t round = 0; round < kNPhases; ++round) {
    for (size_t from = 0; from < kNPhases; ++from) {
      if ((reached & phase_bit(static_cast<Phase>(from))) != 0) reached |= kNextPhases[from];
    }
  }
  EXPECT_EQ(reached, (1u << kNPhases) - 1);
  for (size_t from = 0; from < kNPhases; ++from) EXPECT_EQ(kNextPhases[from] == 0, static_cast<Phase>(from) == Phase::kEnded);
}

// What has work for the device can fail, and nothing else.
TEST(Phase, LivePhasesAreThoseThatCanFail) {
  for (size_t from = 0; from < kNPhases; ++from) {
    const Phase phase = static_cast<Phase>(from);
    EXPECT_EQ((kLive & phase_bit(phase)) != 0, may_follow(phase, Phase::kFailed)) << from;
  }
  EXPECT_EQ(kDecoding & ~kLive, 0u);
  EXPECT_EQ(kTakingRows & ~kLive, 0u);
}

}  // namespace
}  // namespace asr
