// SPDX-License-Identifier: Apache-2.0
// Tests streams with a live mean: results do not depend on chunks, and states pass from stream to stream. Partial results come
// while audio is fed, or the log says why not.
#include <gtest/gtest.h>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

asr_stream_config live_stream() {
  asr_stream_config config = default_stream();
  config.cmn = ASR_CMN_LIVE;
  return config;
}

EnginePointer load(uint32_t max_lanes = 8, uint32_t window_frames = 32) {
  return load_engine(max_lanes, window_frames, tone_bundle_with_mean());
}

std::string state_of(asr_stream *stream) {
  size_t n = 0;
  EXPECT_OK(asr_stream_get_state(stream, nullptr, 0, &n));
  std::string bytes(n, 'x');
  EXPECT_OK(asr_stream_get_state(stream, bytes.data(), bytes.size(), &n));
  EXPECT_EQ(n, bytes.size());
  return bytes;
}

struct Heard {
  Events events;
  std::string state;
};

Heard hear(asr_engine *engine, const asr_stream_config &config, const std::vector<int16_t> &samples, size_t chunk,
           const std::string &state = "") {
  const StreamPointer stream = open_stream(engine, config);
  if (!state.empty()) {
    EXPECT_OK(asr_stream_set_state(stream.get(), state.data(), state.size()));
  }
  for (size_t i = 0; i < samples.size(); i += chunk) {
    EXPECT_OK(asr_feed(stream.get(), samples.data() + i, std::min(chunk, samples.size() - i)));
  }
  EXPECT_OK(asr_finish(stream.get()));
  Heard heard;
  heard.events = poll_all(stream.get());
  heard.state = state_of(stream.get());
  return heard;
}

TEST(LiveMean, ChunksWindowsLanesAndOtherStreamsChangeNothing) {
  const std::vector<int16_t> samples = speak("low high mid low low");
  asr_stream_config config = live_stream();
  config.partial_interval_ms = 200;
  const Heard whole = hear(load().get(), config, samples, samples.size());
  for (const uint32_t window_frames : {8u, 31u, 256u}) {
    for (const uint32_t max_lanes : {1u, 3u}) {
      const EnginePointer engine = load(max_lanes, window_frames);
      const StreamPointer other = open_stream(engine.get(), config);
      for (const size_t chunk : {100u, 1000u, 16000u}) {
        ASSERT_OK(asr_feed(other.get(), samples.data(), chunk / 2));
        const Heard heard = hear(engine.get(), config, samples, chunk);
        EXPECT_EQ(heard.events, whole.events) << "chunks of " << chunk << ", windows of " << window_frames;
        EXPECT_EQ(heard.state, whole.state) << "chunks of " << chunk << ", windows of " << window_frames;
      }
    }
  }
}

TEST(LiveMean, AStateChangesTheStartOfTheNextStream) {
  const EnginePointer engine = load();
  const std::vector<int16_t> samples = speak("low mid high");
  const Heard cold = hear(engine.get(), live_stream(), samples, 1000);
  const Heard warm = hear(engine.get(), live_stream(), samples, 1000, cold.state);
  EXPECT_NE(warm.events, cold.events);
  EXPECT_NE(warm.state, cold.state);
  EXPECT_EQ(hear(engine.get(), live_stream(), samples, 77, cold.state).events, warm.events);
  EXPECT_EQ(hear(load(1, 8).get(), live_stream(), samples, 77, cold.state).state, warm.state);
}

