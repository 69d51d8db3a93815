// SPDX-License-Identifier: Apache-2.0
// Tests asr_boost and asr_engine_boost: the effect on results, and the utterances that take the boosts.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;
using Samples = std::vector<int16_t>;
using EventPointer = std::unique_ptr<asr_event, void (*)(asr_event *)>;

// A low acoustic scale, so that every sentence is within the beam.
asr_stream_config doubtful(asr_endpoint endpoint = ASR_ENDPOINT_OFF) {
  asr_stream_config config = default_stream();
  config.acoustic_scale = 0.02f;
  config.lattice_beam = 8;
  config.word_insertion_cost = 2;
  config.n_best = 50;
  config.endpoint = endpoint;
  return config;
}

asr_stream_config allowing_unknown(asr_stream_config config = doubtful()) {
  config.allow_unknown_boosts = 1;
  return config;
}

void boost(asr_stream *stream, const std::string &phrases, float bonus = 7) {
  ASSERT_OK(asr_boost(stream, phrases.data(), phrases.size(), bonus));
}

// Waits for the next event of a kind; returns nullptr if END comes first.
EventPointer next(asr_stream *stream, asr_event_kind kind) {
  for (;;) {
    EXPECT_OK(asr_wait(stream, 60000));
    asr_event *taken = nullptr;
    EXPECT_OK(asr_result(stream, &taken));
    EventPointer event(taken, asr_event_free);
    if (taken == nullptr || asr_event_get_kind(taken) == ASR_EVENT_END) return {nullptr, asr_event_free};
    if (asr_event_get_kind(taken) == kind) return event;
  }
}

EventPointer next_final(asr_stream *stream) { return next(stream, ASR_EVENT_FINAL); }

EventPointer hear(asr_engine *engine, const asr_stream_config &config, const std::string &words, const std::string &phrases,
                  float bonus = 7) {
  const StreamPointer stream = open_stream(engine, config);
  if (!phrases.empty()) boost(stream.get(), phrases, bonus);
  feed(stream.get(), speak(words), 1600);
  EXPECT_OK(asr_finish(stream.get()));
  return next_final(stream.get());
}

TEST(Boost, ChangesTheResult) {
  const EnginePointer engine = load_engine();
  EXPECT_STREQ(asr_event_text(hear(engine.get(), doubtful(), "low mid", "").get()), "low mid");
  EXPECT_STREQ(asr_event_text(hear(engine.get(), doubtful(), "low mid", "low high").get()), "low high");
  EXPECT_STREQ(asr_event_text(hear(engine.get(), doubtful(), "low mid", "# none\nhigh mid\r\n").get()), "high mid");
  const EventPointer unknown = hear(engine.get(), allowing_unknown(), "low mid", "unknown words\nlow unknown");
  EXPECT_STREQ(asr_event_text(unknown.get()), "low mid");
  const EventPointer rather_not = hear(engine.get(), doubtful(), "low mid", "mid", -7);
  EXPECT_EQ(std::string(asr_event_text(rather_not.get())).find("mid"), std::string::npos);
}

void keep_line(asr_log_level, const char *message, void *lines) {
  if (std::string(message).find("asr_boost") == 0) static_cast<Events *>(lines)->push_back(message);
}

TEST(Boost, PhrasesThatTheGraphCannotSayAreLogged) {
  const EnginePointer engine = load_engine();
  Events lines;
  asr_set_log(keep_line, ASR_LOG_WARNING, &lines);
  hear(engine.get(), doubtful(), "low mid", "low high\nmid");
  EXPECT_TRUE(lines.empty());
  hear(engine.get(), allowing_unknown(), "low mid", "low high /1e-20/\nmid\n");
  asr_set_log(nullptr, ASR_LOG_WARNING, nullptr);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].find("asr_boost: 1 of 2 phrases have words that the graph lacks ('/1e-20/')"), 0u) << lines[0];
}

