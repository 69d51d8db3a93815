// SPDX-License-Identifier: Apache-2.0
// Tests streams of many utterances: their endpoints, the words of each, and independence of the chunks fed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

asr_stream_config with_endpoints(asr_endpoint preset = ASR_ENDPOINT_COMMAND) {
  asr_stream_config config = default_stream();
  config.endpoint = preset;
  return config;
}

void append(const std::vector<int16_t> &more, std::vector<int16_t> *samples) {
  samples->insert(samples->end(), more.begin(), more.end());
}

std::vector<int16_t> silence(double seconds) {
  std::vector<int16_t> samples;
  while (samples.size() < 16000 * seconds) append(speak(""), &samples);
  samples.resize(static_cast<size_t>(16000 * seconds));
  return samples;
}

// Returns "low mid", a pause, "high", a pause, "mid low".
std::vector<int16_t> three_utterances() {
  std::vector<int16_t> samples = speak("low mid");
  append(silence(1), &samples);
  append(speak("high"), &samples);
  append(silence(1), &samples);
  append(speak("mid low"), &samples);
  return samples;
}

struct Seen {
  // A letter per event: S, P, E, F, X for ERROR, Q for PROBABLY_FINISHED, R for SPEECH_RESUMED, N for NO_INPUT. READY and END
  // are left out, as every stream has them.
  std::string kinds;
  std::vector<std::string> texts;
  std::vector<double> starts_s, ends_s;  // word times of FINAL events
  std::vector<double> endpoints_s, no_input_s;
  std::vector<bool> cuts;                              // of FINAL events
  std::vector<std::pair<double, std::string>> pauses;  // times and words of PROBABLY_FINISHED
  std::vector<double> resumed_s;
};

Seen see(asr_stream *stream) {
  Seen seen;
  for (;;) {
    EXPECT_OK(asr_wait(stream, 20000));
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream, &event));
    if (event == nullptr) return seen;
    const asr_event_kind kind = asr_event_get_kind(event);
    if (kind != ASR_EVENT_READY && kind != ASR_EVENT_END) seen.kinds += "??SPEFX?QRN"[kind];
    if (kind == ASR_EVENT_ENDPOINT) seen.endpoints_s.push_back(asr_event_time_s(event));
    if (kind == ASR_EVENT_PROBABLY_FINISHED) seen.pauses.emplace_back(asr_event_time_s(event), asr_event_text(event));
    if (kind == ASR_EVENT_NO_INPUT) seen.no_input_s.push_back(asr_event_time_s(event));
    if (kind == ASR_EVENT_FINAL) seen.cuts.push_back((asr_event_flags(event) & ASR_FLAG_CUT) != 0);
    if (kind == ASR_EVENT_SPEECH_RESUMED) seen.resumed_s.push_back(asr_event_time_s(event));
    if (kind == ASR_EVENT_FINAL) {
      seen.texts.push_back(asr_event_text(event));
      for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
        asr_word word;
        word.size = sizeof(word);
        EXPECT_OK(asr_event_word(event, 0, i, &word));
        seen.starts_s.push_back(word.start_s);
        seen.ends_s.push_back(word.end_s);
      }
    }
    asr_event_free(event);
    if (kind == ASR_EVENT_END) return seen;
  }
}

Seen hear(asr_engine *engine, const asr_stream_config &config, const std::vector<int16_t> &samples, size_t chunk = 1600) {
  const StreamPointer stream = open_stream(engine, config);
  for (size_t i = 0; i < samples.size(); i += chunk) {
    EXPECT_OK(asr_feed(stream.get(), samples.data() + i, std::min(chunk, samples.size() - i)));
  }
  EXPECT_OK(asr_finish(stream.get()));
  return see(stream.get());
}

TEST(Endpoints, EndAnUtteranceAfterSilence) {
  const EnginePointer engine = load_engine();
  const Seen seen = hear(engine.get(), with_endpoints(), three_utterances());
  EXPECT_EQ(seen.kinds, "SEFSEFSEF");
  EXPECT_EQ(seen.texts, (std::vector<std::string>{"low mid", "high", "mid low"}));
}

