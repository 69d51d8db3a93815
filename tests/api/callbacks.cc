// SPDX-License-Identifier: Apache-2.0
// Tests events by callback: they equal polled events, never overlap, and a callback may make certain calls on its own stream.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Receives the events of one stream; `react` runs in the callback.
struct Listener {
  std::function<void(asr_stream *, const asr_event *)> react;
  std::vector<std::string> events;
  std::atomic<int> n_running{0};
  bool overlapped = false;

  static void receive(asr_stream *stream, asr_event *event, void *user_data) {
    Listener *self = static_cast<Listener *>(user_data);
    if (++self->n_running != 1) self->overlapped = true;
    self->events.push_back(shown(event));
    if (self->react) self->react(stream, event);
    asr_event_free(event);
    --self->n_running;
  }

  StreamPointer open(asr_engine *engine, asr_stream_config config = default_stream()) {
    config.callback = receive;
    config.user_data = this;
    return open_stream(engine, config);
  }
};

TEST(Callbacks, TheSameEventsAsByPoll) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 100;
  const std::vector<int16_t> samples = speak("low high mid");
  const std::vector<std::string> polled = recognize(engine.get(), config, samples, 800);
  Listener listener;
  const StreamPointer stream = listener.open(engine.get(), config);
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(stream.get()));
  ASSERT_OK(asr_wait(stream.get(), -1));
  EXPECT_EQ(without_replaced(listener.events), polled);
  EXPECT_OK(asr_wait(stream.get(), 0));  // END remains delivered
  asr_event *event = nullptr;
  EXPECT_EQ(asr_result(stream.get(), &event), ASR_INVALID_STATE);
}

// Notes how many callbacks of an engine run at once. Each blocks until `n_expected` run, or for a moment.
struct Crowd {
  std::mutex mutex;
  std::condition_variable changed;
  int n_running = 0, max_running = 0, n_expected = 1;

  void visit() {
    std::unique_lock lock(mutex);
    max_running = std::max(max_running, ++n_running);
    changed.notify_all();
    changed.wait_for(lock, std::chrono::milliseconds(20), [&] { return max_running >= n_expected; });
    --n_running;
  }
};

EnginePointer load_with_callback_threads(uint32_t n) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = "cpu";
  config.n_threads = 2;
  config.max_callback_threads = n;
  asr_engine *engine = nullptr;
  EXPECT_OK(asr_engine_load(tone_bundle().c_str(), &config, &engine));
  return {engine, asr_engine_close};
}

TEST(Callbacks, RunOnAsManyThreadsAsAllowed) {
  const std::vector<int16_t> samples = speak("low high");
  for (const int limit : {1, 2}) {
    const EnginePointer engine = load_with_callback_threads(static_cast<uint32_t>(limit));
    Crowd crowd;
    crowd.n_expected = limit + 1;
    std::vector<Listener> listeners(6);
    std::vector<StreamPointer> streams;
    for (Listener &listener : listeners) {
      listener.react = [&](asr_stream *, const asr_event *) { crowd.visit(); };
      streams.push_back(listener.open(engine.get()));
    }
    for (const StreamPointer &stream : streams) {
      ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
      ASSERT_OK(asr_finish(stream.get()));
    }
    for (const StreamPointer &stream : streams) ASSERT_OK(asr_wait(stream.get(), -1));
    EXPECT_LE(crowd.max_running, limit);
    for (const Listener &listener : listeners) EXPECT_EQ(listener.events, listeners[0].events);
  }
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.max_callback_threads = 1025;
  asr_engine *engine = nullptr;
  EXPECT_EQ(asr_engine_load(tone_bundle().c_str(), &config, &engine), ASR_INVALID_ARGUMENT);
}

// The only thread for callbacks runs one that waits for another stream's callbacks, or closes that stream.
TEST(Callbacks, MayWaitForOthersInSpiteOfALimit) {
  const std::vector<int16_t> samples = speak("low high");
  for (const bool closes : {false, true}) {
    const EnginePointer engine = load_with_callback_threads(1);
    Listener awaited, waiting;
    StreamPointer other = awaited.open(engine.get());
    bool has_waited = false;
    waiting.react = [&](asr_stream *, const asr_event *event) {
      if (asr_event_get_kind(event) != ASR_EVENT_FINAL) return;
      ASSERT_OK(asr_feed(other.get(), samples.data(), samples.size()));
      ASSERT_OK(asr_finish(other.get()));
      if (!closes) {
        ASSERT_OK(asr_wait(other.get(), -1));
      }
      other.reset();
      has_waited = true;
    };
    const StreamPointer stream = waiting.open(engine.get());
    ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
    ASSERT_OK(asr_finish(stream.get()));
    ASSERT_OK(asr_wait(stream.get(), -1));
    EXPECT_TRUE(has_waited);
    if (!closes) {
      EXPECT_EQ(awaited.events.back().rfind("END", 0), 0u);
    }
  }
}