// Every alternative costs as much as the same words without the boost, minus the bonuses of its phrases.
TEST(Boost, TakesTheBonusOffGraphCosts) {
  const EnginePointer engine = load_engine();
  const EventPointer plain = hear(engine.get(), doubtful(), "low mid", "");
  const EventPointer boosted = hear(engine.get(), doubtful(), "low mid", "low high\nhigh", 0.5f);
  size_t n_compared = 0, n_changed = 0;
  for (size_t i = 0; i < asr_event_n_alternatives(boosted.get()); ++i) {
    const std::string text = asr_event_alternative_text(boosted.get(), i);
    double graph = 0, acoustic = 0;
    ASSERT_OK(asr_event_alternative_costs(boosted.get(), i, &graph, &acoustic));
    double bonus = 0;
    for (const char *const phrase : {"low high", "high"}) {
      for (size_t at = text.find(phrase); at != std::string::npos; at = text.find(phrase, at + 1)) bonus += 0.5;
    }
    for (size_t j = 0; j < asr_event_n_alternatives(plain.get()); ++j) {
      if (text != asr_event_alternative_text(plain.get(), j)) continue;
      double plain_graph = 0, plain_acoustic = 0;
      ASSERT_OK(asr_event_alternative_costs(plain.get(), j, &plain_graph, &plain_acoustic));
      EXPECT_NEAR(graph, plain_graph - bonus, 1e-4) << text;
      EXPECT_NEAR(acoustic, plain_acoustic, 1e-4) << text;
      ++n_compared;
      n_changed += bonus != 0;
    }
  }
  EXPECT_GT(n_compared, 5u);
  EXPECT_GT(n_changed, 2u);
}

TEST(Boost, CallsAddUpAndAreTakenBack) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), doubtful());
  boost(stream.get(), "low high", 3.5);
  feed(stream.get(), speak("low mid"), 1600);
  boost(stream.get(), "low high", 3.5);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_STREQ(asr_event_text(next_final(stream.get()).get()), "low high");
  ASSERT_OK(asr_reset(stream.get()));
  boost(stream.get(), "high high");
  feed(stream.get(), speak("low mid"), 1600);
  ASSERT_OK(asr_boost(stream.get(), nullptr, 0, 0));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_STREQ(asr_event_text(next_final(stream.get()).get()), "low mid");
}

// The boost is for the first utterance of a stream with endpoints that ends after the call.
TEST(Boost, IsForOneUtterance) {
  const EnginePointer engine = load_engine();
  const Samples words = speak("low mid"), pause = speak("");
  Samples silence;
  while (silence.size() < 24000) silence.insert(silence.end(), pause.begin(), pause.end());
  for (const asr_vad vad : {ASR_VAD_ON, ASR_VAD_OFF}) {
    for (const size_t chunk : {160, 1601, 1000000}) {
      asr_stream_config config = doubtful(ASR_ENDPOINT_COMMAND);
      config.vad = vad;
      const StreamPointer stream = open_stream(engine.get(), config);
      const auto say = [&](const char *before, const char *within) {
        boost(stream.get(), before);
        feed(stream.get(), words, chunk);
        boost(stream.get(), within);
        feed(stream.get(), silence, chunk);
      };
      say("", "");
      say("low high", "");
      say("", "high mid");
      say("", "");
      ASSERT_OK(asr_finish(stream.get()));
      for (const char *const expected : {"low mid", "low high", "high mid", "low mid"}) {
        const EventPointer final = next_final(stream.get());
        ASSERT_NE(final, nullptr);
        EXPECT_STREQ(asr_event_text(final.get()), expected) << vad << " " << chunk;
      }
      EXPECT_EQ(next_final(stream.get()), nullptr);
    }
  }
}

// Speech during the prompt is cancelled; the answer comes after it.
TEST(Boost, StaysForTheAnswerWhenAnUtteranceIsCancelled) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = doubtful(ASR_ENDPOINT_COMMAND);
  config.vad = ASR_VAD_OFF;
  const StreamPointer stream = open_stream(engine.get(), config);
  boost(stream.get(), "low high");
  feed(stream.get(), speak("mid"), 1600);
  ASSERT_OK(asr_cancel_utterance(stream.get()));
  feed(stream.get(), speak("low mid"), 1600);
  const Samples pause = speak("");
  for (int i = 0; i < 20; ++i) feed(stream.get(), pause, 1600);
  ASSERT_OK(asr_finish(stream.get()));
  std::vector<std::string> texts;
  while (const EventPointer final = next_final(stream.get())) {
    if ((asr_event_flags(final.get()) & ASR_FLAG_CANCELLED) == 0) texts.emplace_back(asr_event_text(final.get()));
  }
  EXPECT_EQ(texts, Events{"low high"});
}

// The fit of the sound to the grammar does not depend on boosted words.
TEST(Boost, LeavesTheOutOfGrammarScore) {
  const EnginePointer engine = load_engine(8, 8, tone_bundle_with_background());
  const EventPointer plain = hear(engine.get(), doubtful(), "mid", "");
  const EventPointer other = hear(engine.get(), doubtful(), "mid", "low", 50);
  EXPECT_STRNE(asr_event_text(plain.get()), asr_event_text(other.get()));
  EXPECT_GE(asr_event_out_of_grammar(plain.get()), 0);
  EXPECT_EQ(asr_event_out_of_grammar(plain.get()), asr_event_out_of_grammar(other.get()));
}