TEST(Endpoints, TimesRunOn) {
  const EnginePointer engine = load_engine();
  const Seen seen = hear(engine.get(), with_endpoints(), three_utterances());
  const double second_s = 3 * kPause_s + 2 * kWord_s + 1, third_s = second_s + 2 * kPause_s + kWord_s + 1;
  const std::vector<double> expected{kPause_s, 2 * kPause_s + kWord_s, second_s + kPause_s, third_s + kPause_s,
                                     third_s + 2 * kPause_s + kWord_s};
  ASSERT_EQ(seen.starts_s.size(), expected.size());
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(seen.starts_s[i], expected[i], 0.05) << i;
    EXPECT_NEAR(seen.ends_s[i], expected[i] + kWord_s, 0.05) << i;
  }
}

TEST(Endpoints, ComeSoonAfterTheSilence) {
  const EnginePointer engine = load_engine();
  const Seen seen = hear(engine.get(), with_endpoints(), three_utterances());
  const double first_word_ends_s = 2 * kPause_s + 2 * kWord_s;
  ASSERT_EQ(seen.endpoints_s.size(), 3u);
  EXPECT_GE(seen.endpoints_s[0], first_word_ends_s + 0.29);
  EXPECT_LE(seen.endpoints_s[0], first_word_ends_s + 0.45);
}

TEST(Endpoints, DoNotDependOnChunksNorOnLattices) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = three_utterances();
  for (const float lattice_beam : {0.0f, 6.0f}) {
    asr_stream_config config = with_endpoints();
    config.lattice_beam = lattice_beam;
    const std::vector<std::string> whole = recognize(engine.get(), config, samples, samples.size());
    for (const size_t chunk : {1, 37, 160, 1000, 5001}) {
      if (chunk == 1 && lattice_beam > 0) continue;
      EXPECT_EQ(recognize(engine.get(), config, samples, chunk), whole) << chunk;
    }
  }
}

TEST(Endpoints, DoNotDependOnOtherStreams) {
  const EnginePointer engine = load_engine(4);
  const std::vector<int16_t> samples = three_utterances();
  const std::vector<std::string> alone = recognize(engine.get(), with_endpoints(), samples, 800);
  std::vector<StreamPointer> streams;
  for (int i = 0; i < 9; ++i) streams.push_back(open_stream(engine.get(), with_endpoints()));
  for (size_t at = 0; at < samples.size(); at += 800) {
    for (const StreamPointer &stream : streams) {
      ASSERT_OK(asr_feed(stream.get(), samples.data() + at, std::min<size_t>(800, samples.size() - at)));
    }
  }
  for (const StreamPointer &stream : streams) ASSERT_OK(asr_finish(stream.get()));
  for (const StreamPointer &stream : streams) EXPECT_EQ(poll_all(stream.get()), alone);
}

TEST(Endpoints, SilenceHasNoEvents) {
  const EnginePointer engine = load_engine();
  EXPECT_EQ(hear(engine.get(), with_endpoints(), silence(12)).kinds, "");
  EXPECT_EQ(hear(engine.get(), with_endpoints(), {}).kinds, "");
}

TEST(Endpoints, PartialsComeBetweenStartAndEnd) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = with_endpoints();
  config.partial_interval_ms = 100;
  std::string kinds = hear(engine.get(), config, three_utterances()).kinds;
  for (size_t at; (at = kinds.find("PP")) != std::string::npos;) kinds.erase(at, 1);
  EXPECT_EQ(kinds, "SPEFSPEFSPEF");
}

TEST(Endpoints, ALongUtteranceIsCut) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = with_endpoints();
  config.longest_utterance_ms = 1000;
  config.silence_at_end_ms = 900;
  config.silence_after_words_ms = 900;
  const Seen seen = hear(engine.get(), config, speak("low mid high low mid high"));
  EXPECT_GE(seen.texts.size(), 3u);
  std::string all;
  for (const std::string &text : seen.texts) all += (all.empty() ? "" : " ") + text;
  EXPECT_EQ(all, "low mid high low mid high");
}

// Returns words without any pause between them.
std::vector<int16_t> speak_at_once(const std::string &words) {
  std::vector<int16_t> samples = silence(kPause_s);
  std::istringstream stream(words);
  for (std::string word; stream >> word;) {
    const std::vector<int16_t> spoken = speak(word);
    const auto begin = spoken.begin() + std::lround(16000 * kPause_s);
    samples.insert(samples.end(), begin, begin + std::lround(16000 * kWord_s));
  }
  append(silence(kPause_s), &samples);
  return samples;
}

