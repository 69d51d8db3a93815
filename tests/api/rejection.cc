// SPDX-License-Identifier: Apache-2.0
// Tests the comparison of grammars' results with the background: scores, flags and confidences, for any chunks and streams.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

struct Final {
  std::string text;
  uint32_t flags;
  float out_of_grammar, confidence;  // confidence of the first word

  bool is_rejected() const { return (flags & ASR_FLAG_REJECTED) != 0; }
};

std::vector<Final> finals_of(asr_stream *stream) {
  std::vector<Final> finals;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    EXPECT_OK(asr_wait(stream, 20000));
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream, &event));
    kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_FINAL) {
      asr_word word{};
      word.size = sizeof(word);
      const bool has_words = asr_event_n_words(event, 0) > 0;
      EXPECT_EQ(asr_event_word(event, 0, 0, &word), has_words ? ASR_OK : ASR_INVALID_ARGUMENT);
      finals.push_back({asr_event_text(event), asr_event_flags(event), asr_event_out_of_grammar(event), word.confidence});
    } else if (asr_event_n_alternatives(event) == 0) {
      EXPECT_EQ(asr_event_out_of_grammar(event), -1);
    }
    asr_event_free(event);
  }
  return finals;
}

std::vector<Final> hear(asr_engine *engine, const asr_stream_config &config, const std::vector<int16_t> &samples) {
  const StreamPointer stream = open_stream(engine, config);
  EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  EXPECT_OK(asr_finish(stream.get()));
  return finals_of(stream.get());
}

EnginePointer load_grammar(uint32_t max_lanes = 8) { return load_engine(max_lanes, 32, tone_bundle_with_background()); }

TEST(Rejection, OtherWordsAreRejected) {
  const EnginePointer engine = load_grammar();
  for (const char *words : {"low", "mid"}) {
    const std::vector<Final> finals = hear(engine.get(), default_stream(), speak(words));
    ASSERT_EQ(finals.size(), 1u);
    EXPECT_EQ(finals[0].text, words);
    EXPECT_FALSE(finals[0].is_rejected());
    EXPECT_GE(finals[0].out_of_grammar, 0);
    EXPECT_LT(finals[0].out_of_grammar, 0.4f);
  }
  for (const char *words : {"high", "low high", "mid low mid"}) {
    const std::vector<Final> finals = hear(engine.get(), default_stream(), speak(words));
    ASSERT_EQ(finals.size(), 1u);
    EXPECT_NE(finals[0].text, "");
    EXPECT_TRUE(finals[0].is_rejected()) << words;
    EXPECT_GT(finals[0].out_of_grammar, 0.9f);
    EXPECT_LE(finals[0].out_of_grammar, 1);
  }
}

// A grammar does not hold the beginning of its sentence.
TEST(Rejection, FragmentsOfSentencesAreRejected) {
  const EnginePointer engine = load_engine(8, 32, tone_sentence_with_background());
  asr_stream_config config = default_stream();
  config.beam = 5;  // a path that forces "mid" into the rest is not followed
  const Final whole = hear(engine.get(), config, speak("low mid")).at(0);
  EXPECT_EQ(whole.text, "low mid");
  EXPECT_FALSE(whole.is_rejected());
  std::vector<int16_t> low = speak("low");
  low.resize(16000 * 45 / 100);  // in the middle of the word
  const Final part = hear(engine.get(), config, low).at(0);
  EXPECT_EQ(part.text, "low");
  EXPECT_NE(part.flags & ASR_FLAG_NOT_FINAL_STATE, 0u);
  EXPECT_EQ(part.out_of_grammar, 1);
  EXPECT_TRUE(part.is_rejected());
}

TEST(Rejection, SilenceIsNotCompared) {
  const EnginePointer engine = load_engine(8, 32, tone_bundle_with_background());
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  EXPECT_TRUE(hear(engine.get(), config, std::vector<int16_t>(16000)).empty());
  for (const Final &final : hear(engine.get(), default_stream(), {})) {
    EXPECT_EQ(final.out_of_grammar, -1);
    EXPECT_FALSE(final.is_rejected());
  }
}

