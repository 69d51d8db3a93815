// SPDX-License-Identifier: Apache-2.0
// Tests the calls of a dialog on a running stream: asr_cancel_utterance, asr_reset and asr_try_feed, in every state and from
// many threads.
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;
using Samples = std::vector<int16_t>;

constexpr const char *kDevices[] = {"cpu", "overlapping", "stepping:0", "stepping:3"};

asr_stream_config dictation(asr_vad vad = ASR_VAD_DEFAULT, float lattice_beam = 0) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_DICTATION;
  config.vad = vad;
  config.lattice_beam = lattice_beam;
  return config;
}

void feed(asr_stream *stream, const Samples &samples) { ASSERT_OK(asr_feed(stream, samples.data(), samples.size())); }

struct Event {
  asr_event_kind kind;
  uint32_t flags;
  std::string text;
  double start_s;  // start of the first word
};

// Waits for the next event of a stream.
Event next(asr_stream *stream) {
  EXPECT_OK(asr_wait(stream, 20000));
  asr_event *taken = nullptr;
  EXPECT_OK(asr_result(stream, &taken));
  Event event{asr_event_get_kind(taken), asr_event_flags(taken), asr_event_text(taken), -1};
  asr_word word;
  word.size = sizeof(word);
  if (asr_event_n_words(taken, 0) > 0 && asr_event_word(taken, 0, 0, &word) == ASR_OK) event.start_s = word.start_s;
  asr_event_free(taken);
  return event;
}

Event next_of(asr_stream *stream, asr_event_kind kind) {
  for (;;) {
    Event event = next(stream);
    if (event.kind == kind || event.kind == ASR_EVENT_END) return event;
  }
}

// ---- asr_cancel_utterance

TEST(CancelUtterance, EndsWhatWasHeardWithoutWords) {
  const Samples first = speak("low mid"), second = speak("high");
  for (const char *device : kDevices) {
    const EnginePointer engine = load_engine(4, 16, "", device);
    for (const float lattice_beam : {0.0f, 6.0f}) {
      const StreamPointer stream = open_stream(engine.get(), dictation(ASR_VAD_DEFAULT, lattice_beam));
      feed(stream.get(), first);
      EXPECT_EQ(next_of(stream.get(), ASR_EVENT_SPEECH_START).kind, ASR_EVENT_SPEECH_START);
      ASSERT_OK(asr_cancel_utterance(stream.get()));
      EXPECT_EQ(next(stream.get()).kind, ASR_EVENT_ENDPOINT);  // comes without further audio
      const Event dropped = next(stream.get());
      EXPECT_EQ(dropped.kind, ASR_EVENT_FINAL);
      EXPECT_EQ(dropped.flags, ASR_FLAG_CANCELLED | ASR_FLAG_NO_SPEECH);
      EXPECT_EQ(dropped.text, "");
      feed(stream.get(), second);
      ASSERT_OK(asr_finish(stream.get()));
      const Event kept = next_of(stream.get(), ASR_EVENT_FINAL);
      EXPECT_EQ(kept.text, "high") << device;
      EXPECT_NEAR(kept.start_s, static_cast<double>(first.size()) / 16000 + kPause_s, 0.05) << device;
      EXPECT_EQ(next(stream.get()).kind, ASR_EVENT_END);
    }
  }
}

TEST(CancelUtterance, SaysNothingOfWhatWasNotHeard) {
  for (const char *device : kDevices) {
    const EnginePointer engine = load_engine(4, 16, "", device);
    for (const asr_vad vad : {ASR_VAD_OFF, ASR_VAD_ON}) {
      const StreamPointer stream = open_stream(engine.get(), dictation(vad));
      ASSERT_OK(asr_cancel_utterance(stream.get()));
      for (int i = 0; i < 5; ++i) {
        feed(stream.get(), speak(""));
        ASSERT_OK(asr_cancel_utterance(stream.get()));
      }
      ASSERT_OK(asr_end_utterance(stream.get()));
      ASSERT_OK(asr_finish(stream.get()));
      EXPECT_EQ(poll_every(stream.get()).size(), 2u) << device;  // READY, END
    }
  }
}

