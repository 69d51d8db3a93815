// SPDX-License-Identifier: Apache-2.0
// Tests streams that measure the mean of a recording (ASR_CMN_MEASURE), and streams that begin with it: these have the events
// of streams that keep all cepstra, bit for bit, and results while audio is fed.
#include <gtest/gtest.h>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

asr_stream_config stream_with(asr_cmn cmn) {
  asr_stream_config config = default_stream();
  config.cmn = cmn;
  return config;
}

EnginePointer load(uint32_t window_frames = 32) { return load_engine(8, window_frames, tone_bundle_with_mean()); }

void feed(asr_stream *stream, const std::vector<int16_t> &samples, size_t chunk) {
  for (size_t i = 0; i < samples.size(); i += chunk) {
    ASSERT_OK(asr_feed(stream, samples.data() + i, std::min(chunk, samples.size() - i)));
  }
}

std::string state_of(asr_stream *stream) {
  std::string bytes(16384, 'x');
  size_t n = 0;
  EXPECT_OK(asr_stream_get_state(stream, bytes.data(), bytes.size(), &n));
  bytes.resize(n);
  return bytes;
}

std::string measure(asr_engine *engine, const std::vector<int16_t> &samples, size_t chunk) {
  const StreamPointer stream = open_stream(engine, stream_with(ASR_CMN_MEASURE));
  feed(stream.get(), samples, chunk);
  EXPECT_OK(asr_finish(stream.get()));
  const Events events = poll_all(stream.get());
  EXPECT_EQ(events.size(), 5u);  // READY, SPEECH_START, ENDPOINT, FINAL, END
  EXPECT_EQ(events[3].rfind("FINAL ASR_OK flags=", 0), 0u) << events[3];
  EXPECT_NE(events[3].find(" ''"), std::string::npos) << events[3];
  return state_of(stream.get());
}

TEST(MeasuredMean, GivesTheEventsOfAStreamThatKeepsAllCepstra) {
  const std::vector<int16_t> samples = speak("low high mid low low mid");
  asr_stream_config config = stream_with(ASR_CMN_BATCH);
  config.lattice_beam = 8;
  config.n_best = 3;
  const Events expected = recognize(load().get(), config, samples, samples.size());
  std::string first;
  for (const uint32_t window_frames : {8u, 31u, 256u}) {
    const EnginePointer engine = load(window_frames);
    for (const size_t chunk : {100u, 1000u, 160000u}) {
      const std::string state = measure(engine.get(), samples, chunk);
      if (first.empty()) first = state;
      EXPECT_EQ(state, first) << "chunks of " << chunk << ", windows of " << window_frames;
      const StreamPointer stream = open_stream(engine.get(), config);
      ASSERT_OK(asr_stream_set_state(stream.get(), state.data(), state.size()));
      feed(stream.get(), samples, chunk);
      ASSERT_OK(asr_finish(stream.get()));
      EXPECT_EQ(poll_all(stream.get()), expected) << "chunks of " << chunk << ", windows of " << window_frames;
    }
  }
}

// A stream that keeps its cepstra has searched nothing before asr_finish.
TEST(MeasuredMean, IsSearchedWhileItIsFed) {
  const std::vector<int16_t> samples = speak("low high mid low low mid");
  const EnginePointer engine = load();
  const std::string state = measure(engine.get(), samples, 1000);
  const StreamPointer stream = open_stream(engine.get(), stream_with(ASR_CMN_BATCH));
  ASSERT_OK(asr_stream_set_state(stream.get(), state.data(), state.size()));
  feed(stream.get(), samples, 1000);
  asr_stream_stats stats{};
  stats.size = sizeof(stats);
  while (stats.searched_s < 1) ASSERT_OK(asr_stream_get_stats(stream.get(), &stats));
  EXPECT_NEAR(stats.fed_s, static_cast<double>(samples.size()) / 16000, 1e-9);
  EXPECT_EQ(stats.waiting_s, stats.fed_s - stats.searched_s);
}

TEST(MeasuredMean, TheEngineTellsHowOften) {
  asr_engine_info info{};
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(load().get(), &info));
  EXPECT_EQ(info.is_batch, 1u);
  EXPECT_EQ(info.n_measurements, 1u);
  ASSERT_OK(asr_engine_get_info(load_engine().get(), &info));
  EXPECT_EQ(info.is_batch, 0u);
}

TEST(MeasuredMean, HasItsErrors) {
  const EnginePointer engine = load();
  const std::string whole = measure(engine.get(), speak("low"), 1000);
  const StreamPointer live = open_stream(engine.get(), stream_with(ASR_CMN_LIVE));
  const StreamPointer batch = open_stream(engine.get(), stream_with(ASR_CMN_BATCH));
  const StreamPointer measuring = open_stream(engine.get(), stream_with(ASR_CMN_MEASURE));
  size_t n = 0;
  EXPECT_EQ(asr_stream_get_state(batch.get(), nullptr, 0, &n), ASR_INVALID_STATE);
  const std::string of_live = state_of(live.get()), unfinished = state_of(measuring.get());
  EXPECT_EQ(asr_stream_set_state(live.get(), whole.data(), whole.size()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_set_state(batch.get(), of_live.data(), of_live.size()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_set_state(batch.get(), unfinished.data(), unfinished.size()), ASR_INVALID_ARGUMENT);
  EXPECT_STREQ(asr_last_error(),
               "asr_stream_set_state: the recording was measured 0 times and this model needs 1 "
               "(asr_engine_info.n_measurements)");
  EXPECT_EQ(asr_stream_set_state(measuring.get(), whole.data(), whole.size()), ASR_INVALID_ARGUMENT);  // all is measured
  std::string damaged = whole;
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_EQ(asr_stream_set_state(batch.get(), damaged.data(), damaged.size()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_stream_set_state(batch.get(), whole.data(), whole.size() - 1), ASR_INVALID_ARGUMENT);
  EXPECT_OK(asr_stream_set_state(batch.get(), whole.data(), whole.size()));
  asr_stream_config config = stream_with(ASR_CMN_MEASURE);
  config.endpoint = ASR_ENDPOINT_COMMAND;
  asr_stream *refused = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &config, &refused), ASR_INVALID_ARGUMENT);
  config = stream_with(ASR_CMN_MEASURE);
  config.input = ASR_INPUT_FEATURES;
  EXPECT_EQ(asr_open(engine.get(), &config, &refused), ASR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace asr::test