TEST(Rejection, TheThresholdIsTheStreams) {
  const EnginePointer engine = load_grammar();
  asr_stream_config config = default_stream();
  const float in = hear(engine.get(), config, speak("low")).at(0).out_of_grammar;
  config.reject_threshold = in / 2;
  EXPECT_TRUE(hear(engine.get(), config, speak("low")).at(0).is_rejected());
  config.reject_threshold = 1;
  const Final kept = hear(engine.get(), config, speak("high")).at(0);
  EXPECT_FALSE(kept.is_rejected());
  EXPECT_GT(kept.out_of_grammar, 0.9f);
  config.reject_threshold = -1;
  const Final off = hear(engine.get(), config, speak("high")).at(0);
  EXPECT_FALSE(off.is_rejected());
  EXPECT_EQ(off.out_of_grammar, -1);
  for (const float wrong : {1.5f, NAN}) {
    config.reject_threshold = wrong;
    asr_stream *stream = nullptr;
    EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
  }
}

TEST(Rejection, NeedsABackground) {
  const EnginePointer engine = load_engine();
  EXPECT_EQ(hear(engine.get(), default_stream(), speak("low")).at(0).out_of_grammar, -1);
  asr_stream_config config = default_stream();
  config.reject_threshold = 0.5f;
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("senone graph"), std::string::npos) << asr_last_error();
}

void keep_thresholds(asr_log_level, const char *message, void *lines) {
  if (std::string(message).find("has a threshold") != std::string::npos)
    static_cast<std::vector<std::string> *>(lines)->push_back(message);
}

// An engine without a background has no use for a graph's threshold, and says so once.
TEST(Rejection, AThresholdWithoutABackgroundIsLogged) {
  std::vector<std::string> lines;
  asr_set_log(keep_thresholds, ASR_LOG_WARNING, &lines);
  const EnginePointer with = load_grammar();
  const EnginePointer without = load_engine();
  EXPECT_OK(asr_engine_add_graph(with.get(), "words", tone_bundle_with_background().c_str()));
  EXPECT_TRUE(lines.empty());
  for (const char *name : {"words", "others"}) {
    EXPECT_OK(asr_engine_add_graph(without.get(), name, tone_bundle_with_background().c_str()));
  }
  asr_set_log(nullptr, ASR_LOG_WARNING, nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_NE(lines[0].find("no background to compare with"), std::string::npos) << lines[0];
}

TEST(Rejection, ADamagedBackgroundIsRefused) {
  const std::string bundle = tone_bundle_with_background(), file = bundle + "/background.bin";
  std::fstream(file, std::ios::binary | std::ios::in | std::ios::out).seekp(100).put('x');
  asr_engine *engine = nullptr;
  EXPECT_EQ(asr_engine_load(bundle.c_str(), nullptr, &engine), ASR_BAD_FILE);
  EXPECT_NE(std::string(asr_last_error()).find("background.bin"), std::string::npos) << asr_last_error();
}

TEST(Rejection, LowersConfidences) {
  const EnginePointer engine = load_grammar();
  asr_stream_config config = default_stream();
  config.lattice_beam = 8;
  EXPECT_GT(hear(engine.get(), config, speak("low")).at(0).confidence, 0.3f);
  const Final other = hear(engine.get(), config, speak("high")).at(0);
  EXPECT_LT(other.confidence, 0.1f);
  EXPECT_TRUE(other.is_rejected());
  config.reject_threshold = -1;
  EXPECT_GT(hear(engine.get(), config, speak("high")).at(0).confidence, 0.4f);
}

// One wrong word is enough, and it alone is in doubt.
TEST(Rejection, OneWrongWordIsEnough) {
  const EnginePointer engine = load_engine(8, 32, tone_sentence_with_background());
  asr_stream_config config = default_stream();
  config.lattice_beam = 8;
  const auto confidences = [&](const std::string &words) {
    const StreamPointer stream = open_stream(engine.get(), config);
    const std::vector<int16_t> samples = speak(words);
    EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
    EXPECT_OK(asr_finish(stream.get()));
    std::vector<float> found;
    for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
      EXPECT_OK(asr_wait(stream.get(), 20000));
      asr_event *event = nullptr;
      EXPECT_OK(asr_result(stream.get(), &event));
      kind = asr_event_get_kind(event);
      if (kind == ASR_EVENT_FINAL) {
        EXPECT_EQ((asr_event_flags(event) & ASR_FLAG_REJECTED) != 0, words != "low mid") << words;
        for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
          asr_word word{};
          word.size = sizeof(word);
          EXPECT_OK(asr_event_word(event, 0, i, &word));
          found.push_back(word.confidence);
        }
      }
      asr_event_free(event);
    }
    return found;
  };
  const std::vector<float> right = confidences("low mid"), wrong = confidences("low high");
  ASSERT_EQ(right.size(), 2u);
  ASSERT_EQ(wrong.size(), 2u);
  EXPECT_GT(right[1], 0.3f);
  EXPECT_LT(wrong[1], wrong[0] / 4) << wrong[1] << ' ' << wrong[0];
}