TEST(Endpoints, ACutIsBetweenWords) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = with_endpoints(ASR_ENDPOINT_DICTATION);
  const std::string words = "low mid high low mid high low high mid low high mid low mid high mid";
  const std::vector<int16_t> samples = speak_at_once(words);
  const Seen whole = hear(engine.get(), config, samples);
  ASSERT_EQ(whole.texts, std::vector<std::string>{words});
  for (const uint32_t longest_ms : {1000u, 1130u, 1490u}) {
    SCOPED_TRACE(longest_ms);
    config.longest_utterance_ms = longest_ms;
    const Seen seen = hear(engine.get(), config, samples);
    ASSERT_GE(seen.texts.size(), 3u);
    std::string all;
    for (const std::string &text : seen.texts) all += (all.empty() ? "" : " ") + text;
    EXPECT_EQ(all, words);
    ASSERT_EQ(seen.starts_s.size(), whole.starts_s.size());
    for (size_t i = 0; i < seen.starts_s.size(); ++i) {
      EXPECT_NEAR(seen.starts_s[i], whole.starts_s[i], 0.03) << i;
      EXPECT_NEAR(seen.ends_s[i], whole.ends_s[i], 0.03) << i;
    }
    std::vector<bool> cuts(seen.texts.size(), true);
    cuts.back() = false;
    EXPECT_EQ(seen.cuts, cuts);
    for (const size_t chunk : {size_t{161}, samples.size()}) {
      EXPECT_EQ(recognize(engine.get(), config, samples, chunk), recognize(engine.get(), config, samples, 1600)) << chunk;
    }
    asr_stream_config decoded = config;
    decoded.vad = ASR_VAD_OFF;
    EXPECT_EQ(hear(engine.get(), decoded, samples).texts, seen.texts);
    for (const char *const name : {"overlapping", "stepping"}) {  // the latter makes rows of samples itself, as GPUs do
      const EnginePointer other = load_engine(8, 32, "", devices_named(name, "").at(0));
      EXPECT_EQ(recognize(other.get(), config, samples, 1600), recognize(engine.get(), config, samples, 1600)) << name;
    }
  }
}

TEST(Endpoints, NobodySpoke) {
  const EnginePointer engine = load_engine();
  for (const asr_vad vad : {ASR_VAD_ON, ASR_VAD_OFF}) {
    asr_stream_config config = with_endpoints();
    config.vad = vad;
    config.no_input_ms = 1000;
    std::vector<int16_t> samples = silence(2.3);
    EXPECT_EQ(hear(engine.get(), config, samples).kinds, "NN");
    append(speak("low mid"), &samples);
    append(silence(2.5), &samples);
    const Seen seen = hear(engine.get(), config, samples);
    EXPECT_EQ(seen.kinds, "NNSEFNN");
    ASSERT_EQ(seen.no_input_s.size(), 4u);
    EXPECT_NEAR(seen.no_input_s[0], 1, 1e-6);
    EXPECT_NEAR(seen.no_input_s[1], 2, 1e-6);
    EXPECT_NEAR(seen.no_input_s[2], seen.endpoints_s[0] + 1, 0.011);
    for (const size_t chunk : {size_t{37}, samples.size()}) {
      EXPECT_EQ(recognize(engine.get(), config, samples, chunk), recognize(engine.get(), config, samples, 1600)) << chunk;
    }
    config.no_input_ms = 0;
    EXPECT_EQ(hear(engine.get(), config, samples).kinds, "SEF");
  }
}

// Waits for a FINAL, which comes although nothing more is fed, and returns its words.
std::string next_final(asr_stream *stream) {
  for (;;) {
    EXPECT_OK(asr_wait(stream, 20000));
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream, &event));
    const std::string text = asr_event_text(event);
    const asr_event_kind kind = asr_event_get_kind(event);
    asr_event_free(event);
    if (kind == ASR_EVENT_FINAL || kind == ASR_EVENT_END) return text;
  }
}