// Later words do not depend on when the engine sees the call. They exclude the words before the call, decoded or not.
TEST(CancelUtterance, LeavesWhatFollows) {
  for (const char *device : kDevices) {
    const EnginePointer engine = load_engine(4, 16, "", device);
    for (const asr_vad vad : {ASR_VAD_OFF, ASR_VAD_ON}) {
      for (const size_t n_fed : {1u, 3000u, 7001u, 9000u, 12345u}) {
        const Samples spoken = speak("low mid high");
        const StreamPointer stream = open_stream(engine.get(), dictation(vad));
        for (size_t at = 0; at < n_fed; at += 500) {
          ASSERT_OK(asr_feed(stream.get(), spoken.data() + at, std::min<size_t>(500, n_fed - at)));
        }
        ASSERT_OK(asr_cancel_utterance(stream.get()));
        feed(stream.get(), speak("mid mid"));
        ASSERT_OK(asr_finish(stream.get()));
        std::vector<std::string> texts;
        std::string kinds;
        for (Event event = next(stream.get()); event.kind != ASR_EVENT_END; event = next(stream.get())) {
          kinds += "?RSPEFX"[event.kind];
          if (event.kind == ASR_EVENT_FINAL && (event.flags & ASR_FLAG_CANCELLED) == 0) texts.push_back(event.text);
        }
        EXPECT_EQ(texts, std::vector<std::string>{"mid mid"}) << device << " " << n_fed;
        EXPECT_TRUE(kinds == "RSEF" || kinds == "RSEFSEF") << device << " " << n_fed << " " << kinds;
      }
    }
  }
}

TEST(CancelUtterance, ManyInOneStream) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), dictation());
  size_t n_fed = 0;
  for (int i = 0; i < 50; ++i) {
    const Samples dropped = speak("high low"), kept = speak("mid");
    feed(stream.get(), dropped);
    ASSERT_OK(asr_cancel_utterance(stream.get()));
    feed(stream.get(), kept);
    ASSERT_OK(asr_end_utterance(stream.get()));
    n_fed += dropped.size();
    Event final = next_of(stream.get(), ASR_EVENT_FINAL);
    while ((final.flags & ASR_FLAG_CANCELLED) != 0) final = next_of(stream.get(), ASR_EVENT_FINAL);
    ASSERT_EQ(final.text, "mid") << i;
    ASSERT_NEAR(final.start_s, static_cast<double>(n_fed) / 16000 + kPause_s, 0.05) << i;
    n_fed += kept.size();
  }
}

TEST(CancelUtterance, NothingFollowsIfTheAudioEnds) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), dictation());
  feed(stream.get(), speak("low mid"));
  ASSERT_OK(asr_cancel_utterance(stream.get()));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(final_text(poll_every(stream.get())).find("low"), std::string::npos);
}

TEST(CancelUtterance, NeedsEndpoints) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get());
  EXPECT_EQ(asr_cancel_utterance(stream.get()), ASR_INVALID_STATE);
  EXPECT_EQ(asr_cancel_utterance(nullptr), ASR_INVALID_ARGUMENT);
  const StreamPointer finished = open_stream(engine.get(), dictation());
  ASSERT_OK(asr_finish(finished.get()));
  EXPECT_EQ(asr_cancel_utterance(finished.get()), ASR_INVALID_STATE);
}

// ---- asr_reset

// Feeds and finishes an open stream, and polls all of its events.
Events hear(asr_stream *stream, const Samples &samples) {
  feed(stream, samples);
  EXPECT_OK(asr_finish(stream));
  return poll_all(stream);
}

