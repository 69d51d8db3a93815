// SPDX-License-Identifier: Apache-2.0
// Requests at positions of the input: which utterance each is for, and the limit on waiting boosts.
#include "core/stream/timeline.h"

#include <gtest/gtest.h>

namespace asr {
namespace {

constexpr size_t kHalf = kMaxBoostBytes / 2;

// Of a stream with a value a frame, whose user makes requests at given numbers of fed frames.
struct Requests : Timeline {
  explicit Requests(bool is_one_utterance) : Timeline(1, nullptr, is_one_utterance) {}

  void feed_to(uint64_t frame) { advance(frame - position()); }
  void choose_at(uint64_t frame, double bonus, size_t n_bytes = 1) {
    feed_to(frame);
    boost(std::make_shared<GivenBoost>(Boost{{{"word"}}, bonus}), n_bytes);
  }
  void forget_at(uint64_t frame) {
    feed_to(frame);
    forget_boosts();
  }
  std::vector<double> taken_before(uint64_t end_frame) {
    std::vector<double> bonuses;
    for (const auto &one : take_boosts(end_frame)) bonuses.push_back(one->given().bonus);
    return bonuses;
  }
};

GraphName named() { return std::make_shared<NamedGraph>(nullptr); }

TEST(Timeline, EndsAreTakenInOrderAndTwiceAtOnePlaceIsOnce) {
  Timeline timeline(160, named(), false);
  EXPECT_FALSE(timeline.has_end());
  EXPECT_FALSE(timeline.is_at_end());
  timeline.end();
  EXPECT_EQ(timeline.next_end(), 0u);
  timeline.advance(100);
  EXPECT_FALSE(timeline.is_at_end());
  timeline.end();
  timeline.end();
  EXPECT_TRUE(timeline.is_at_end());
  timeline.pass_end();
  EXPECT_EQ(timeline.next_end(), 100u);
  timeline.pass_end();
  EXPECT_FALSE(timeline.has_end());
  EXPECT_TRUE(timeline.is_at_end());
  timeline.advance(1);
  EXPECT_FALSE(timeline.is_at_end());
}

TEST(Timeline, ARequestWithinAFrameIsForTheNextOne) {
  Timeline timeline(160, named(), false);
  EXPECT_EQ(timeline.kept_frame(), 0u);
  timeline.advance(320);
  timeline.cancel();
  EXPECT_EQ(timeline.kept_frame(), 2u);
  timeline.advance(1);
  EXPECT_EQ(timeline.kept_frame(), 2u);
  timeline.cancel();
  timeline.choose_graph(named());
  EXPECT_EQ(timeline.kept_frame(), 3u);
  EXPECT_EQ(timeline.next_graph_frame(), 3u);
}

TEST(Timeline, AGraphIsForLaterAudioAndTheLastOneAtAPlaceCounts) {
  const GraphName first = named(), second = named(), third = named();
  Timeline timeline(160, first, false);
  EXPECT_EQ(timeline.next_graph_frame(), UINT64_MAX);
  timeline.advance(1600);
  timeline.choose_graph(second);
  timeline.choose_graph(third);
  EXPECT_EQ(timeline.next_graph_frame(), 10u);
  timeline.take_graph(9);
  EXPECT_EQ(first.use_count(), 2);
  EXPECT_EQ(second.use_count(), 1);
  timeline.take_graph(10);
  EXPECT_EQ(first.use_count(), 1);
  EXPECT_EQ(third.use_count(), 2);
  EXPECT_EQ(timeline.next_graph_frame(), UINT64_MAX);
}

TEST(TimelineBoosts, AreForTheFirstResultThatEndsLater) {
  Requests requests(false);
  requests.choose_at(10, 1);
  requests.choose_at(20, 2);
  EXPECT_EQ(requests.taken_before(10), std::vector<double>{});
  EXPECT_EQ(requests.taken_before(15), std::vector<double>{1});
  EXPECT_EQ(requests.taken_before(18), std::vector<double>{1});  // the preceding utterance had no result
  requests.pass_boosts();
  EXPECT_EQ(requests.taken_before(30), std::vector<double>{2});
}

TEST(TimelineBoosts, TakenBackTheyLeaveRoom) {
  for (const bool is_one_utterance : {true, false}) {
    Requests requests(is_one_utterance);
    for (uint64_t frame = 0; frame < 20; frame += 2) {
      requests.choose_at(frame, 1, kHalf + 1);
      EXPECT_THROW(requests.choose_at(frame + 1, 2, kHalf), Error);
      requests.forget_at(frame + 1);
    }
    requests.choose_at(30, 3, kMaxBoostBytes);
    EXPECT_EQ(requests.taken_before(UINT64_MAX), std::vector<double>{3});
  }
}

// An utterance that ended before the removal may still need its boosts, so they are kept for a while.
TEST(TimelineBoosts, TakenBackTheyAreLetGo) {
  Requests requests(false);
  const auto choose_and_forget = [&](uint64_t frame) {
    requests.choose_at(frame, 1, kMaxBoostBytes);
    requests.forget_at(frame + 1);
  };
  for (uint64_t frame = 0; frame < 32; frame += 2) choose_and_forget(frame);
  EXPECT_THROW(choose_and_forget(32), Error);
  EXPECT_EQ(requests.taken_before(1), std::vector<double>{1});
  requests.pass_to(40);
  choose_and_forget(50);
  requests.pass_to(60);
  EXPECT_EQ(requests.taken_before(70), std::vector<double>{});
}

TEST(TimelineBoosts, ThoseOfUtterancesWithoutAResultCount) {
  Requests requests(false);
  requests.choose_at(0, 1, kHalf);
  EXPECT_EQ(requests.taken_before(10).size(), 1u);
  requests.choose_at(20, 2, kHalf);
  EXPECT_EQ(requests.taken_before(30).size(), 2u);
  EXPECT_THROW(requests.choose_at(40, 3), Error);
  requests.pass_boosts();
  requests.choose_at(40, 3, kMaxBoostBytes);
  EXPECT_EQ(requests.taken_before(50), std::vector<double>{3});
}

}  // namespace
}  // namespace asr
