// SPDX-License-Identifier: Apache-2.0
// A session's phases, step by step: the test does what a Scheduler does, on its own thread and with the built-in CPU back end.
// Every transition of phase.h happens here.
#include "core/session/session.h"

#include <gtest/gtest.h>

#include <string>

#include "core/session/inbox.h"
#include "core/step/window.h"
#include "tests/api/tone_bundle.h"

namespace asr {
namespace {

EngineOptions on_cpu() {
  EngineOptions options;
  options.device = "cpu";
  options.n_threads = 1;
  options.window_frames = 8;
  options.fallback = "cpu";  // sessions keep what another device would decode again
  return options;
}

// The models and graphs of two devices, and what a Scheduler has of each.
struct Place {
  const LoadedModel model{test::tone_bundle(), on_cpu()};
  Inbox inbox{true};
  FailedSessions failed{&inbox};
  Window first{model, 0, &failed}, second{model, 1, &failed};
};

StreamOptions of_dialog() {
  StreamOptions options;
  options.endpoint = preset_times(ASR_ENDPOINT_COMMAND);
  options.format.rate_hz = 16000;
  return options;
}

class SessionTest : public testing::Test {
 protected:
  void open(const StreamOptions &options) {
    place_.first.clear();
    while (place_.failed.pop()) continue;
    const auto graph = std::make_shared<LoadedGraph>(read_graph_parts(place_.model.bundle()), place_.model);
    name_ = std::make_shared<NamedGraph>(graph);
    session_ = std::make_shared<Session>(options, name_, place_.model, &place_.inbox, &pool_, &pool_,
                                         std::make_shared<EventQueue>(nullptr, nullptr), &meter_);
    session_->stream().start();
  }
  void feed(const std::vector<int16_t> &samples) { session_->stream().feed(samples.data(), samples.size()); }
  void feed_silence(double seconds) { feed(std::vector<int16_t>(static_cast<size_t>(16000 * seconds), 0)); }

  // Visits the session, as the first half of a step. Returns its phase.
  Phase visit() {
    Sessions queued;
    place_.inbox.next_sessions(false, 8, std::nullopt, std::nullopt, &queued);
    try {
      session_->begin_step(place_.inbox.loss());
      session_->fill();
      asr_extract_job job;
      if (session_->next_extract(0, &job)) {
        const LoadedModel &model = place_.model;
        model.device().check(model.api()->extract(model.device().get(), model.features(), &job, 1));
        session_->extracted(0);
      }
    } catch (...) {
      place_.failed.add_current(session_);
    }
    return session_->phase();
  }
  Phase gather() {
    place_.first.gather({session_});
    return session_->phase();
  }
  // Has the window scored and searched, and its results read.
  Phase complete() {
    place_.first.score();
    place_.model.wait(0);
    place_.first.advance();
    place_.model.wait(0);
    place_.first.take_outcomes();
    place_.first.collect();
    place_.first.clear();
    return session_->phase();
  }
  Phase step() {
    visit();
    gather();
    return complete();
  }
  // Steps until a phase is seen after the named part of a step; fails after many.
  bool step_until_gathered(Phase phase) {
    for (int i = 0; i < 1000; ++i) {
      visit();
      if (gather() == phase) return true;
      complete();
    }
    return false;
  }
  // Brings a new session of a dialog to a phase, by audio and calls of its user.
  void reach(Phase phase) {
    open(of_dialog());
    if (phase == Phase::kBackground) return;
    if (phase == Phase::kChoosing || phase == Phase::kRestarting) {
      feed_silence(0.3);
      for (int i = 0; i < 10; ++i) step();
      session_->stream().set_graph(name_);
      feed_silence(1);
      ASSERT_TRUE(step_until_gathered(Phase::kChoosing));
      if (phase == Phase::kRestarting) {
        ASSERT_EQ(complete(), Phase::kRestarting);
      }
      return;
    }
    feed(test::speak("low"));
    feed_silence(3);
    if (phase == Phase::kDropping) {
      step();
      session_->stream().cancel_utterance();
      ASSERT_EQ(visit(), Phase::kDropping);
      return;
    }
    bool found = false;
    for (int i = 0; i < 1000 && !found; ++i) {
      visit();
      found = gather() == phase || complete() == phase;
    }
    ASSERT_TRUE(found) << static_cast<int>(phase);
  }
  std::vector<asr_event_kind> events() {
    std::vector<asr_event_kind> kinds;
    while (const EventPointer event = session_->stream().poll()) kinds.push_back(event->kind);
    return kinds;
  }