TEST(Reset, BeginsAnewInEveryState) {
  const Samples samples = speak("low high"), other = speak("mid");
  for (const char *device : kDevices) {
    const EnginePointer engine = load_engine(4, 16, "", device);
    for (const bool endpoints : {false, true}) {
      asr_stream_config config = endpoints ? dictation(ASR_VAD_DEFAULT, 6) : default_stream();
      config.cmn = ASR_CMN_LIVE;
      const Events expected = recognize(engine.get(), config, samples, samples.size());
      const StreamPointer stream = open_stream(engine.get(), config);
      asr_stream *const at = stream.get();
      const auto fed_and = [&](asr_status (*call)(asr_stream *)) {
        feed(at, other);
        const asr_status status = call(at);
        EXPECT_EQ(status,
                  call == asr_end_utterance || call == asr_cancel_utterance ? endpoints ? ASR_OK : ASR_INVALID_STATE : ASR_OK);
      };
      const std::function<void()> states[] = {
          [&] {},
          [&] { feed(at, other); },
          [&] { EXPECT_OK(asr_finish(at)); },
          [&] { fed_and(asr_finish); },
          [&] { hear(at, other); },
          [&] { fed_and(asr_cancel); },
          [&] { fed_and(asr_cancel), poll_every(at); },
          [&] { feed(at, other), next(at); },
          [&] { fed_and(asr_end_utterance); },
          [&] { fed_and(asr_cancel_utterance); },
          [&] { fed_and(asr_reset); },
      };
      for (size_t i = 0; i < std::size(states); ++i) {
        states[i]();
        ASSERT_OK(asr_reset(stream.get()));
        EXPECT_EQ(hear(stream.get(), samples), expected) << device << " " << endpoints << " " << i;
        ASSERT_OK(asr_reset(stream.get()));
      }
    }
  }
}

TEST(Reset, AWaitGoesOnWithTheEventsToCome) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get());
  EXPECT_EQ(next(stream.get()).kind, ASR_EVENT_READY);
  std::thread waiting([&] { EXPECT_EQ(next(stream.get()).kind, ASR_EVENT_READY); });
  std::this_thread::sleep_for(std::chrono::milliseconds(20));
  ASSERT_OK(asr_reset(stream.get()));
  waiting.join();
}

// Events come one at a time and in order; no event from before the reset comes after it.
TEST(Reset, InTheStreamsOwnCallback) {
  struct Seen {
    asr_event_kind reset_at;
    std::mutex mutex;
    std::string kinds;
    std::vector<std::string> texts;
    std::atomic<int> n_running{0}, n_resets{0};
  };
  const auto on_event = [](asr_stream *stream, asr_event *event, void *user_data) {
    Seen &s = *static_cast<Seen *>(user_data);
    EXPECT_EQ(s.n_running++, 0);
    const asr_event_kind kind = asr_event_get_kind(event);
    {
      const std::lock_guard lock(s.mutex);
      s.kinds += "?RSPEFX."[kind];
      if (kind == ASR_EVENT_FINAL) s.texts.emplace_back(asr_event_text(event));
    }
    asr_event_free(event);
    if (kind == s.reset_at && s.n_resets++ < 3) {
      EXPECT_EQ(asr_reset(stream), ASR_OK);
      std::this_thread::sleep_for(std::chrono::milliseconds(5));  // READY waits for this callback
      const Samples samples = speak("mid");
      EXPECT_EQ(asr_feed(stream, samples.data(), samples.size()), ASR_OK);
      EXPECT_EQ(asr_finish(stream), ASR_OK);
    }
    --s.n_running;
  };
  const EnginePointer engine = load_engine();
  for (const asr_event_kind reset_at : {ASR_EVENT_FINAL, ASR_EVENT_END}) {
    Seen seen;
    seen.reset_at = reset_at;
    asr_stream_config config = default_stream();
    config.user_data = &seen;
    config.callback = on_event;
    const StreamPointer stream = open_stream(engine.get(), config);
    feed(stream.get(), speak("low"));
    ASSERT_OK(asr_finish(stream.get()));
    ASSERT_OK(asr_wait(stream.get(), 20000));
    const std::lock_guard lock(seen.mutex);
    EXPECT_EQ(seen.kinds, reset_at == ASR_EVENT_FINAL ? "RSEFRSEFRSEFRSEF." : "RSEF.RSEF.RSEF.RSEF.");
    EXPECT_EQ(seen.texts, (std::vector<std::string>{"low", "mid", "mid", "mid"}));
  }
}

TEST(Reset, ABlockedFeedReturns) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.max_backlog_ms = 80;
  const StreamPointer stream = open_stream(engine.get(), config);
  const Samples samples(size_t{16000} * 120);
  std::atomic<bool> done{false};
  std::thread feeding([&] {
    asr_status status = ASR_OK;
    while (status == ASR_OK && !done) status = asr_feed(stream.get(), samples.data(), samples.size());
    EXPECT_TRUE(status == ASR_OK || status == ASR_CANCELLED) << asr_status_text(status);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(10));
  ASSERT_OK(asr_reset(stream.get()));
  done = true;
  ASSERT_OK(asr_reset(stream.get()));
  feeding.join();
  ASSERT_OK(asr_reset(stream.get()));
  EXPECT_EQ(final_text(hear(stream.get(), speak("low high"))), "low high");
  EXPECT_EQ(asr_reset(nullptr), ASR_INVALID_ARGUMENT);
}

