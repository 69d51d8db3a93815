// SPDX-License-Identifier: Apache-2.0
// Ending what takes long: asr_cancel, asr_close and asr_engine_close return soon while lattices are worked on, and threads that
// pthread_cancel ends leave the library whole.
#include <pthread.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); }

// Rows that say nothing, with a wide lattice: its work takes seconds.
asr_stream_config heavy_stream() {
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  config.lattice_beam = 12;
  config.n_best = 1000;
  return config;
}

StreamPointer open_heavy(asr_engine *engine) {
  StreamPointer stream = open_stream(engine, heavy_stream());
  std::vector<float> rows(4 * 4000);
  uint32_t random = 1;
  for (float &value : rows) value = -static_cast<float>((random = random * 1664525 + 1013904223) >> 28) / 100;
  EXPECT_OK(asr_feed(stream.get(), rows.data(), rows.size() / 4));
  EXPECT_OK(asr_finish(stream.get()));
  return stream;
}

// Until the work on lattices has begun: ENDPOINT comes before it.
void await_endpoint(asr_stream *stream) {
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_ENDPOINT;) {
    ASSERT_OK(asr_wait(stream, 60000));
    asr_event *event = nullptr;
    ASSERT_OK(asr_result(stream, &event));
    kind = asr_event_get_kind(event);
    asr_event_free(event);
  }
}

// The least of some tries, so that what else the machine does does not count; each took longer than `most` if all did.
template <typename Call>
double least_seconds(const Call &call) {
  double least = 1e9;
  for (int i = 0; i < 5 && least > 0.1; ++i) least = std::min(least, call());
  return least;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr double kMostSeconds = 1;
#else
constexpr double kMostSeconds = 0.1;
#endif

TEST(Stopping, LatticeWorkTakesLong) {  // else the tests below show nothing
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_heavy(engine.get());
  await_endpoint(stream.get());
  EXPECT_EQ(asr_wait(stream.get(), 400), ASR_TIMEOUT);
  RecordProperty("still_at_work", 1);
}

TEST(Stopping, CancelReturnsSoonAndSoDoesItsEnd) {
  const double seconds = least_seconds([] {
    const EnginePointer engine = load_engine();
    const StreamPointer stream = open_heavy(engine.get());
    await_endpoint(stream.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto begin = Clock::now();
    EXPECT_OK(asr_cancel(stream.get()));
    const std::vector<std::string> events = poll_every(stream.get());
    const double took = seconds_since(begin);
    EXPECT_EQ(events.size(), 2u);
    EXPECT_EQ(events[0].rfind("ERROR ASR_CANCELLED", 0), 0u) << events[0];
    return took;
  });
  printf("asr_cancel to END: %.1f ms\n", 1000 * seconds);
  EXPECT_LT(seconds, kMostSeconds);
}

TEST(Stopping, CloseReturnsSoon) {
  const double seconds = least_seconds([] {
    const EnginePointer engine = load_engine();
    StreamPointer stream = open_heavy(engine.get());
    await_endpoint(stream.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto begin = Clock::now();
    stream.reset();
    return seconds_since(begin);
  });
  printf("asr_close: %.1f ms\n", 1000 * seconds);
  EXPECT_LT(seconds, kMostSeconds);
}

TEST(Stopping, ClosingTheEngineReturnsSoon) {
  const double seconds = least_seconds([] {
    EnginePointer engine = load_engine();
    std::vector<StreamPointer> streams;
    for (int i = 0; i < 4; ++i) streams.push_back(open_heavy(engine.get()));
    for (const StreamPointer &stream : streams) await_endpoint(stream.get());
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const auto begin = Clock::now();
    streams.clear();
    engine.reset();
    return seconds_since(begin);
  });
  printf("asr_close of four and asr_engine_close: %.1f ms\n", 1000 * seconds);
  EXPECT_LT(seconds, kMostSeconds);
}

// A thread that is cancelled while it waits ends after the call has returned, and nothing stays locked.
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