TEST(Endpoints, AStreamThatIsFedNothingEndsItsUtterance) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = with_endpoints(ASR_ENDPOINT_DICTATION);
  config.idle_ms = 100;
  const StreamPointer stream = open_stream(engine.get(), config);
  for (const std::string words : {"low mid", "high"}) {
    const std::vector<int16_t> samples = speak(words);
    ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
    EXPECT_EQ(next_final(stream.get()), words);
  }
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(see(stream.get()).kinds, "");
}

TEST(Endpoints, NewTimesHaveRanges) {
  const EnginePointer engine = load_engine();
  for (uint32_t asr_stream_config::*const member : {&asr_stream_config::no_input_ms, &asr_stream_config::idle_ms}) {
    for (const uint32_t wrong : {1u, 99u, 600001u}) {
      asr_stream_config config = with_endpoints();
      config.*member = wrong;
      asr_stream *stream = nullptr;
      EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
    }
  }
}

TEST(Endpoints, EndUtteranceEndsWhatWasFed) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), with_endpoints(ASR_ENDPOINT_DICTATION));
  const std::vector<int16_t> first = speak("low mid"), second = speak("high");
  ASSERT_OK(asr_feed(stream.get(), first.data(), first.size()));
  ASSERT_OK(asr_end_utterance(stream.get()));
  std::string text;
  while (text.empty()) {  // FINAL comes without further audio
    ASSERT_OK(asr_wait(stream.get(), 20000));
    asr_event *event = nullptr;
    ASSERT_OK(asr_result(stream.get(), &event));
    if (asr_event_get_kind(event) == ASR_EVENT_FINAL) text = asr_event_text(event);
    asr_event_free(event);
  }
  EXPECT_EQ(text, "low mid");
  ASSERT_OK(asr_feed(stream.get(), second.data(), second.size()));
  ASSERT_OK(asr_end_utterance(stream.get()));
  ASSERT_OK(asr_end_utterance(stream.get()));  // without an utterance
  ASSERT_OK(asr_finish(stream.get()));
  const Seen seen = see(stream.get());
  EXPECT_EQ(seen.kinds, "SEF");
  EXPECT_EQ(seen.texts, std::vector<std::string>{"high"});
}

// The features of the last frames wait for audio that is never fed.
TEST(Endpoints, NothingFollowsTheLastEndUtterance) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("low mid high");
  for (size_t n = 8000; n < samples.size(); n += 1111) {  // some lengths end within words
    const StreamPointer stream = open_stream(engine.get(), with_endpoints(ASR_ENDPOINT_DICTATION));
    ASSERT_OK(asr_feed(stream.get(), samples.data(), n));
    ASSERT_OK(asr_end_utterance(stream.get()));
    ASSERT_OK(asr_finish(stream.get()));
    EXPECT_EQ(see(stream.get()).kinds, "SEF") << n;
  }
}

// Scores that overflow end the search; the stream goes on.
TEST(Endpoints, ADeadSearchEndsItsUtterance) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = with_endpoints();
  config.input = ASR_INPUT_LOGLIKES;
  config.acoustic_scale = 2;
  std::vector<float> rows;
  const auto add = [&](size_t n, size_t state) {
    for (size_t i = 0; i < 4 * n; ++i) rows.push_back(i % 4 == state ? 0 : -50.0f);
  };
  for (int i = 0; i < 3; ++i) {
    add(20, 0);
    add(30, 1);
    if (i == 0) rows.insert(rows.end(), 4, -3.4e38f);
    add(150, 0);
  }
  const StreamPointer stream = open_stream(engine.get(), config);
  ASSERT_OK(asr_feed(stream.get(), rows.data(), rows.size() / 4));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(see(stream.get()).texts, (std::vector<std::string>{"low", "low", "low"}));
}

TEST(Endpoints, EndUtteranceNeedsThem) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get());
  EXPECT_EQ(asr_end_utterance(stream.get()), ASR_INVALID_STATE);
  EXPECT_EQ(asr_end_utterance(nullptr), ASR_INVALID_ARGUMENT);
  const StreamPointer finished = open_stream(engine.get(), with_endpoints());
  ASSERT_OK(asr_finish(finished.get()));
  EXPECT_EQ(asr_end_utterance(finished.get()), ASR_INVALID_STATE);
}

