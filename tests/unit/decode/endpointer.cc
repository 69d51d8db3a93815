// SPDX-License-Identifier: Apache-2.0
// Tests the ends of utterances, on hand-written paths of words and silence.
#include "core/decode/endpointer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace asr {
namespace {

constexpr double kShift_s = 0.01;
constexpr EndpointTimes kTimes{0.3, 0.8, 5, 20};
constexpr uint32_t kSpeech = 1, kSilence = 2;  // transition-ids

// Returns a path with the given frames of silence, speech with a word at its start, and silence.
PathTail tail_of(uint32_t n_before, uint32_t n_speech, uint32_t n_after) {
  std::vector<asr_path_arc> arcs;
  const auto add = [&](uint32_t n, uint32_t transition_id) {
    for (uint32_t i = 0; i < n; ++i) arcs.push_back({static_cast<uint32_t>(arcs.size()), transition_id, 0, 0, 0});
  };
  add(n_before, kSilence);
  if (n_speech > 0) arcs.push_back({n_before, 0, 7, 0, 0});
  add(n_speech, kSpeech);
  add(n_after, kSilence);
  asr_path path{};
  path.arcs = arcs.data();
  path.n_arcs = arcs.size();
  path.n_frames = n_before + n_speech + n_after;
  return tail_of_path(path, [](uint32_t id) { return id == kSilence; });
}

// Returns the frame at which an utterance ends that has n_before frames of silence, then n_speech of speech, then silence.
uint32_t end_of(uint32_t n_before, uint32_t n_speech, double cost_to_end, const EndpointTimes &times = kTimes) {
  Endpointer endpointer(times, kShift_s);
  for (;;) {
    const uint32_t frame = endpointer.next_check();
    const uint32_t silent = std::min(frame, n_before), spoken = std::min(frame - silent, n_speech);
    if (endpointer.ends_at(tail_of(silent, spoken, frame - silent - spoken), [&] { return cost_to_end; })) return frame;
    EXPECT_GT(endpointer.next_check(), frame);
    if (frame > 10000) return 0;
  }
}

TEST(Endpointer, ReadsTheEndsOfAPath) {
  const PathTail tail = tail_of(12, 30, 25);
  EXPECT_EQ(tail.n_frames, 67u);
  EXPECT_EQ(tail.n_silent, 25u);
  EXPECT_EQ(tail.n_silent_before, 12u);
  EXPECT_TRUE(tail.has_words);
  EXPECT_FALSE(tail_of(40, 0, 0).has_words);
  EXPECT_EQ(tail_of(40, 0, 0).n_silent, 40u);
}

TEST(PathTail, OfAPathInPieces) {
  std::mt19937 random(6);
  const auto is_silence = [](uint32_t id) { return id == kSilence; };
  for (int i = 0; i < 500; ++i) {
    std::vector<asr_path_arc> arcs;
    const uint32_t n_frames = random() % 40;
    for (uint32_t frame = 0; frame < n_frames;) {
      const bool is_label = random() % 8 == 0;
      arcs.push_back({frame, is_label ? 0 : (random() % 3 == 0 ? kSpeech : kSilence), is_label ? 7u : 0u, 0, 0});
      if (!is_label) ++frame;
    }
    asr_path path{};
    path.n_frames = 50;
    path.arcs = arcs.data();
    path.n_arcs = arcs.size();
    const PathTail whole = tail_of_path(path, is_silence);
    const size_t cut = random() % (arcs.size() + 1);
    PathTail before;
    before.add(arcs.data(), cut, is_silence);
    path.arcs += cut;
    path.n_arcs -= cut;
    const PathTail found = tail_of_path(path, is_silence, before);
    EXPECT_EQ(found.n_frames, whole.n_frames);
    EXPECT_EQ(found.n_silent, whole.n_silent);
    EXPECT_EQ(found.n_silent_before, whole.n_silent_before);
    EXPECT_EQ(found.has_words, whole.has_words);
  }
}

TEST(Endpointer, EndsSoonWhereTheGraphMayEnd) {
  for (const uint32_t n_speech : {37u, 100u, 333u}) {
    const uint32_t end = end_of(20, n_speech, 0);
    EXPECT_GE(end, 20 + n_speech + 30);
    EXPECT_LE(end, 20 + n_speech + 40);  // checks are 10 frames apart
  }
}

TEST(Endpointer, EndsLaterWhereItMayNot) {
  const uint32_t maybe = end_of(0, 100, 5), never = end_of(0, 100, INFINITY);
  EXPECT_GE(maybe, 155u);
  EXPECT_LE(maybe, 165u);
  EXPECT_GE(never, 180u);
  EXPECT_LE(never, 190u);
}

TEST(Endpointer, WaitsLongForTheFirstWord) {
  EXPECT_EQ(end_of(100000, 0, 0), 500u);
  EXPECT_GE(end_of(480, 50, 0), 560u);
}

TEST(Endpointer, NoUtteranceIsLongerThanTheLongest) {
  EXPECT_EQ(end_of(0, 100000, 0), 2000u);
  EXPECT_EQ(end_of(0, 100000, 0, {0.3, 0.8, 5, 0.55}), 55u);
}

TEST(Endpointer, AShortPauseEndsALongUtterance) {
  const uint32_t end = end_of(0, 1500, INFINITY);  // over 0.7 of the longest
  EXPECT_GE(end, 1510u);
  EXPECT_LE(end, 1520u);
}

TEST(Endpointer, LooksRarelyInSpeech) {
  Endpointer endpointer(kTimes, kShift_s);
  int n_checks = 0;
  while (endpointer.next_check() < 900) {
    EXPECT_FALSE(endpointer.ends_at(tail_of(0, endpointer.next_check(), 0), [] { return 0.0; }));
    ++n_checks;
  }
  EXPECT_LE(n_checks, 31);  // 0.3 s apart
}

// Tests the end, and the frames at which the utterance has probably ended.
TEST(Endpointer, EarlyLooksLeaveTheEndWhereItIs) {
  for (const uint32_t n_speech : {37u, 100u, 133u, 1500u}) {
    for (const double cost : {0.0, 5.0, double{INFINITY}}) {
      Endpointer endpointer(kTimes, kShift_s, 0.15);
      uint32_t first = 0;
      for (;;) {
        const uint32_t frame = endpointer.next_check(), silent = frame - std::min(frame, n_speech);
        const PathTail tail = tail_of(0, frame - silent, silent);
        if (first == 0 && endpointer.has_probably_ended(tail)) first = frame;
        if (endpointer.ends_at(tail, [&] { return cost; })) {
          EXPECT_EQ(frame, end_of(0, n_speech, cost)) << n_speech;
          break;
        }
        ASSERT_GT(endpointer.next_check(), frame);
      }
      if (n_speech == 1500) continue;  // a short pause ends that
      EXPECT_EQ(first, n_speech + 15);
    }
  }
}

TEST(Endpointer, NothingIsProbableWithoutWordsOrUnasked) {
  EXPECT_TRUE(Endpointer(kTimes, kShift_s, 0.15).has_probably_ended(tail_of(0, 20, 15)));
  EXPECT_FALSE(Endpointer(kTimes, kShift_s, 0.15).has_probably_ended(tail_of(0, 20, 14)));
  EXPECT_FALSE(Endpointer(kTimes, kShift_s, 0.15).has_probably_ended(tail_of(40, 0, 0)));
  EXPECT_FALSE(Endpointer(kTimes, kShift_s).has_probably_ended(tail_of(0, 20, 40)));
}

TEST(Endpointer, Presets) {
  EXPECT_FALSE(preset_times(ASR_ENDPOINT_OFF));
  EXPECT_LT(preset_times(ASR_ENDPOINT_COMMAND)->at_end_s, preset_times(ASR_ENDPOINT_DICTATION)->at_end_s);
  EXPECT_LT(preset_times(ASR_ENDPOINT_CAPTIONS)->longest_s, preset_times(ASR_ENDPOINT_DICTATION)->longest_s);
}

// Only the length ends an utterance in the middle of speech; a short silence near the end is an end by itself.
TEST(Endpointer, CutsInTheMiddleOfSpeech) {
  constexpr EndpointTimes kShort{0.3, 0.8, 5, 1};
  for (const uint32_t n_silent : {0u, 9u, 10u, 40u}) {
    Endpointer endpointer(kShort, kShift_s);
    bool ends = false;
    while (!ends && endpointer.next_check() < 100) {
      ends = endpointer.ends_at(tail_of(0, endpointer.next_check(), 0), [] { return HUGE_VAL; });
    }
    const PathTail tail = tail_of(0, 100 - n_silent, n_silent);
    EXPECT_TRUE(endpointer.ends_at(tail, [] { return HUGE_VAL; }));
    EXPECT_EQ(endpointer.is_cut(tail), n_silent < 10) << n_silent;
    EXPECT_FALSE(endpointer.is_cut(tail_of(100, 0, 0)));  // without words
  }
  EXPECT_TRUE(Endpointer(kShort, kShift_s).may_be_cut_after(0));
  EXPECT_FALSE(Endpointer(kTimes, kShift_s).may_be_cut_after(1399));
  EXPECT_TRUE(Endpointer(kTimes, kShift_s).may_be_cut_after(1400));
}

}  // namespace
}  // namespace asr
