// SPDX-License-Identifier: Apache-2.0
// Tests the end of long work: asr_cancel, asr_close and asr_engine_close return soon during work on lattices, and threads ended
// by pthread_cancel leave the library intact.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// A wide lattice of rows without information takes seconds of work. The rows are too few for pieces to settle before their end.
asr_stream_config heavy_stream() {
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  config.lattice_beam = 20;
  config.n_best = 10000;
  return config;
}

StreamPointer open_heavy(asr_engine *engine) {
  StreamPointer stream = open_stream(engine, heavy_stream());
  const std::vector<float> rows(size_t{4} * 500);
  EXPECT_OK(asr_feed(stream.get(), rows.data(), rows.size() / 4));
  EXPECT_OK(asr_finish(stream.get()));
  return stream;
}

// Waits until the work on lattices begins: ENDPOINT comes before it.
void await_endpoint(asr_stream *stream) {
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_ENDPOINT;) {
    ASSERT_OK(asr_wait(stream, 60000));
    asr_event *event = nullptr;
    ASSERT_OK(asr_result(stream, &event));
    kind = asr_event_get_kind(event);
    asr_event_free(event);
  }
}

constexpr double kMaxSeconds = kSanitized ? 1 : 0.1;

// Returns the least time of some tries, so that other load of the machine does not count.
template <typename Call>
double min_seconds(const Call &call) {
  double least = 1e9;
  for (int i = 0; i < 5 && least > kMaxSeconds; ++i) least = std::min(least, call());
  return least;
}

// Milliseconds of work on the lattice before each stop. Its parts are of different kinds.
constexpr int kDelays_ms[] = {0, 20, 50, 100};

TEST(Stopping, LatticeWorkTakesLong) {  // otherwise the tests below prove nothing
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_heavy(engine.get());
  await_endpoint(stream.get());
  EXPECT_EQ(asr_wait(stream.get(), kDelays_ms[3]), ASR_TIMEOUT);
}

void expect_soon(const char *what, const std::function<double(int delay_ms)> &seconds_after) {
  for (const int delay_ms : kDelays_ms) {
    const double seconds = min_seconds([&] { return seconds_after(delay_ms); });
    printf("%s after %d ms of work: %.1f ms\n", what, delay_ms, 1000 * seconds);
    EXPECT_LT(seconds, kMaxSeconds) << what;
  }
}

void sleep_ms(int ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); }

TEST(Stopping, CancelEndsTheStreamSoon) {
  expect_soon("asr_cancel to END", [](int delay_ms) {
    const EnginePointer engine = load_engine();
    const StreamPointer stream = open_heavy(engine.get());
    await_endpoint(stream.get());
    sleep_ms(delay_ms);
    const auto begin = Clock::now();
    EXPECT_OK(asr_cancel(stream.get()));
    const std::vector<std::string> events = poll_every(stream.get());
    const double seconds = seconds_since(begin);
    EXPECT_EQ(events.size(), 2u);
    // Under load this thread may have slept until the work was over.
    const bool is_over = events[0].rfind("FINAL", 0) == 0;
    EXPECT_TRUE(is_over || events[0].rfind("ERROR ASR_CANCELLED", 0) == 0) << events[0];
    return seconds;
  });
}

TEST(Stopping, CloseReturnsSoon) {
  expect_soon("asr_close", [](int delay_ms) {
    const EnginePointer engine = load_engine();
    StreamPointer stream = open_heavy(engine.get());
    await_endpoint(stream.get());
    sleep_ms(delay_ms);
    const auto begin = Clock::now();
    stream.reset();
    return seconds_since(begin);
  });
}

TEST(Stopping, ClosingTheEngineReturnsSoon) {
  expect_soon("asr_close of four and asr_engine_close", [](int delay_ms) {
    EnginePointer engine = load_engine();
    std::vector<StreamPointer> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(open_heavy(engine.get()));
    for (const StreamPointer &stream : streams) await_endpoint(stream.get());
    sleep_ms(delay_ms);
    const auto begin = Clock::now();
    streams.clear();
    engine.reset();
    return seconds_since(begin);
  });
}

// A thread cancelled during a wait ends after the call has returned, and no lock stays held.
TEST(Stopping, AThreadMayBeCancelledInACall) {
  const EnginePointer engine = load_engine();
  for (int round = 0; round < 20; ++round) {
    const StreamPointer stream = open_stream(engine.get());
    struct Waiter {
      asr_stream *stream;
      std::atomic<bool> is_waiting{false}, has_returned{false};
    } waiter{stream.get(), {false}, {false}};
    pthread_t thread;
    const auto wait = [](void *argument) -> void * {
      Waiter *const self = static_cast<Waiter *>(argument);
      asr_event *event = nullptr;
      if (asr_wait(self->stream, -1) == ASR_OK && asr_result(self->stream, &event) == ASR_OK) asr_event_free(event);  // READY
      self->is_waiting = true;
      asr_wait(self->stream, -1);
      self->has_returned = true;
      for (;;) pthread_testcancel();
    };
    ASSERT_EQ(pthread_create(&thread, nullptr, wait, &waiter), 0);
    while (!waiter.is_waiting) std::this_thread::yield();
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    ASSERT_EQ(pthread_cancel(thread), 0);
    const std::vector<int16_t> samples = speak("low");
    ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));  // ends the wait
    ASSERT_OK(asr_finish(stream.get()));
    void *result = nullptr;
    ASSERT_EQ(pthread_join(thread, &result), 0);
    EXPECT_EQ(result, PTHREAD_CANCELED);
    EXPECT_TRUE(waiter.has_returned);
    EXPECT_EQ(final_text(poll_all(stream.get())), "low");
  }
}

}  // namespace
}  // namespace asr::test