TEST(Endpoints, ASpeakerGoesOnForLong) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> once = three_utterances();
  const StreamPointer stream = open_stream(engine.get(), with_endpoints());
  std::vector<std::string> expected;
  for (int i = 0; i < 40; ++i) {
    ASSERT_OK(asr_feed(stream.get(), once.data(), once.size()));
    const std::vector<int16_t> pause = silence(1);
    ASSERT_OK(asr_feed(stream.get(), pause.data(), pause.size()));
    for (const char *text : {"low mid", "high", "mid low"}) expected.emplace_back(text);
  }
  ASSERT_OK(asr_finish(stream.get()));
  const Seen seen = see(stream.get());
  EXPECT_EQ(seen.texts, expected);
  ASSERT_FALSE(seen.starts_s.empty());
  const double period_s = static_cast<double>(once.size()) / 16000 + 1;
  EXPECT_NEAR(seen.starts_s.back(), 40 * period_s - 1 - kPause_s - kWord_s, 0.05);
}

asr_stream_config with_early(uint32_t early_endpoint_ms) {
  asr_stream_config config = with_endpoints();
  config.early_endpoint_ms = early_endpoint_ms;
  return config;
}

// The pause between "low" and "mid" is longer than 120 ms and shorter than the endpoint's silence.
TEST(Endpoints, AreSaidToBeNearAndThatIsTakenBack) {
  const EnginePointer engine = load_engine();
  std::vector<int16_t> samples = three_utterances();
  append(silence(1), &samples);
  const Seen seen = hear(engine.get(), with_early(120), samples);
  EXPECT_EQ(seen.kinds, "SQRQEFSQEFSQRQEF");
  EXPECT_EQ(seen.texts, (std::vector<std::string>{"low mid", "high", "mid low"}));
  ASSERT_EQ(seen.pauses.size(), 5u);
  EXPECT_EQ(seen.pauses[0].second, "low");
  EXPECT_EQ(seen.pauses[1].second, "low mid");
  EXPECT_EQ(seen.pauses[2].second, "high");
  const double first_ends_s = kPause_s + kWord_s, second_begins_s = first_ends_s + kPause_s;
  EXPECT_GE(seen.pauses[0].first, first_ends_s + 0.1);
  EXPECT_LE(seen.pauses[0].first, second_begins_s + 0.03);
  ASSERT_EQ(seen.resumed_s.size(), 2u);
  EXPECT_GT(seen.resumed_s[0], second_begins_s - 0.02);
  EXPECT_LE(seen.resumed_s[0], second_begins_s + 0.15);
  EXPECT_LT(seen.pauses[1].first, seen.endpoints_s[0] - 0.1);
}

TEST(Endpoints, StayWhereTheyAreWithEarlyOnes) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = three_utterances();
  const Seen without = hear(engine.get(), with_endpoints(), samples);
  for (const uint32_t ms : {100u, 150u, 250u, 700u}) {
    const Seen with = hear(engine.get(), with_early(ms), samples);
    EXPECT_EQ(with.endpoints_s, without.endpoints_s) << ms;
    EXPECT_EQ(with.ends_s, without.ends_s) << ms;
    EXPECT_EQ(with.texts, without.texts) << ms;
  }
  EXPECT_EQ(hear(engine.get(), with_early(700), samples).kinds, without.kinds);  // the endpoint is earlier
}

TEST(Endpoints, AreNearAtTheSameTimeForAnyChunks) {
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = three_utterances();
  asr_stream_config config = with_early(120);
  config.partial_interval_ms = 50;
  config.vad = ASR_VAD_OFF;
  const auto important = [&](size_t chunk) {
    std::vector<std::string> events = recognize(engine.get(), config, samples, chunk);
    const auto is_partial = [](const std::string &event) { return event.rfind("PARTIAL", 0) == 0; };
    events.erase(std::remove_if(events.begin(), events.end(), is_partial), events.end());
    return events;
  };
  const std::vector<std::string> whole = important(samples.size());
  for (const size_t chunk : {37, 160, 1000, 5001}) EXPECT_EQ(important(chunk), whole) << chunk;
}

TEST(Endpoints, BatchMeansAreRefused) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = with_endpoints();
  config.cmn = ASR_CMN_BATCH;
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
  config = with_endpoints();
  config.silence_at_end_ms = 99;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
  config = with_early(99);
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
}

}  // namespace
}  // namespace asr::test