  Place place_;
  WorkerPool pool_;
  EngineMeter meter_;
  GraphName name_;
  std::shared_ptr<Session> session_;
};

using Kinds = std::vector<asr_event_kind>;

TEST_F(SessionTest, OneUtteranceIsHeardAndDrained) {
  StreamOptions options;
  options.format.rate_hz = 16000;
  open(options);
  EXPECT_EQ(session_->phase(), Phase::kBackground);
  feed(test::speak("low"));
  EXPECT_EQ(visit(), Phase::kHearing);
  EXPECT_EQ(gather(), Phase::kHearing);
  EXPECT_EQ(complete(), Phase::kHearing);
  session_->stream().finish();
  EXPECT_TRUE(step_until_gathered(Phase::kDraining));
  EXPECT_EQ(complete(), Phase::kEnded);
  EXPECT_EQ(events(), (Kinds{ASR_EVENT_READY, ASR_EVENT_SPEECH_START, ASR_EVENT_ENDPOINT, ASR_EVENT_FINAL, ASR_EVENT_END}));
  EXPECT_FALSE(session_->fail(Error(ASR_INTERNAL, "late")));
  EXPECT_EQ(visit(), Phase::kEnded);
}

TEST_F(SessionTest, AnEndpointIsCheckedForFoundAndTheStreamGoesOn) {
  reach(Phase::kChecking);
  EXPECT_EQ(complete(), Phase::kHearing);
  reach(Phase::kClosing);
  EXPECT_EQ(visit(), Phase::kClosing);
  EXPECT_EQ(gather(), Phase::kDraining);
  EXPECT_EQ(complete(), Phase::kResult);
  EXPECT_EQ(visit(), Phase::kHearing);  // by way of kBackground: without a gate the next utterance begins at once
  EXPECT_EQ(events(), (Kinds{ASR_EVENT_READY, ASR_EVENT_SPEECH_START, ASR_EVENT_ENDPOINT, ASR_EVENT_FINAL}));
}

TEST_F(SessionTest, AMarkDrainsWithoutACheck) {
  open(of_dialog());
  feed(test::speak("mid"));
  session_->stream().end_utterance();
  EXPECT_TRUE(step_until_gathered(Phase::kDraining));
  EXPECT_EQ(complete(), Phase::kResult);
}

TEST_F(SessionTest, AnUtteranceWithoutWordsTakesAnotherGraph) {
  reach(Phase::kRestarting);
  EXPECT_EQ(visit(), Phase::kDropping);
  EXPECT_EQ(gather(), Phase::kDropping);
  session_->drop();
  EXPECT_EQ(session_->phase(), Phase::kBackground);
  EXPECT_EQ(visit(), Phase::kHearing);
  EXPECT_EQ(events(), Kinds{ASR_EVENT_READY});
}

// The graph is chosen when the first word is on the path, but before the endpointer has looked at that.
TEST_F(SessionTest, AnUtteranceWithWordsKeepsItsGraph) {
  const std::vector<int16_t> samples = test::speak("low");
  bool keeps = false;
  for (size_t n = 4000; n < samples.size() && !keeps; n += 800) {
    open(of_dialog());
    const auto middle = samples.begin() + static_cast<ptrdiff_t>(n);
    feed({samples.begin(), middle});
    session_->stream().set_graph(name_);
    feed({middle, samples.end()});
    keeps = step_until_gathered(Phase::kChoosing) && complete() == Phase::kHearing;
  }
  EXPECT_TRUE(keeps);
  EXPECT_EQ(events(), (Kinds{ASR_EVENT_READY, ASR_EVENT_SPEECH_START}));
}

// In whatever phase the utterance is; its part of a window is then ignored.
TEST_F(SessionTest, ACancelledUtteranceIsDropped) {
  for (const Phase phase :
       {Phase::kHearing, Phase::kChecking, Phase::kChoosing, Phase::kClosing, Phase::kRestarting, Phase::kDraining}) {
    ASSERT_NO_FATAL_FAILURE(reach(phase));
    session_->stream().cancel_utterance();
    EXPECT_EQ(visit(), Phase::kDropping);
    EXPECT_EQ(gather(), Phase::kDropping);
    EXPECT_EQ(complete(), Phase::kDropping);
    session_->drop();
    EXPECT_EQ(session_->phase(), Phase::kBackground);
    feed(test::speak("high"));
    EXPECT_EQ(step(), Phase::kHearing);
  }
}

TEST_F(SessionTest, ACancelledStreamFailsAndEnds) {
  open(of_dialog());
  feed(test::speak("low"));
  EXPECT_EQ(step(), Phase::kHearing);
  session_->stream().cancel();
  EXPECT_EQ(visit(), Phase::kFailed);
  EXPECT_EQ(place_.failed.pop(), session_);
  EXPECT_EQ(session_->failure().code(), ASR_CANCELLED);
  session_->end_with_failure();
  EXPECT_EQ(session_->phase(), Phase::kEnded);
  EXPECT_EQ(events(), (Kinds{ASR_EVENT_READY, ASR_EVENT_ERROR, ASR_EVENT_END}));
}

TEST_F(SessionTest, EachLivePhaseCanFailOnce) {
  for (const Phase phase : {Phase::kBackground, Phase::kHearing, Phase::kChecking, Phase::kChoosing, Phase::kClosing,
                            Phase::kRestarting, Phase::kDropping, Phase::kDraining}) {
    ASSERT_NO_FATAL_FAILURE(reach(phase));
    ASSERT_EQ(session_->phase(), phase);
    EXPECT_TRUE(session_->fail(Error(ASR_INTERNAL, "first")));
    EXPECT_FALSE(session_->fail(Error(ASR_INTERNAL, "second")));
    EXPECT_STREQ(session_->failure().what(), "first");
    EXPECT_FALSE(session_->is_live());
    EXPECT_EQ(complete(), Phase::kFailed);
    session_->end_with_failure();
    EXPECT_EQ(session_->phase(), Phase::kEnded);
  }
}

TEST_F(SessionTest, AnotherDeviceDecodesAgainAfterALoss) {
  Place other;
  open(of_dialog());
  feed(test::speak("low mid"));
  for (int i = 0; i < 5; ++i) step();
  place_.inbox.note_loss(Error(ASR_DEVICE_LOST, "lost"));
  EXPECT_EQ(visit(), Phase::kFailed);
  EXPECT_EQ(place_.failed.pop(), session_);
  session_->move_to(&other.inbox, other.model);
  EXPECT_EQ(session_->phase(), Phase::kBackground);
  EXPECT_FALSE(session_->is_of(&place_.inbox));
  Sessions queued;
  other.inbox.next_sessions(false, 8, std::nullopt, std::nullopt, &queued);
  EXPECT_EQ(queued, Sessions{session_});
  session_->stream().end_utterance();
  session_->begin_step(std::nullopt);
  EXPECT_EQ(session_->phase(), Phase::kHearing);
}

// Frames that the device has left take room of the next window, and are searched even if no row comes with them.
TEST_F(SessionTest, LeftFramesTakeRoom) {
  open({});
  feed(test::speak("low mid"));
  step();
  const auto n_gathered = [&] {
    const uint64_t before = session_->utterance().end_frame();
    visit();
    gather();
    return session_->utterance().end_frame() - before;
  };
  EXPECT_EQ(n_gathered(), 8u);
  complete();
  session_->set_left(3);
  EXPECT_EQ(n_gathered(), 5u);
  complete();
  session_->set_left(8);
  EXPECT_EQ(n_gathered(), 0u);
  EXPECT_EQ(place_.first.size(), 1u);
  complete();
}

// Pieces settle with the frames that the device has searched, not with those that it was given: what it has left in a window
// counts when it has been searched.
TEST_F(SessionTest, LeftFramesAreNotAdvanced) {
  open({});
  visit();
  Utterance utterance(place_.model, name_->get(), {}, 0);
  EXPECT_FALSE(utterance.advanced(500, 0));
  EXPECT_FALSE(utterance.advanced(20, 9));  // 511 frames are searched
  EXPECT_TRUE(utterance.advanced(0, 8));
  EXPECT_FALSE(utterance.advanced(255, 8));
  EXPECT_TRUE(utterance.advanced(0, 0));
}

// Where windows overlap, a session of one in progress is taken only if there is no other.
TEST_F(SessionTest, WindowsTakeOthersFirst) {
  open(of_dialog());
  const SessionPointer other = session_;
  open(of_dialog());
  feed(test::speak("low mid"));
  visit();
  gather();  // queues the session again
  other->notify();
  Sessions queued;
  place_.inbox.next_sessions(false, 8, Inbox::Turns{2, 1}, std::nullopt, &queued);
  EXPECT_EQ(queued, Sessions{other});
  queued.clear();
  place_.inbox.next_sessions(false, 8, Inbox::Turns{2, 1}, std::nullopt, &queued);
  EXPECT_EQ(queued, Sessions{session_});
  complete();
  EXPECT_EQ(session_->n_windows, 0u);
}

// A job of the pool makes a lattice's result; the stream goes on when it has.
TEST_F(SessionTest, ALatticeIsMadeByAJob) {
  StreamOptions options = of_dialog();
  options.lattice_beam = 8;
  open(options);
  feed(test::speak("low"));
  session_->stream().end_utterance();
  feed(test::speak("mid"));
  EXPECT_TRUE(step_until_gathered(Phase::kDraining));
  EXPECT_EQ(complete(), Phase::kResult);
  Sessions queued;
  while (queued.empty()) {  // the job queues the session
    place_.inbox.next_sessions(true, 8, std::nullopt, std::nullopt, &queued);
    if (visit() != Phase::kResult) break;
    queued.clear();
  }
  EXPECT_EQ(session_->phase(), Phase::kHearing);
}

}  // namespace
}  // namespace asr