TEST(Callbacks, EightStreamsAtOnce) {
  const EnginePointer engine = load_engine(4);
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 50;
  const std::vector<int16_t> samples = speak("low high mid low");
  const std::vector<std::string> expected = recognize(engine.get(), config, samples, 800);
  std::vector<Listener> listeners(8);
  std::vector<std::thread> threads;
  for (Listener &listener : listeners) {
    threads.emplace_back([&] {
      const StreamPointer stream = listener.open(engine.get(), config);
      for (size_t i = 0; i < samples.size(); i += 160) {
        EXPECT_OK(asr_feed(stream.get(), samples.data() + i, std::min<size_t>(160, samples.size() - i)));
      }
      EXPECT_OK(asr_finish(stream.get()));
      EXPECT_OK(asr_wait(stream.get(), -1));
    });
  }
  for (std::thread &thread : threads) thread.join();
  for (const Listener &listener : listeners) {
    EXPECT_EQ(without_replaced(listener.events), expected);
    EXPECT_FALSE(listener.overlapped);
  }
}

// The first callback of each of many streams returns only when another stream has ended.
TEST(Callbacks, ASlowOneDelaysOnlyItsOwnStream) {
  const EnginePointer engine = load_engine();
  std::atomic<bool> other_ended{false};
  std::vector<Listener> slow(20);
  std::vector<StreamPointer> streams;
  for (Listener &listener : slow) {
    listener.react = [&](asr_stream *, const asr_event *) {
      for (int i = 0; i < 10000 && !other_ended; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
      EXPECT_TRUE(other_ended);
    };
    streams.push_back(listener.open(engine.get()));
  }
  Listener quick;
  const StreamPointer stream = quick.open(engine.get());
  const std::vector<int16_t> samples = speak("mid");
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_OK(asr_wait(stream.get(), 9000));
  EXPECT_EQ(final_text(quick.events), "mid");
  other_ended = true;
  for (const StreamPointer &waiting : streams) EXPECT_OK(asr_finish(waiting.get()));
  for (const StreamPointer &waiting : streams) EXPECT_OK(asr_wait(waiting.get(), -1));
}

TEST(Callbacks, MayFeedAndFinish) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("high low high");
  asr_stream_config config = default_stream();
  config.max_backlog_ms = 100;  // a callback that feeds more must not block
  Listener listener;
  listener.react = [&](asr_stream *stream, const asr_event *event) {
    if (asr_event_get_kind(event) != ASR_EVENT_READY) return;
    EXPECT_OK(asr_feed(stream, samples.data(), samples.size()));
    EXPECT_OK(asr_finish(stream));
  };
  const StreamPointer stream = listener.open(engine.get(), config);
  ASSERT_OK(asr_wait(stream.get(), -1));
  EXPECT_EQ(final_text(listener.events), "high low high");
}

TEST(Callbacks, MayCancel) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("high low high low high low");
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 100;
  Listener listener;
  listener.react = [&](asr_stream *stream, const asr_event *event) {
    if (asr_event_get_kind(event) == ASR_EVENT_PARTIAL) {
      EXPECT_OK(asr_cancel(stream));
    }
  };
  const StreamPointer stream = listener.open(engine.get(), config);
  ASSERT_OK(asr_feed(stream.get(), samples.data(), 8000));
  ASSERT_OK(asr_wait(stream.get(), 60000));
  ASSERT_GE(listener.events.size(), 5u);
  EXPECT_EQ(listener.events[listener.events.size() - 2].rfind("ERROR ASR_CANCELLED", 0), 0u);
  EXPECT_EQ(asr_feed(stream.get(), samples.data(), 10), ASR_CANCELLED);
  EXPECT_EQ(asr_finish(stream.get()), ASR_CANCELLED);
}

