// SPDX-License-Identifier: Apache-2.0
// Tests words through the C ABI: the feeding of audio does not change them.
#include <cmath>
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

TEST(Recognition, WordsAndTheirTimes) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low high mid mid");
  const StreamPointer stream = open_stream(engine.get());
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(stream.get()));
  bool saw_final = false;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    ASSERT_OK(asr_wait(stream.get(), 60000));
    asr_event *event = nullptr;
    ASSERT_OK(asr_result(stream.get(), &event));
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) {
      saw_final = true;
      EXPECT_STREQ(asr_event_text(event), "low high mid mid");
      EXPECT_EQ(asr_event_flags(event), 0u);
      EXPECT_NEAR(asr_event_time_s(event), double(samples.size()) / 16000, 1e-9);
      ASSERT_EQ(asr_event_n_words(event, 0), 4u);
      for (size_t i = 0; i < 4; ++i) {
        asr_word word{};
        word.size = sizeof(word);
        ASSERT_OK(asr_event_word(event, 0, i, &word));
        const double begin = kPause_s + double(i) * (kWord_s + kPause_s);
        EXPECT_NEAR(word.start_s, begin, 0.035) << word.text;
        EXPECT_NEAR(word.end_s, begin + kWord_s, 0.035) << word.text;
        EXPECT_EQ(word.confidence, -1);
      }
    }
    asr_event_free(event);
  }
  EXPECT_TRUE(saw_final);
}

TEST(Recognition, EventsComeInOrder) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 250;
  const Events events = recognize(engine.get(), config, speak("low high"), 1000);
  ASSERT_EQ(events.size(), 6u);
  EXPECT_EQ(events[0], "READY ASR_OK flags=0 t=0.0000 ''");
  EXPECT_EQ(events[1], "SPEECH_START ASR_OK flags=0 t=0.0000 ''");
  EXPECT_EQ(events[2].rfind("PARTIAL ASR_OK", 0), 0u) << events[2];
  EXPECT_NE(events[2].find(" t=1.0000 "), std::string::npos) << events[2];
  EXPECT_EQ(events[events.size() - 3], "ENDPOINT ASR_OK flags=0 t=1.2000 ''");
  EXPECT_EQ(events[events.size() - 2].rfind("FINAL ASR_OK flags=0 t=1.2000 'low high'", 0), 0u) << events[events.size() - 2];
  EXPECT_EQ(events[events.size() - 1], "END ASR_OK flags=0 t=1.2000 ''");
}

TEST(Recognition, ChunkingChangesNothing) {
  const std::vector<int16_t> samples = speak("low high mid low low");
  for (const uint32_t rate_hz : {16000u, 11025u}) {
    for (const asr_cmn cmn : {ASR_CMN_NONE, ASR_CMN_LIVE, ASR_CMN_BATCH}) {
      const EnginePointer engine = load_engine();
      asr_stream_config config = default_stream();
      config.sample_rate_hz = rate_hz;
      config.cmn = cmn;
      config.partial_interval_ms = 200;
      const Events whole = recognize(engine.get(), config, samples, samples.size());
      for (const size_t chunk : {1u, 160u, 1000u, 16000u}) {
        EXPECT_EQ(recognize(engine.get(), config, samples, chunk), whole) << "chunks of " << chunk << " at " << rate_hz;
      }
    }
  }
}

TEST(Recognition, WindowsAndLanesChangeNothing) {
  const std::vector<int16_t> samples = speak("low high mid low low");
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 130;
  const Events expected = recognize(load_engine().get(), config, samples, 4000);
  for (const uint32_t window_frames : {8u, 9u, 31u, 256u}) {
    for (const uint32_t max_lanes : {1u, 3u, 16u}) {
      EXPECT_EQ(recognize(load_engine(max_lanes, window_frames).get(), config, samples, 4000), expected)
          << max_lanes << " lanes, windows of " << window_frames;
    }
  }
}

TEST(Recognition, OtherStreamsChangeNothing) {
  const char *const sentences[] = {"low", "mid high", "",       "high high high", "low mid high low mid high",
                                   "mid", "high low", "low low"};
  const EnginePointer alone = load_engine(1);
  const EnginePointer shared = load_engine(3);  // fewer lanes than streams
  const asr_stream_config config = default_stream();
  std::vector<Events> expected, found(8);
  for (const char *sentence : sentences) {
    expected.push_back(recognize(alone.get(), config, speak(sentence), 1600));
    EXPECT_EQ(final_text(expected.back()), sentence);
  }
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] { found[i] = recognize(shared.get(), config, speak(sentences[i]), 100 + 333 * i); });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(found, expected);
}