std::string text_of(const EventPointer &event) { return event != nullptr ? asr_event_text(event.get()) : "none"; }

TEST(Boost, UnknownWordsAreRefused) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), doubtful());
  const std::string phrases = "low high\nmid, high\nlow ada lovelace\n";
  EXPECT_EQ(asr_boost(stream.get(), phrases.data(), phrases.size(), 7), ASR_NOT_FOUND);
  const std::string message = asr_last_error();
  EXPECT_EQ(message.find("asr_boost: 2 of 3 phrases have words that the graph lacks ('mid,', 'ada', 'lovelace')"), 0u)
      << message;
  feed(stream.get(), speak("low mid"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(text_of(next_final(stream.get())), "low mid");
}

// Words are those of the chosen graph; an utterance of another one leaves out what that one lacks.
TEST(Boost, FollowsTheGraph) {
  const EnginePointer engine = load_engine();
  const std::string archive = tone_grammar_archive({"high", "low"});
  ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "two", archive.data(), archive.size()));
  const StreamPointer stream = open_stream(engine.get(), doubtful());
  ASSERT_OK(asr_set_graph(stream.get(), "two"));
  EXPECT_EQ(asr_boost(stream.get(), "mid", 3, 5), ASR_NOT_FOUND);
  boost(stream.get(), "HIGH", 20);
  feed(stream.get(), speak("low"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(text_of(next_final(stream.get())), "high");
  ASSERT_OK(asr_reset(stream.get()));
  boost(stream.get(), "low high\nmid mid mid mid");  // for the graph ""
  ASSERT_OK(asr_set_graph(stream.get(), "two"));
  feed(stream.get(), speak("low"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(text_of(next_final(stream.get())), "low");
}

// ---- of an engine, and of a graph ------------------------------------------------------------------------------------------

TEST(EngineBoost, IsForAllUtterancesThatBeginLater) {
  for (const char *const graph : {static_cast<const char *>(nullptr), ""}) {
    const EnginePointer engine = load_engine();
    const auto boost_all = [&](const char *text, float bonus) {
      ASSERT_OK(asr_engine_boost(engine.get(), graph, text, text != nullptr ? strlen(text) : 0, bonus, 0));
    };
    EXPECT_EQ(text_of(hear(engine.get(), doubtful(), "low mid", "")), "low mid");
    boost_all("Low High", 3);
    boost_all("low high", 2);
    EXPECT_EQ(text_of(hear(engine.get(), doubtful(), "low mid", "")), "low high");
    EXPECT_EQ(text_of(hear(engine.get(), doubtful(), "low mid", "")), "low high");
    asr_stream_config without_lattice = default_stream();
    EXPECT_EQ(text_of(hear(engine.get(), without_lattice, "low mid", "")), "low mid");
    const std::string archive = tone_archive();
    ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "", archive.data(), archive.size()));
    EXPECT_EQ(text_of(hear(engine.get(), doubtful(), "low mid", "")), "low high");
    ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "other", archive.data(), archive.size()));
    asr_stream_config other = doubtful();
    other.graph = "other";
    EXPECT_EQ(text_of(hear(engine.get(), other, "low mid", "")), graph == nullptr ? "low high" : "low mid");
    boost_all(nullptr, 0);
    EXPECT_EQ(text_of(hear(engine.get(), doubtful(), "low mid", "")), "low mid");
  }
}

TEST(EngineBoost, LeavesUtterancesUnderWay) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get(), doubtful(ASR_ENDPOINT_COMMAND));
  feed(stream.get(), speak("low mid"), 1600);
  ASSERT_NE(next(stream.get(), ASR_EVENT_SPEECH_START), nullptr);
  ASSERT_OK(asr_engine_boost(engine.get(), "", "low high", 8, 7, 0));
  ASSERT_OK(asr_end_utterance(stream.get()));
  EXPECT_EQ(text_of(next_final(stream.get())), "low mid");
  for (int i = 0; i < 2; ++i) {
    feed(stream.get(), speak("low mid"), 1600);
    ASSERT_OK(asr_end_utterance(stream.get()));
    EXPECT_EQ(text_of(next_final(stream.get())), "low high");
  }
}

