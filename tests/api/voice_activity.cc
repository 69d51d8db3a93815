// SPDX-License-Identifier: Apache-2.0
// Tests streams with endpoints and the voice activity detector: background gives no events, and no speech is lost.
#include <algorithm>
#include <cmath>
#include <random>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

asr_stream_config with_vad(asr_vad vad) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.vad = vad;
  return config;
}

std::vector<int16_t> noise(double seconds, double rms, uint32_t seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, rms);
  std::vector<int16_t> samples(static_cast<size_t>(16000 * seconds));
  for (int16_t &sample : samples) sample = static_cast<int16_t>(std::lround(normal(random)));
  return samples;
}

void append(const std::vector<int16_t> &more, std::vector<int16_t> *samples) {
  samples->insert(samples->end(), more.begin(), more.end());
}

// Returns words between long pauses, some longer than the detector's memory.
std::vector<int16_t> with_pauses() {
  std::vector<int16_t> samples = noise(6, 30);
  for (const char *words : {"low mid", "high", "mid low"}) {
    append(speak(words), &samples);
    append(noise(1.1 + 3 * static_cast<double>(samples.size() % 3), 30, 3), &samples);
  }
  return samples;
}

Events finals_of(const Events &events) {
  Events finals;
  std::copy_if(events.begin(), events.end(), std::back_inserter(finals),
               [](const std::string &event) { return event.rfind("FINAL", 0) == 0; });
  return finals;
}

TEST(VoiceActivity, NoiseSaysNothing) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = noise(30, 700);
  EXPECT_TRUE(finals_of(recognize(engine.get(), with_vad(ASR_VAD_DEFAULT), samples, 1600)).empty());
  EXPECT_FALSE(finals_of(recognize(engine.get(), with_vad(ASR_VAD_OFF), samples, 1600)).empty());
}

// The search hears words in a burst of noise, which is too short for the detector to rule it out.
TEST(VoiceActivity, ABurstOfNoiseIsNoSpeech) {
  const EnginePointer engine = load_engine();
  for (uint32_t seed = 1; seed < 9; ++seed) {
    std::vector<int16_t> samples = noise(2, 30, seed);
    append(noise(0.2 + 0.05 * seed, 3000, seed + 20), &samples);
    append(noise(2, 30, seed + 10), &samples);
    EXPECT_FALSE(finals_of(recognize(engine.get(), with_vad(ASR_VAD_OFF), samples, 1600)).empty());
    for (const size_t chunk : {size_t{161}, samples.size()}) {
      EXPECT_EQ(recognize(engine.get(), with_vad(ASR_VAD_ON), samples, chunk).size(), 2u) << seed;  // READY, END
    }
    append(speak("low mid"), &samples);
    EXPECT_EQ(final_text(recognize(engine.get(), with_vad(ASR_VAD_ON), samples, 1600)), "low mid");
  }
}

TEST(VoiceActivity, WordsAndTimesAreThoseWithoutIt) {
  const std::vector<int16_t> samples = with_pauses();
  for (const char *device : {"cpu", "stepping:0", "stepping:3"}) {
    const EnginePointer engine = load_engine(8, 32, "", device);
    std::vector<std::string> words[2];
    for (const asr_vad vad : {ASR_VAD_OFF, ASR_VAD_ON}) {
      const StreamPointer stream = open_stream(engine.get(), with_vad(vad));
      ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
      ASSERT_OK(asr_finish(stream.get()));
      for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
        ASSERT_OK(asr_wait(stream.get(), 20000));
        asr_event *event = nullptr;
        ASSERT_OK(asr_result(stream.get(), &event));
        kind = asr_event_get_kind(event);
        for (size_t i = 0; kind == ASR_EVENT_FINAL && i < asr_event_n_words(event, 0); ++i) {
          asr_word word;
          word.size = sizeof(word);
          ASSERT_OK(asr_event_word(event, 0, i, &word));
          words[vad == ASR_VAD_ON].push_back(std::to_string(word.start_s) + word.text + std::to_string(word.end_s));
        }
        asr_event_free(event);
      }
    }
    EXPECT_EQ(words[1].size(), 5u) << device;
    EXPECT_EQ(words[1], words[0]) << device;
  }
}

TEST(VoiceActivity, EventsOfTheCpuForAnyChunks) {
  const std::vector<int16_t> samples = with_pauses();
  asr_stream_config config = with_vad(ASR_VAD_ON);
  config.partial_interval_ms = 130;
  config.cmn = ASR_CMN_LIVE;
  const Events expected = recognize(load_engine().get(), config, samples, samples.size());
  EXPECT_EQ(finals_of(expected).size(), 3u);
  for (const char *device : {"cpu", "stepping:0", "overlapping"}) {
    for (const uint32_t window_frames : {8u, 32u, 256u}) {
      const EnginePointer engine = load_engine(3, window_frames, "", device);
      for (const size_t chunk : {37u, 160u, 16000u}) {
        EXPECT_EQ(recognize(engine.get(), config, samples, chunk), expected) << device << " " << window_frames << " " << chunk;
      }
    }
  }
}