TEST(LiveMean, StatesHaveTheirErrors) {
  const EnginePointer engine = load();
  const StreamPointer stream = open_stream(engine.get(), live_stream());
  const std::string state = state_of(stream.get());
  EXPECT_LE(state.size(), 16384u);
  std::string room(state.size() - 1, 'x');
  size_t n = 7;
  EXPECT_EQ(asr_stream_get_state(stream.get(), room.data(), room.size(), &n), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(n, 7u);
  EXPECT_EQ(room, std::string(room.size(), 'x'));
  EXPECT_EQ(asr_stream_get_state(stream.get(), room.data(), room.size(), nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_get_state(nullptr, nullptr, 0, &n), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_set_state(stream.get(), nullptr, 8), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_set_state(stream.get(), "", 0), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_set_state(stream.get(), state.data(), state.size() - 1), ASR_INVALID_ARGUMENT);
  std::string newer = state;
  newer[8] = 2;
  EXPECT_EQ(asr_stream_set_state(stream.get(), newer.data(), newer.size()), ASR_UNSUPPORTED);
  ASSERT_OK(asr_stream_set_state(stream.get(), state.data(), state.size()));
  const int16_t sample = 0;
  ASSERT_OK(asr_feed(stream.get(), &sample, 0));
  ASSERT_OK(asr_stream_set_state(stream.get(), state.data(), state.size()));  // allowed before any audio
  ASSERT_OK(asr_feed(stream.get(), &sample, 1));
  EXPECT_EQ(asr_stream_set_state(stream.get(), state.data(), state.size()), ASR_INVALID_STATE);
  for (const asr_cmn cmn : {ASR_CMN_BATCH, ASR_CMN_NONE, ASR_CMN_MODEL}) {
    asr_stream_config config = default_stream();
    config.cmn = cmn;
    const StreamPointer without = open_stream(engine.get(), config);
    EXPECT_EQ(asr_stream_get_state(without.get(), nullptr, 0, &n), ASR_INVALID_STATE);
    const asr_status status = asr_stream_set_state(without.get(), state.data(), state.size());
    EXPECT_EQ(status, cmn == ASR_CMN_NONE ? ASR_INVALID_STATE : ASR_INVALID_ARGUMENT);  // batch takes another kind of state
  }
}

// Frames that wait for the mean belong to the utterance that asr_end_utterance ends, not to the next one.
TEST(LiveMean, AnUtteranceThatEndsEarlyHasItsFrames) {
  asr_stream_config config = live_stream();
  config.endpoint = ASR_ENDPOINT_DICTATION;
  const EnginePointer engine = load();
  std::vector<int16_t> samples = speak("low");
  samples.resize(static_cast<size_t>(16000 * (kPause_s + 0.15)));  // fewer frames than the look-ahead are speech
  for (const size_t chunk : {100u, 16000u}) {
    const StreamPointer stream = open_stream(engine.get(), config);
    for (size_t i = 0; i < samples.size(); i += chunk) {
      ASSERT_OK(asr_feed(stream.get(), samples.data() + i, std::min(chunk, samples.size() - i)));
    }
    ASSERT_OK(asr_end_utterance(stream.get()));
    double endpoint_s = 0;
    while (endpoint_s == 0) {
      ASSERT_OK(asr_wait(stream.get(), 20000));
      asr_event *event = nullptr;
      ASSERT_OK(asr_result(stream.get(), &event));
      if (asr_event_get_kind(event) == ASR_EVENT_ENDPOINT) endpoint_s = asr_event_time_s(event);
      asr_event_free(event);
    }
    EXPECT_NEAR(endpoint_s, kPause_s + 0.15, 0.06) << chunk;
  }
}

// Returns the kind of the first event after SPEECH_START of an unfinished stream; 0 if none comes.
int first_result(asr_engine *engine, const asr_stream_config &config) {
  const std::vector<int16_t> samples = speak("low mid high low mid high");
  const StreamPointer stream = open_stream(engine, config);
  EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  for (;;) {
    if (asr_wait(stream.get(), 300) != ASR_OK) return 0;
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream.get(), &event));
    const int kind = asr_event_get_kind(event);
    asr_event_free(event);
    if (kind != ASR_EVENT_READY && kind != ASR_EVENT_SPEECH_START) return kind;
  }
}

void keep_line(asr_log_level, const char *message, void *lines) {
  if (std::string(message).find("PARTIAL") != std::string::npos) static_cast<Events *>(lines)->push_back(message);
}

TEST(LiveMean, PartialResultsComeWhileAudioIsFedOrTheLogSaysWhyNot) {
  Events lines;
  const EnginePointer engine = load();
  asr_set_log(keep_line, ASR_LOG_WARNING, &lines);
  asr_stream_config config = default_stream();  // the model's default is batch
  config.partial_interval_ms = 200;
  EXPECT_EQ(first_result(engine.get(), config), ASR_EVENT_PARTIAL);
  EXPECT_TRUE(lines.empty());
  config.cmn = ASR_CMN_BATCH;
  EXPECT_EQ(first_result(engine.get(), config), 0);
  (void)first_result(engine.get(), config);
  asr_set_log(nullptr, ASR_LOG_WARNING, nullptr);
  ASSERT_EQ(lines.size(), 1u);  // once per engine
  EXPECT_NE(lines[0].find("ASR_CMN_LIVE"), std::string::npos) << lines[0];
}

}  // namespace
}  // namespace asr::test