// The engine divides a step of this many streams among its workers.
TEST(Recognition, ManyStreamsInAStepChangeNothing) {
  const char *const sentences[] = {"low", "mid high", "", "high low"};
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 300;
  std::vector<Events> expected;
  for (const char *sentence : sentences) expected.push_back(recognize(load_engine().get(), config, speak(sentence), 4000));
  const EnginePointer engine = load_engine(150);
  std::vector<StreamPointer> streams;
  for (size_t i = 0; i < 150; ++i) streams.push_back(open_stream(engine.get(), config));
  for (size_t i = 0; i < streams.size(); ++i) {
    const std::vector<int16_t> samples = speak(sentences[i % 4]);
    ASSERT_OK(asr_feed(streams[i].get(), samples.data(), samples.size()));
  }
  for (const StreamPointer &stream : streams) ASSERT_OK(asr_finish(stream.get()));
  for (size_t i = 0; i < streams.size(); ++i) EXPECT_EQ(poll_all(streams[i].get()), expected[i % 4]) << i;
}

TEST(Recognition, AnyRateAndChannelHearsTheSame) {
  const EnginePointer engine = load_engine();
  for (const uint32_t rate_hz : {8000u, 22050u, 44100u, 48000u}) {
    asr_stream_config config = default_stream();
    config.sample_rate_hz = rate_hz;
    EXPECT_EQ(final_text(recognize(engine.get(), config, speak("low mid low", rate_hz), 500)), "low mid low") << rate_hz;
  }
  const std::vector<int16_t> left = speak("low high"), right = speak("mid mid");
  std::vector<int16_t> both;
  for (size_t i = 0; i < left.size(); ++i) {
    both.push_back(left[i]);
    both.push_back(right[i]);
  }
  asr_stream_config config = default_stream();
  config.n_channels = 2;
  config.channel = 0;
  EXPECT_EQ(final_text(recognize(engine.get(), config, both, 777)), "low high");
  config.channel = 1;
  EXPECT_EQ(final_text(recognize(engine.get(), config, both, 777)), "mid mid");
}

TEST(Recognition, FloatSamplesAreTheSameSamples) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("high low");
  std::vector<float> floats;
  for (const int16_t sample : samples) floats.push_back(static_cast<float>(sample) / 32768);
  asr_stream_config config = default_stream();
  const Events expected = recognize(engine.get(), config, samples, 1000);
  config.input = ASR_INPUT_FLOAT;
  const StreamPointer stream = open_stream(engine.get(), config);
  ASSERT_OK(asr_feed(stream.get(), floats.data(), floats.size()));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(poll_all(stream.get()), expected);
}

TEST(Recognition, RowsOfLogLikelihoodsDriveTheSearch) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  for (const size_t chunk : {1u, 7u, 1000u}) {
    const StreamPointer stream = open_stream(engine.get(), config);
    std::vector<float> rows;
    for (const int state : {0, 2, 0, 1, 3, 0}) {
      for (int t = 0; t < 20; ++t) {
        for (int s = 0; s < 4; ++s) rows.push_back(s == state ? -1.0f : -20.0f);
      }
    }
    for (size_t i = 0; i < rows.size() / 4; i += chunk) {
      ASSERT_OK(asr_feed(stream.get(), rows.data() + 4 * i, std::min(chunk, rows.size() / 4 - i)));
    }
    ASSERT_OK(asr_finish(stream.get()));
    const Events events = poll_all(stream.get());
    EXPECT_EQ(final_text(events), "mid low high");
    EXPECT_NE(events[3].find("a=120 mid#2(0.200-0.400) low#1(0.600-0.800) high#3(0.800-1.000)"), std::string::npos)
        << events[3];
  }
}

TEST(Recognition, RowsOfFeatures) {
  const EnginePointer engine = load_engine();
  asr_engine_info info{};
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(engine.get(), &info));
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_FEATURES;
  const StreamPointer stream = open_stream(engine.get(), config);
  const std::vector<float> rows(size_t{info.n_feature_dims} * 50, 0.5f);
  ASSERT_OK(asr_feed(stream.get(), rows.data(), 50));
  ASSERT_OK(asr_finish(stream.get()));
  const Events events = poll_all(stream.get());
  EXPECT_NE(events.back().find("END ASR_OK flags=0 t=0.5000"), std::string::npos) << events.back();
}

}  // namespace
}  // namespace asr::test
