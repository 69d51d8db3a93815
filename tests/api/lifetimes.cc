// SPDX-License-Identifier: Apache-2.0
// Tests handles closed in any order and at any time, cancellation, backlog, and constant memory over many streams.
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

TEST(Lifetimes, AnEngineClosedFirstServesItsStreams) {
  EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("mid high");
  const StreamPointer first = open_stream(engine.get()), second = open_stream(engine.get());
  ASSERT_OK(asr_feed(first.get(), samples.data(), samples.size()));
  engine.reset();
  ASSERT_OK(asr_finish(first.get()));
  EXPECT_EQ(final_text(poll_all(first.get())), "mid high");
  ASSERT_OK(asr_feed(second.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(second.get()));
  EXPECT_EQ(final_text(poll_all(second.get())), "mid high");
}

TEST(Lifetimes, EventsOutliveStreamAndEngine) {
  EnginePointer engine = load_engine();
  StreamPointer stream = open_stream(engine.get());
  const std::vector<int16_t> samples = speak("low");
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(stream.get()));
  asr_event *event = nullptr;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_FINAL; kind = asr_event_get_kind(event)) {
    asr_event_free(event);
    ASSERT_OK(asr_wait(stream.get(), 60000));
    ASSERT_OK(asr_result(stream.get(), &event));
  }
  stream.reset();
  engine.reset();
  EXPECT_STREQ(asr_event_text(event), "low");
  EXPECT_NE(shown(event).find("low#1(0.1"), std::string::npos) << shown(event);
  asr_event_free(event);
}

TEST(Lifetimes, StreamsCloseAtAnyTime) {
  const EnginePointer engine = load_engine(2);
  const std::vector<int16_t> samples = speak("low mid high low mid high");
  for (size_t n = 0; n <= samples.size(); n += 4999) {
    for (const bool finish : {false, true}) {
      StreamPointer untaken = open_stream(engine.get()), fed = open_stream(engine.get());
      EXPECT_OK(asr_feed(fed.get(), samples.data(), n));
      if (finish) {
        EXPECT_OK(asr_finish(fed.get()));
      }
    }
  }
  EXPECT_EQ(final_text(recognize(engine.get(), default_stream(), samples, 1000)), "low mid high low mid high");
}

TEST(Lifetimes, CancelledStreamsEndAndHarmNobody) {
  const EnginePointer engine = load_engine(4);
  const std::vector<int16_t> samples = speak("low mid high low mid high");
  const std::vector<std::string> expected = recognize(engine.get(), default_stream(), samples, 1000);
  std::atomic<bool> stop{false};
  std::thread canceller([&] {
    while (!stop) {
      const StreamPointer stream = open_stream(engine.get());
      EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
      EXPECT_OK(asr_cancel(stream.get()));
      EXPECT_OK(asr_cancel(stream.get()));
      const std::vector<std::string> events = poll_all(stream.get());
      ASSERT_GE(events.size(), 3u);
      EXPECT_EQ(events[events.size() - 2].rfind("ERROR ASR_CANCELLED", 0), 0u) << events[events.size() - 2];
    }
  });
  for (int i = 0; i < 10; ++i) EXPECT_EQ(recognize(engine.get(), default_stream(), samples, 777), expected);
  stop = true;
  canceller.join();
}

TEST(Lifetimes, CancelWakesAFeedThatWaits) {
  const EnginePointer engine = load_engine(1, 8);
  asr_stream_config config = default_stream();
  config.max_backlog_ms = 1;
  const StreamPointer stream = open_stream(engine.get(), config);
  std::atomic<asr_status> status{ASR_OK};
  std::thread feeder([&] {
    const std::vector<int16_t> second(16000);
    while (status == ASR_OK) status = asr_feed(stream.get(), second.data(), second.size());
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(50));
  EXPECT_OK(asr_cancel(stream.get()));
  feeder.join();
  EXPECT_EQ(status, ASR_CANCELLED);
}

TEST(Lifetimes, BacklogChangesNothing) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low mid high low mid high low low");
  const std::vector<std::string> expected = recognize(engine.get(), default_stream(), samples, samples.size());
  for (const uint32_t max_backlog_ms : {0u, 1u, 10u, 500u}) {
    asr_stream_config config = default_stream();
    config.max_backlog_ms = max_backlog_ms;
    EXPECT_EQ(recognize(engine.get(), config, samples, samples.size()), expected) << max_backlog_ms;
    config.cmn = ASR_CMN_BATCH;
    EXPECT_EQ(recognize(engine.get(), config, samples, samples.size()).size(), expected.size()) << max_backlog_ms;
  }
}

// Batch normalisation keeps cepstra, not the audio: an hour would be 230 MB of samples.
TEST(Lifetimes, BatchNormalisationKeepsNoAudio) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.cmn = ASR_CMN_BATCH;
  config.max_backlog_ms = 1000;
  const StreamPointer stream = open_stream(engine.get(), config);
  const std::vector<int16_t> minute(size_t{60} * 16000);
  const size_t before = resident_bytes();
  for (int i = 0; i < (kSanitized ? 5 : 60); ++i) ASSERT_OK(asr_feed(stream.get(), minute.data(), minute.size()));
  EXPECT_GT(before, 0u);
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), before + (100u << 20));
  }
  ASSERT_OK(asr_cancel(stream.get()));
}

TEST(Lifetimes, TwoThreadsMayFeedOneStream) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get());
  const std::vector<int16_t> samples(size_t{160} * 100);
  std::vector<std::thread> threads;
  for (int t = 0; t < 2; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 100; ++i) EXPECT_OK(asr_feed(stream.get(), samples.data(), 160));
    });
  }
  for (std::thread &thread : threads) thread.join();
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_NE(poll_all(stream.get()).back().find("t=2.0000"), std::string::npos);
}

TEST(Lifetimes, MemoryStaysFlatOverStreams) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("mid");
  size_t early = 0;
  for (int i = 0; i < (kSanitized ? 300 : 1000); ++i) {
    const StreamPointer stream = open_stream(engine.get());
    EXPECT_OK(asr_feed(stream.get(), samples.data(), i % 3 == 0 ? 100 : samples.size()));
    if (i % 3 == 1) {
      EXPECT_OK(asr_finish(stream.get()));
      poll_all(stream.get());
    }
    if (i == 200) early = resident_bytes();
  }
  EXPECT_GT(early, 0u);
  if (!kSanitized) {
    EXPECT_LT(resident_bytes(), early + (4u << 20));
  }
}

TEST(Lifetimes, EnginesComeAndGo) {
  for (int i = 0; i < 30; ++i) {
    const EnginePointer engine = load_engine();
    const StreamPointer stream = open_stream(engine.get());
    if (i % 2 == 0) {
      EXPECT_OK(asr_finish(stream.get()));
    }
  }
  std::vector<EnginePointer> several;
  for (int i = 0; i < 3; ++i) several.push_back(load_engine());
  for (const EnginePointer &engine : several) {
    EXPECT_EQ(final_text(recognize(engine.get(), default_stream(), speak("low"), 1000)), "low");
  }
}

}  // namespace
}  // namespace asr::test
