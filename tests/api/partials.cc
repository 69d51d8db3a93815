// SPDX-License-Identifier: Apache-2.0
// Tests unread partial results: the newest one replaces its predecessor, so memory does not grow with the audio.
#include <malloc.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

constexpr size_t kSeconds = kSanitized ? 12 : 60;

std::vector<int16_t> speech() {
  std::vector<int16_t> samples = speak("low high mid low high mid low high mid low");
  const std::vector<int16_t> part = samples;
  while (samples.size() < kSeconds * 16000) samples.insert(samples.end(), part.begin(), part.end());
  samples.resize(kSeconds * 16000);
  return samples;
}

asr_stream_config every_frame() {
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 10;
  config.max_backlog_ms = 1000;
  return config;
}

// Feeds speech() and returns the largest increase of the memory in use meanwhile.
size_t bytes_of_speech(asr_stream *stream) {
  const std::vector<int16_t> samples = speech();
  const size_t before = mallinfo2().uordblks;
  size_t most = 0;
  for (size_t at = 0; at < samples.size(); at += 16000) {
    EXPECT_OK(asr_feed(stream, samples.data() + at, 16000));
    most = std::max<size_t>(most, mallinfo2().uordblks);
  }
  return most > before ? most - before : 0;
}

void expect_little(size_t bytes) {
  if (!kSanitized) {
    EXPECT_LT(bytes, size_t{24} << 20);  // 6,000 partial results of up to 110 words took 200 MB
  }
}

TEST(Partials, UnreadOnesAreReplaced) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), every_frame());
  expect_little(bytes_of_speech(stream.get()));
  ASSERT_OK(asr_finish(stream.get()));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  const std::vector<std::string> events = poll_every(stream.get());
  ASSERT_GE(events.size(), 6u);
  EXPECT_LT(events.size(), 300u);  // partial results of the last second at most, of 6,000
  EXPECT_EQ(events[0].rfind("READY", 0), 0u);
  EXPECT_EQ(events[1].rfind("SPEECH_START", 0), 0u);
  const size_t n = events.size();
  for (size_t i = 2; i < n - 3; ++i) EXPECT_EQ(events[i].rfind("PARTIAL", 0), 0u) << events[i];
  EXPECT_EQ(events[n - 3].rfind("ENDPOINT", 0), 0u);
  EXPECT_EQ(events[n - 2].rfind("FINAL", 0), 0u);
  EXPECT_EQ(events[n - 1].rfind("END", 0), 0u);
}

// A partial result that was read is never replaced, and each later one is newer.
TEST(Partials, ReadOnesComeInOrder) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), every_frame());
  std::thread feeder([&] {
    bytes_of_speech(stream.get());
    EXPECT_OK(asr_finish(stream.get()));
  });
  double latest_s = 0;
  size_t n_partial = 0;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    ASSERT_OK(asr_wait(stream.get(), 60000));
    asr_event *event = nullptr;
    ASSERT_OK(asr_result(stream.get(), &event));
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_PARTIAL) {
      ++n_partial;
      EXPECT_GT(asr_event_time_s(event), latest_s);
      latest_s = asr_event_time_s(event);
    }
    asr_event_free(event);
  }
  feeder.join();
  EXPECT_GT(n_partial, 10u);
  EXPECT_GE(latest_s, static_cast<double>(kSeconds) - 0.05);
}

// Partial results that wait for the callback's thread are replaced, too.
TEST(Partials, ThoseThatWaitForACallbackAreReplaced) {
  struct Listener {
    std::atomic<bool> may_return{false};
    std::atomic<int> n_partials{0}, n_finals{0};
  } listener;
  const EnginePointer engine = load_engine();
  asr_stream_config config = every_frame();
  config.user_data = &listener;
  config.callback = [](asr_stream *, asr_event *event, void *user_data) {
    Listener *const self = static_cast<Listener *>(user_data);
    if (asr_event_get_kind(event) == ASR_EVENT_PARTIAL) ++self->n_partials;
    if (asr_event_get_kind(event) == ASR_EVENT_FINAL) ++self->n_finals;
    asr_event_free(event);
    while (!self->may_return) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  const StreamPointer stream = open_stream(engine.get(), config);
  expect_little(bytes_of_speech(stream.get()));
  ASSERT_OK(asr_finish(stream.get()));
  std::this_thread::sleep_for(std::chrono::milliseconds(500));
  listener.may_return = true;
  ASSERT_OK(asr_wait(stream.get(), 60000));
  EXPECT_GE(listener.n_partials, 1);
  EXPECT_LT(listener.n_partials, 300);
  EXPECT_EQ(listener.n_finals, 1);
}

}  // namespace
}  // namespace asr::test
