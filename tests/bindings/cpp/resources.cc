// SPDX-License-Identifier: Apache-2.0
// Tests the phrases, models, speakers and graphs of senone.hpp.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "tests/api/tone_bundle.h"
#include "tests/bindings/cpp/tone_engine.h"

namespace asr::test {
namespace {

TEST(CppHeader, PhrasesAreBoosted) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  EXPECT_EQ(engine.open(config).try_boost("low", 5).error().status(), ASR_INVALID_STATE);
  config.acoustic_scale = 0.02f;
  config.lattice_beam = 8;
  config.word_insertion_cost = 2;
  for (const bool is_taken_back : {false, true}) {
    senone::Stream stream = engine.open(config);
    stream.boost("low high", 5);
    stream.boost({}, 7);
    if (is_taken_back) stream.forget_boosts();
    stream.feed(speak("low mid"));
    stream.finish();
    EXPECT_EQ(stream.final_event().text() == "low high", !is_taken_back);
  }
  for (const char *const graph : {"", static_cast<const char *>(nullptr)}) {
    for (const bool is_taken_back : {false, true}) {
      engine.boost(graph, "LOW high", 5);
      engine.boost(graph, "unknown", 5, true);
      if (is_taken_back) engine.forget_boosts(graph);
      senone::Stream stream = engine.open(config);
      stream.feed(speak("low mid"));
      stream.finish();
      EXPECT_EQ(stream.final_event().text() == "low high", !is_taken_back);
    }
  }
  EXPECT_EQ(engine.try_boost("", "low,", 7).error().status(), ASR_NOT_FOUND);
  EXPECT_EQ(engine.try_forget_boosts("none").error().status(), ASR_NOT_FOUND);
}

// Feeds the words to a stream of the config, as one utterance, and returns its FINAL.
senone::Event hear(senone::Engine &engine, const senone::StreamConfig &config, const std::string &words) {
  senone::Stream stream = engine.open(config);
  stream.feed(speak(words));
  stream.finish();
  return stream.final_event();
}

TEST(CppHeader, ModelsAreFused) {
  senone::Engine engine = load();
  engine.add_model("wide", tone_model_bundle(ToneModel::kWide));
  EXPECT_EQ(engine.try_add_model("wide", "/no/such/bundle").error().status(), ASR_NOT_FOUND);
  senone::Fusion fusion(ASR_FUSION_FOLLOW);
  fusion.add("").add("wide", 0.5f).set_follow(std::chrono::milliseconds(100));
  senone::StreamConfig config;
  config.fusion = fusion.get();
  EXPECT_EQ(hear(engine, config, "low mid high").text(), "low mid high");
  config.fusion = fusion.set_select(std::chrono::milliseconds(-1)).get();
  EXPECT_EQ(engine.try_open(config).error().status(), ASR_INVALID_ARGUMENT);
  engine.remove_model("wide");
  EXPECT_EQ(engine.try_remove_model("wide").error().status(), ASR_NOT_FOUND);
  senone::Fusion none;
  config.fusion = none.get();
  EXPECT_EQ(engine.try_open(config).error().status(), ASR_INVALID_ARGUMENT);  // no model
}

TEST(CppHeader, ASpeakerIsAdapted) {
  senone::Engine engine = load();
  senone::Speaker speaker = engine.new_speaker();
  senone::StreamConfig config;
  config.speaker = speaker.get();
  EXPECT_TRUE(speaker.transform().empty());
  EXPECT_EQ(hear(engine, config, "low").text(), "low");
  EXPECT_EQ(speaker.try_adapt().error().status(), ASR_INVALID_STATE);
  EXPECT_THROW(speaker.adapt(), senone::Error);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(hear(engine, config, "low mid high").text(), "low mid high");
  EXPECT_TRUE(speaker.transform().empty());
  speaker.adapt();
  const size_t n = engine.info().n_feature_dims;
  EXPECT_EQ(speaker.transform().size(), n * (n + 1));
  EXPECT_TRUE(engine.new_speaker().transform().empty());
}

TEST(CppHeader, ASpeakersWarpIsSetAndSearched) {
  senone::Engine engine = load();
  senone::Speaker speaker = engine.new_speaker();
  EXPECT_EQ(speaker.warp(), 1);
  speaker.set_warp(0.9f);
  EXPECT_EQ(speaker.warp(), 0.9f);
  EXPECT_EQ(speaker.try_set_warp(2).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(speaker.try_set_methods(false, 0).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(speaker.try_set_methods(true, 5).error().status(), ASR_INVALID_ARGUMENT);
  speaker.set_methods(false, 11);
  EXPECT_EQ(speaker.try_adapt().error().status(), ASR_INVALID_STATE);
  EXPECT_EQ(senone::Speaker().try_warp().error().status(), ASR_INVALID_ARGUMENT);
}

TEST(CppHeader, ASpeakersTransformIsSetAndTakenAway) {
  senone::Engine engine = load();
  senone::Speaker speaker = engine.new_speaker();
  senone::StreamConfig config;
  const double cost = hear(engine, config, "low").alternatives()[0].acoustic_cost();
  config.speaker = speaker.get();
  const size_t n = engine.info().n_feature_dims;
  std::vector<float> transform(n * (n + 1));
  for (size_t i = 0; i < n; ++i) transform[i * (n + 1) + i] = 1;
  speaker.set_transform(transform);
  EXPECT_EQ(speaker.transform(), transform);
  EXPECT_NEAR(hear(engine, config, "low").alternatives()[0].acoustic_cost(), cost, 1e-3 * std::abs(cost));
  transform[n] = 10;  // added to the first value of every row
  speaker.set_transform(transform);
  EXPECT_GT(hear(engine, config, "low").alternatives()[0].acoustic_cost(), cost + 1);
  speaker.set_transform({});
  EXPECT_TRUE(speaker.transform().empty());
  EXPECT_NEAR(hear(engine, config, "low").alternatives()[0].acoustic_cost(), cost, 1e-3 * std::abs(cost));

  transform.back() = NAN;
  EXPECT_EQ(speaker.try_set_transform(transform).error().status(), ASR_INVALID_ARGUMENT);
  transform.pop_back();
  EXPECT_EQ(speaker.try_set_transform(transform).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(senone::Speaker().try_adapt().error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(senone::Speaker().try_transform().error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(senone::Engine().try_new_speaker().error().status(), ASR_INVALID_ARGUMENT);
}

TEST(CppHeader, ASpeakersMeansAreEstimatedAndSet) {
  senone::Engine engine = load();
  senone::Speaker speaker = engine.new_speaker(), other = engine.new_speaker();
  senone::StreamConfig config;
  config.speaker = speaker.get();
  speaker.set_methods(false, 0, true);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(hear(engine, config, "low mid high").text(), "low mid high");
  speaker.adapt();
  EXPECT_TRUE(speaker.transform().empty());
  const std::vector<float> found = speaker.mean_transform();
  const size_t n = engine.info().n_feature_dims;
  ASSERT_EQ(found.size(), n * (n + 1));
  const double cost = hear(engine, config, "low").alternatives()[0].acoustic_cost();
  config.speaker = other.get();
  other.set_mean_transform(found);
  EXPECT_EQ(hear(engine, config, "low").alternatives()[0].acoustic_cost(), cost);
  other.set_mean_transform({});
  EXPECT_TRUE(other.mean_transform().empty());
  EXPECT_NE(hear(engine, config, "low").alternatives()[0].acoustic_cost(), cost);
  EXPECT_EQ(other.try_set_mean_transform({1}).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(senone::Speaker().try_mean_transform().error().status(), ASR_INVALID_ARGUMENT);
}

TEST(CppHeader, AStreamAdaptsItsSpeakerBetweenUtterances) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.adaptation = ASR_ADAPTATION_BETWEEN_UTTERANCES;
  config.endpoint = ASR_ENDPOINT_DICTATION;
  EXPECT_EQ(engine.try_open(config).error().status(), ASR_INVALID_ARGUMENT);  // without a speaker
  senone::Speaker speaker = engine.new_speaker();
  config.speaker = speaker.get();
  senone::Stream stream = engine.open(config);
  stream.feed(speak("low mid high low mid"));
  stream.end_utterance();
  stream.feed(speak("high"));
  stream.finish();
  stream.final_event();
  EXPECT_FALSE(speaker.transform().empty());
}

TEST(CppHeader, SpeakersOutliveTheirEngineAndStreamsTheirSpeaker) {
  senone::Speaker kept;
  senone::Stream stream;
  {
    senone::Engine engine = load();
    senone::StreamConfig config;
    kept = engine.new_speaker();
    const senone::Speaker speaker = std::move(kept);
    EXPECT_FALSE(kept);  // NOLINT(bugprone-use-after-move): tested
    kept = engine.new_speaker();
    config.speaker = speaker.get();
    stream = engine.open(config);
  }
  stream.feed(speak("mid"));
  stream.finish();
  EXPECT_EQ(stream.final_event().text(), "mid");
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.speaker = kept.get();
  EXPECT_EQ(hear(engine, config, "low").text(), "low");
}

TEST(CppHeader, AnEngineHasManyGraphs) {
  senone::Engine engine = load();
  engine.add_graph("ends", tone_grammar_bundle({"high", "low"}));
  engine.add_graph_bytes("mids", tone_grammar_archive({"mid"}));
  senone::StreamConfig config;
  config.graph = "ends";
  senone::Stream stream = engine.open(config);
  stream.feed(speak("low"));
  EXPECT_EQ(stream.try_set_graph("mids").error().status(), ASR_INVALID_STATE);
  stream.finish();
  const senone::Event final = stream.final_event();
  EXPECT_EQ(final.text(), "low");
  EXPECT_EQ(final.words()[0].id, 2u);
  stream.reset();
  stream.set_graph("mids");
  stream.feed(speak("mid"));
  stream.finish();
  EXPECT_EQ(stream.final_event().words()[0].id, 1u);
  engine.remove_graph("mids");
  EXPECT_EQ(engine.try_remove_graph("mids").error().status(), ASR_NOT_FOUND);
  EXPECT_EQ(engine.try_add_graph("ends", "/none").error().status(), ASR_NOT_FOUND);
  EXPECT_EQ(engine.try_add_graph_bytes("ends", {}).error().status(), ASR_BAD_FILE);
  engine.add_graph("", tone_grammar_bundle({"low"}));
  EXPECT_EQ(engine.info().n_words, 2u);
}

TEST(CppHeader, WordsHaveRuleAndTags) {
  senone::Engine engine = load();
  engine.add_graph_bytes("tagged", tone_tagged_archive());
  senone::StreamConfig config;
  config.graph = "tagged";
  senone::Stream stream = engine.open(config);
  stream.feed(speak("high"));
  stream.finish();
  const senone::Event final = stream.final_event();
  EXPECT_EQ(final.words()[0].rule, "ends");
  EXPECT_EQ(final.words()[0].tags, "H\nmore");
  EXPECT_EQ(final.alternatives()[0].rule(), "ends");
  EXPECT_EQ(final.alternatives()[0].tags(), "H\nmore");
}

}  // namespace
}  // namespace asr::test