TEST(VoiceActivity, EventsOfOneStreamAmongMany) {
  const std::vector<int16_t> samples = with_pauses();
  for (const char *device : {"cpu", "stepping:0", "overlapping"}) {
    const EnginePointer engine = load_engine(4, 16, "", device);
    const Events alone = recognize(engine.get(), with_vad(ASR_VAD_ON), samples, 1600);
    std::vector<StreamPointer> streams;
    for (int i = 0; i < 9; ++i) streams.push_back(open_stream(engine.get(), with_vad(ASR_VAD_ON)));
    const auto feed = [&](size_t i, size_t at, size_t most) {
      if (at >= samples.size()) return;
      ASSERT_OK(asr_feed(streams[i].get(), samples.data() + at, std::min(most, samples.size() - at)));
    };
    for (size_t at = 0; at < samples.size() + 6000 * streams.size(); at += 2000) {  // each stream lags behind the previous one
      for (size_t i = 0; i < streams.size(); ++i) feed(i, at - 6000 * i, 2000);     // a negative offset wraps: not fed
    }
    for (const StreamPointer &stream : streams) ASSERT_OK(asr_finish(stream.get()));
    for (const StreamPointer &stream : streams) EXPECT_EQ(poll_all(stream.get()), alone) << device;
  }
}

// The audio begins and ends with a word.
TEST(VoiceActivity, NothingIsLostAtTheEnds) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> spoken = speak("low mid high");
  const size_t n_pause = static_cast<size_t>(16000 * kPause_s);
  const std::vector<int16_t> cut(spoken.begin() + static_cast<ptrdiff_t>(n_pause),
                                 spoken.end() - static_cast<ptrdiff_t>(n_pause));
  EXPECT_EQ(final_text(recognize(engine.get(), with_vad(ASR_VAD_ON), cut, 700)), "low mid high");
}

TEST(VoiceActivity, EndUtteranceInBackgroundEndsNothing) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), with_vad(ASR_VAD_ON));
  const std::vector<int16_t> pause = noise(0.7, 30), spoken = speak("low");
  for (int i = 0; i < 5; ++i) {
    ASSERT_OK(asr_feed(stream.get(), pause.data(), pause.size()));
    ASSERT_OK(asr_end_utterance(stream.get()));
  }
  ASSERT_OK(asr_feed(stream.get(), spoken.data(), spoken.size()));
  ASSERT_OK(asr_end_utterance(stream.get()));
  ASSERT_OK(asr_end_utterance(stream.get()));
  ASSERT_OK(asr_finish(stream.get()));
  const Events finals = finals_of(poll_all(stream.get()));
  ASSERT_EQ(finals.size(), 1u);
  EXPECT_NE(finals[0].find("low"), std::string::npos);
}

// An utterance that ends within speech, because it is too long or cancelled, leaves rows behind it. Only later audio decides
// whether these are speech.
TEST(VoiceActivity, EndUtteranceWhereSpeechIsUndecidedEndsNothing) {
  std::vector<int16_t> samples = noise(0.5, 30);
  append(speak("low mid high low"), &samples);
  append(noise(0.5, 30), &samples);
  asr_stream_config config = with_vad(ASR_VAD_ON);
  config.longest_utterance_ms = 400;
  for (const char *device : {"cpu", "stepping:0"}) {
    const EnginePointer engine = load_engine(8, 32, "", device);
    for (size_t cut = 8000; cut < samples.size(); cut += 800) {
      const StreamPointer stream = open_stream(engine.get(), config);
      ASSERT_OK(asr_feed(stream.get(), samples.data(), cut));
      ASSERT_OK(asr_end_utterance(stream.get()));
      ASSERT_OK(asr_feed(stream.get(), samples.data() + cut, samples.size() - cut));
      ASSERT_OK(asr_finish(stream.get()));
      ASSERT_EQ(poll_all(stream.get()).back().rfind("END", 0), 0u) << device << " " << cut;
    }
  }
}

TEST(VoiceActivity, SettingsAreChecked) {
  const EnginePointer engine = load_engine();
  const auto opens = [&](const asr_stream_config &config) {
    asr_stream *stream = nullptr;
    const asr_status status = asr_open(engine.get(), &config, &stream);
    asr_close(stream);
    return status;
  };
  asr_stream_config config = with_vad(ASR_VAD_ON);
  EXPECT_EQ(opens(config), ASR_OK);
  config.input = ASR_INPUT_LOGLIKES;
  EXPECT_EQ(opens(config), ASR_INVALID_ARGUMENT);
  config.vad = ASR_VAD_DEFAULT;
  EXPECT_EQ(opens(config), ASR_OK);
  config = with_vad(ASR_VAD_ON);
  config.endpoint = ASR_ENDPOINT_OFF;
  EXPECT_EQ(opens(config), ASR_INVALID_ARGUMENT);
  for (const auto &[pre_roll_ms, status] :
       {std::pair(19u, ASR_INVALID_ARGUMENT), {20u, ASR_OK}, {5000u, ASR_OK}, {5001u, ASR_INVALID_ARGUMENT}}) {
    config = with_vad(ASR_VAD_ON);
    config.pre_roll_ms = pre_roll_ms;
    EXPECT_EQ(opens(config), status) << pre_roll_ms;
  }
  config = with_vad(static_cast<asr_vad>(3));
  EXPECT_EQ(opens(config), ASR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace asr::test