TEST(Callbacks, MayNotCloseOrWait) {
  const EnginePointer engine = load_engine();
  std::atomic<int> n_logged{0};
  asr_set_log(
      [](asr_log_level, const char *message, void *count) {
        if (std::string(message).find("asr_close") != std::string::npos) ++*static_cast<std::atomic<int> *>(count);
      },
      ASR_LOG_ERROR, &n_logged);
  Listener listener;
  listener.react = [&](asr_stream *stream, const asr_event *event) {
    if (asr_event_get_kind(event) != ASR_EVENT_READY) return;
    asr_close(stream);
    EXPECT_EQ(asr_wait(stream, -1), ASR_INVALID_STATE);
  };
  const StreamPointer stream = listener.open(engine.get());
  ASSERT_OK(asr_finish(stream.get()));
  ASSERT_OK(asr_wait(stream.get(), -1));
  asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
  EXPECT_EQ(n_logged, 1);
  EXPECT_EQ(listener.events.back().rfind("END", 0), 0u);
}

TEST(Callbacks, ClosingWaitsForTheRunningOne) {
  const EnginePointer engine = load_engine();
  for (int round = 0; round < 20; ++round) {
    std::atomic<bool> began{false}, ended{false};
    Listener listener;
    listener.react = [&](asr_stream *, const asr_event *) {
      began = true;
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ended = true;
    };
    StreamPointer stream = listener.open(engine.get());
    while (!began) std::this_thread::yield();
    stream.reset();
    EXPECT_TRUE(ended);
    EXPECT_EQ(listener.events.size(), 1u);
  }
}

// Each of `n` callbacks closes the next stream of a ring, all at once. The engine is closed before.
void close_in_a_ring(int n) {
  EnginePointer engine = load_engine();
  std::vector<Listener> listeners(n);
  std::vector<StreamPointer> streams;
  std::vector<asr_stream *> handles;
  std::atomic<bool> all_are_open{false};
  std::atomic<int> n_inside{0}, n_returned{0};
  for (int i = 0; i < n; ++i) {
    listeners[i].react = [&, i](asr_stream *, const asr_event *event) {
      if (asr_event_get_kind(event) != ASR_EVENT_READY) return;
      ++n_inside;
      while (!all_are_open || n_inside < n) std::this_thread::yield();
      asr_close(handles[(i + 1) % n]);
      ++n_returned;
    };
    streams.push_back(listeners[i].open(engine.get()));
    handles.push_back(streams.back().get());
  }
  for (StreamPointer &stream : streams) (void)stream.release();
  engine.reset();
  all_are_open = true;
  for (int i = 0; i < 10000 && n_returned < n; ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ASSERT_EQ(n_returned, n);
  const auto is_running = [](const Listener &listener) { return listener.n_running > 0; };
  while (std::any_of(listeners.begin(), listeners.end(), is_running)) std::this_thread::yield();
  for (const Listener &listener : listeners) EXPECT_EQ(listener.events.size(), 1u);
}

TEST(Callbacks, MayCloseEachOthersStreams) {
  for (const int n : {2, 3, 5, 2, 2}) close_in_a_ring(n);
}

// Each callback waits for the end of the next stream, all at once. The last call fails, and the others go on.
TEST(Callbacks, ThatWaitForEachOtherAreTold) {
  for (const int n : {2, 3, 5}) {
    const EnginePointer engine = load_engine();
    std::vector<Listener> listeners(n);
    std::vector<StreamPointer> streams;
    std::atomic<int> n_inside{0}, n_refused{0}, n_waited{0};
    std::atomic<bool> all_are_open{false};
    for (int i = 0; i < n; ++i) {
      listeners[i].react = [&, i](asr_stream *, const asr_event *event) {
        if (asr_event_get_kind(event) != ASR_EVENT_READY) return;
        ++n_inside;
        while (!all_are_open || n_inside < n) std::this_thread::yield();
        const asr_status status = asr_wait(streams[(i + 1) % n].get(), -1);
        if (status == ASR_OK) ++n_waited;
        if (status != ASR_INVALID_STATE) return;
        ++n_refused;
        EXPECT_NE(std::string(asr_last_error()).find("neither would end"), std::string::npos) << asr_last_error();
      };
      streams.push_back(listeners[i].open(engine.get()));
    }
    all_are_open = true;
    for (const StreamPointer &stream : streams) EXPECT_OK(asr_finish(stream.get()));
    for (const StreamPointer &stream : streams) ASSERT_OK(asr_wait(stream.get(), 60000));
    EXPECT_EQ(n_refused, 1);
    EXPECT_EQ(n_waited, n - 1);
  }
}

}  // namespace
}  // namespace asr::test
