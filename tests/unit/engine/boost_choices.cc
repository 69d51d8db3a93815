// SPDX-License-Identifier: Apache-2.0
// Tests the boosts of an utterance, and the limit on waiting bytes.
#include "core/stream/boost_choices.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

constexpr size_t kHalf = kMostBoostBytes / 2;

// A stream whose user boosts, or removes boosts, at given numbers of fed frames.
struct Choices : BoostChoices {
  using BoostChoices::BoostChoices;

  void choose_at(uint64_t frame, double bonus, size_t n_bytes = 1) {
    choose({{{"word"}}, bonus}, n_bytes, [frame] { return frame; });
  }
  void forget_at(uint64_t frame) {
    forget([frame] { return frame; });
  }
  std::vector<double> taken_before(uint64_t end_frame) {
    std::vector<double> bonuses;
    for (const auto &one : take(end_frame)) bonuses.push_back(one->bonus);
    return bonuses;
  }
};

TEST(BoostChoices, AreForTheFirstResultThatEndsLater) {
  Choices choices(false);
  choices.choose_at(10, 1);
  choices.choose_at(20, 2);
  EXPECT_EQ(choices.taken_before(10), std::vector<double>{});
  EXPECT_EQ(choices.taken_before(15), std::vector<double>{1});
  EXPECT_EQ(choices.taken_before(18), std::vector<double>{1});  // the preceding utterance had no result
  choices.pass();
  EXPECT_EQ(choices.taken_before(30), std::vector<double>{2});
}

TEST(BoostChoices, TakenBackTheyLeaveRoom) {
  for (const bool is_one_utterance : {true, false}) {
    Choices choices(is_one_utterance);
    for (uint64_t frame = 0; frame < 20; frame += 2) {
      choices.choose_at(frame, 1, kHalf + 1);
      EXPECT_THROW(choices.choose_at(frame + 1, 2, kHalf), Error);
      choices.forget_at(frame + 1);
    }
    choices.choose_at(30, 3, kMostBoostBytes);
    EXPECT_EQ(choices.taken_before(UINT64_MAX), std::vector<double>{3});
  }
}

// An utterance that ended before the removal may still need its boosts, so they are kept for a while.
TEST(BoostChoices, TakenBackTheyAreLetGo) {
  Choices choices(false);
  const auto choose_and_forget = [&](uint64_t frame) {
    choices.choose_at(frame, 1, kMostBoostBytes);
    choices.forget_at(frame + 1);
  };
  for (uint64_t frame = 0; frame < 32; frame += 2) choose_and_forget(frame);
  EXPECT_THROW(choose_and_forget(32), Error);
  EXPECT_EQ(choices.taken_before(1), std::vector<double>{1});
  choices.pass_to(40);
  choose_and_forget(50);
  choices.pass_to(60);
  EXPECT_EQ(choices.taken_before(70), std::vector<double>{});
}

TEST(BoostChoices, ThoseOfUtterancesWithoutAResultCount) {
  Choices choices(false);
  choices.choose_at(0, 1, kHalf);
  EXPECT_EQ(choices.taken_before(10).size(), 1u);
  choices.choose_at(20, 2, kHalf);
  EXPECT_EQ(choices.taken_before(30).size(), 2u);
  EXPECT_THROW(choices.choose_at(40, 3), Error);
  choices.pass();
  choices.choose_at(40, 3, kMostBoostBytes);
  EXPECT_EQ(choices.taken_before(50), std::vector<double>{3});
}

}  // namespace
}  // namespace asr