// Makes all calls at once on two streams; after a reset both behave like new streams.
TEST(Reset, FromManyThreads) {
  const EnginePointer engine = load_engine(4, 16);
  std::vector<StreamPointer> streams;
  for (int i = 0; i < 2; ++i) streams.push_back(open_stream(engine.get(), dictation(ASR_VAD_DEFAULT, i == 0 ? 0 : 6.0f)));
  std::atomic<bool> done{false};
  std::vector<std::thread> threads;
  for (uint32_t t = 0; t < 6; ++t) {
    threads.emplace_back([&, t] {
      const Samples samples = speak(t % 2 == 0 ? "low mid" : "high");
      for (uint32_t i = 0; !done; ++i) {
        asr_stream *const stream = streams[(t + i) % 2].get();
        const size_t n = size_t{100} * ((7 * i + t) % 200);
        asr_event *event = nullptr;
        if (t < 2) (void)asr_feed(stream, samples.data(), std::min(n, samples.size()));
        if (t == 2) (void)asr_try_feed(stream, samples.data(), std::min(n, samples.size()));
        if (t == 3) (void)(i % 3 == 0 ? asr_end_utterance(stream) : asr_cancel_utterance(stream));
        if (t == 4) (void)asr_reset(stream);
        if (t == 5 && asr_wait(stream, 1) == ASR_OK) (void)asr_result(stream, &event);
        if (t == 5 && i % 50 == 0) (void)(i % 100 == 0 ? asr_finish(stream) : asr_cancel(stream));
        asr_event_free(event);
        if (t > 2) std::this_thread::sleep_for(std::chrono::microseconds(300));
      }
    });
  }
  std::this_thread::sleep_for(std::chrono::milliseconds(700));
  done = true;
  for (std::thread &thread : threads) thread.join();
  for (const StreamPointer &stream : streams) {
    ASSERT_OK(asr_reset(stream.get()));
    EXPECT_EQ(final_text(hear(stream.get(), speak("mid low"))), "mid low");
  }
}

// ---- asr_try_feed

TEST(TryFeed, TakesAllOrNothing) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.max_backlog_ms = 80;
  Samples samples;
  for (int i = 0; i < 20; ++i) {
    const Samples more = speak("low mid high");
    samples.insert(samples.end(), more.begin(), more.end());
  }
  const Events expected = recognize(engine.get(), config, samples, 16000);
  const StreamPointer stream = open_stream(engine.get(), config);
  size_t n_busy = 0;
  for (size_t at = 0; at < samples.size();) {
    const size_t n = std::min<size_t>(at == 0 ? 200000 : 4001, samples.size() - at);
    const asr_status status = asr_try_feed(stream.get(), samples.data() + at, n);
    if (status == ASR_OK) at += n;
    if (status == ASR_OK) continue;
    ASSERT_EQ(status, ASR_BUSY) << asr_last_error();
    ++n_busy;
    std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(poll_all(stream.get()), expected);
  EXPECT_GT(n_busy, 0u);
  EXPECT_EQ(asr_try_feed(stream.get(), samples.data(), 1), ASR_INVALID_STATE);
  EXPECT_EQ(asr_try_feed(nullptr, samples.data(), 1), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_try_feed(stream.get(), nullptr, 1), ASR_INVALID_ARGUMENT);
}

TEST(TryFeed, IsNeverBusyWithoutALimit) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.max_backlog_ms = 0;
  const StreamPointer stream = open_stream(engine.get(), config);
  const Samples samples(160000);
  for (int i = 0; i < 20; ++i) ASSERT_OK(asr_try_feed(stream.get(), samples.data(), samples.size()));
  config.input = ASR_INPUT_FLOAT;
  const StreamPointer floats = open_stream(engine.get(), config);
  const float bad = NAN;
  EXPECT_EQ(asr_try_feed(floats.get(), &bad, 1), ASR_BAD_AUDIO);
}

}  // namespace
}  // namespace asr::test