// So that a program can wait with its answer until the words are likely in the grammar.
TEST(Rejection, EarlierEventsHaveTheScore) {
  const EnginePointer engine = load_grammar();
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_DICTATION;
  config.partial_interval_ms = 50;
  config.early_endpoint_ms = 200;
  for (const char *words : {"low", "high"}) {
    const StreamPointer stream = open_stream(engine.get(), config);
    std::vector<int16_t> samples = speak(words);
    samples.resize(samples.size() + 16000 * 3 / 2);
    EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
    EXPECT_OK(asr_finish(stream.get()));
    float partial = -1, early = -1, final = -1;
    for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
      EXPECT_OK(asr_wait(stream.get(), 20000));
      asr_event *event = nullptr;
      EXPECT_OK(asr_result(stream.get(), &event));
      kind = asr_event_get_kind(event);
      const float score = asr_event_out_of_grammar(event);
      if (kind == ASR_EVENT_PARTIAL && asr_event_n_words(event, 0) > 0) partial = score;
      if (kind == ASR_EVENT_PROBABLY_FINISHED) early = score;
      if (kind == ASR_EVENT_FINAL) final = score;
      if (kind != ASR_EVENT_FINAL) {
        EXPECT_EQ(asr_event_flags(event) & ASR_FLAG_REJECTED, 0u);
      }
      asr_event_free(event);
    }
    for (const float score : {partial, early, final}) {
      ASSERT_GE(score, 0) << words;
      EXPECT_EQ(score > 0.5f, std::string(words) == "high") << words << ' ' << score;
    }
  }
}

// The engines include one with a single lane, and one with too few lanes for all streams of a step.
TEST(Rejection, DoesNotDependOnChunksNorOnOtherStreams) {
  std::vector<int16_t> samples;
  for (const char *words : {"low", "", "", "", "high", "", "", "", "mid", "", ""}) {
    const std::vector<int16_t> more = speak(words);
    samples.insert(samples.end(), more.begin(), more.end());
  }
  for (const float lattice_beam : {0.0f, 6.0f}) {
    asr_stream_config config = default_stream();
    config.endpoint = ASR_ENDPOINT_COMMAND;
    config.lattice_beam = lattice_beam;
    const std::vector<std::string> whole = recognize(load_grammar().get(), config, samples, samples.size());
    EXPECT_GE(whole.size(), 11u);  // three utterances
    for (const uint32_t max_lanes : {1u, 3u, 8u}) {
      const EnginePointer engine = load_grammar(max_lanes);
      EXPECT_EQ(recognize(engine.get(), config, samples, 777), whole);
      std::vector<StreamPointer> streams;
      for (int i = 0; i < 7; ++i) streams.push_back(open_stream(engine.get(), config));
      for (size_t at = 0; at < samples.size(); at += 1600) {
        for (const StreamPointer &stream : streams) {
          ASSERT_OK(asr_feed(stream.get(), samples.data() + at, std::min<size_t>(1600, samples.size() - at)));
        }
      }
      for (const StreamPointer &stream : streams) ASSERT_OK(asr_finish(stream.get()));
      for (const StreamPointer &stream : streams) EXPECT_EQ(poll_all(stream.get()), whole) << max_lanes;
    }
  }
}

TEST(Rejection, CancelledUtterancesHaveNoScore) {
  const EnginePointer engine = load_grammar();
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_DICTATION;
  const StreamPointer stream = open_stream(engine.get(), config);
  const std::vector<int16_t> samples = speak("high");
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_cancel_utterance(stream.get()));
  ASSERT_OK(asr_finish(stream.get()));
  for (const Final &final : finals_of(stream.get())) {
    EXPECT_NE(final.flags & ASR_FLAG_CANCELLED, 0u);
    EXPECT_EQ(final.out_of_grammar, -1);
    EXPECT_FALSE(final.is_rejected());
  }
}

}  // namespace
}  // namespace asr::test