// With phrases for every graph, each has those that it can say.
TEST(EngineBoost, NeedsOneGraphWithTheWords) {
  const EnginePointer engine = load_engine();
  const std::string archive = tone_grammar_archive({"high", "low"});
  ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "two", archive.data(), archive.size()));
  EXPECT_EQ(asr_engine_boost(engine.get(), "two", "mid", 3, 5, 0), ASR_NOT_FOUND);
  EXPECT_OK(asr_engine_boost(engine.get(), nullptr, "low high\nhigh", 13, 20, 0));
  EXPECT_OK(asr_engine_boost(engine.get(), nullptr, "mid mid mid mid", 15, -20, 0));
  EXPECT_EQ(asr_engine_boost(engine.get(), nullptr, "mid\nnone\nhigh none", 18, 5, 0), ASR_NOT_FOUND);
  EXPECT_EQ(std::string(asr_last_error()).find("asr_engine_boost: 2 of 3 phrases have words that the graph lacks ('none')"), 0u)
      << asr_last_error();
  asr_stream_config two = doubtful();
  two.graph = "two";
  EXPECT_EQ(text_of(hear(engine.get(), two, "low", "")), "high");
}

TEST(EngineBoost, MisuseIsRefused) {
  const EnginePointer engine = load_engine();
  EXPECT_EQ(asr_engine_boost(nullptr, "", "low", 3, 5, 0), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_boost(engine.get(), "none", "low", 3, 5, 0), ASR_NOT_FOUND);
  EXPECT_EQ(asr_engine_boost(engine.get(), "none", nullptr, 0, 0, 0), ASR_NOT_FOUND);
  EXPECT_EQ(asr_engine_boost(engine.get(), "", "low", 3, 2000, 0), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_boost(engine.get(), "", "low", 3, 5, 2), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_boost(engine.get(), "", "low,", 4, 5, 0), ASR_NOT_FOUND);
  EXPECT_STREQ(
      asr_last_error(),
      "asr_engine_boost: 1 of 1 phrases have words that the graph lacks ('low,'), so that they are never heard; a line "
      "of the text is a phrase, of words alone. Nothing is boosted by this call; allow_unknown leaves such phrases out");
  EXPECT_EQ(asr_engine_boost(engine.get(), nullptr, "low,", 4, 5, 0), ASR_NOT_FOUND);
  EXPECT_OK(asr_engine_boost(engine.get(), nullptr, "low,\nlow high", 13, 5, 1));
  EXPECT_EQ(text_of(hear(engine.get(), doubtful(), "low mid", "")), "low high");
  std::string half(600000, '#');
  half += "\nlow";
  EXPECT_OK(asr_engine_boost(engine.get(), "", half.data(), half.size(), 5, 0));
  EXPECT_EQ(asr_engine_boost(engine.get(), "", half.data(), half.size(), 5, 0), ASR_UNSUPPORTED);
}

TEST(Boost, MisuseIsRefused) {
  const EnginePointer engine = load_engine();
  const StreamPointer plain = open_stream(engine.get()), stream = open_stream(engine.get(), allowing_unknown());
  EXPECT_EQ(asr_boost(nullptr, "low", 3, 5), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_boost(plain.get(), "low", 3, 5), ASR_INVALID_STATE);
  EXPECT_STREQ(asr_last_error(), "asr_boost: the stream makes no lattices; set asr_stream_config.lattice_beam, such as to 8");
  EXPECT_EQ(asr_boost(plain.get(), nullptr, 0, 0), ASR_INVALID_STATE);
  EXPECT_EQ(asr_boost(stream.get(), "low", 3, NAN), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_boost(stream.get(), "low", 3, 1001), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_boost(stream.get(), "low", static_cast<size_t>(-1), 5), ASR_INVALID_ARGUMENT);
  const std::string half(600000, 'x'), too_long((1 << 20) + 1, 'x');
  EXPECT_EQ(asr_boost(stream.get(), too_long.data(), too_long.size(), 5), ASR_UNSUPPORTED);
  EXPECT_OK(asr_boost(stream.get(), half.data(), half.size(), 5));
  EXPECT_EQ(asr_boost(stream.get(), half.data(), half.size(), 5), ASR_UNSUPPORTED);
  EXPECT_OK(asr_boost(stream.get(), nullptr, 0, 0));
  EXPECT_OK(asr_boost(stream.get(), half.data(), half.size(), 5));
  EXPECT_OK(asr_finish(stream.get()));
  EXPECT_EQ(asr_boost(stream.get(), "low", 3, 5), ASR_INVALID_STATE);
}

}  // namespace
}  // namespace asr::test
