// SPDX-License-Identifier: Apache-2.0
// Tests engines of a model of tokens: they have no Gaussians and take rows of log-likelihoods, every 20 ms.
#include <cmath>
#include <limits>

#include "tests/api/recognizer.h"
#include "tests/api/token_bundle.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

EnginePointer load_tokens() { return load_engine(8, 32, token_bundle()); }

asr_stream_config of_rows() {
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  return config;
}

struct Heard {
  std::string text;
  std::vector<std::pair<double, double>> times;
  std::vector<double> partials, finals;  // times of these events
  double acoustic_cost = 0, fed_s = 0;
};

// Feeds `chunk` rows at a time.
Heard hear(asr_engine *engine, const asr_stream_config &config, const std::string &frames, size_t chunk = 7) {
  const std::vector<float> rows = token_rows(frames);
  const StreamPointer stream = open_stream(engine, config);
  Heard heard;
  const auto take = [&](asr_event *event) {
    const asr_event_kind kind = asr_event_get_kind(event);
    if (kind == ASR_EVENT_PARTIAL) heard.partials.push_back(asr_event_time_s(event));
    if (kind == ASR_EVENT_ERROR) ADD_FAILURE() << asr_event_text(event);
    if (kind != ASR_EVENT_FINAL) return;
    heard.finals.push_back(asr_event_time_s(event));
    heard.text += (heard.text.empty() ? "" : "|") + std::string(asr_event_text(event));
    double graph_cost = 0;
    EXPECT_OK(asr_event_alternative_costs(event, 0, &graph_cost, &heard.acoustic_cost));
    for (size_t i = 0; i < asr_event_n_words(event, 0); ++i) {
      asr_word word{};
      word.size = sizeof(word);
      EXPECT_OK(asr_event_word(event, 0, i, &word));
      heard.times.emplace_back(word.start_s, word.end_s);
    }
  };
  for (size_t row = 0; row < frames.size(); row += chunk) {
    EXPECT_OK(asr_feed(stream.get(), rows.data() + row * kTokenColumns, std::min(chunk, frames.size() - row)));
  }
  EXPECT_OK(asr_finish(stream.get()));
  for (bool ended = false; !ended;) {
    EXPECT_OK(asr_wait(stream.get(), -1));
    asr_event *event = nullptr;
    while (asr_result(stream.get(), &event) == ASR_OK && event != nullptr) {
      take(event);
      ended = ended || asr_event_get_kind(event) == ASR_EVENT_END;
      heard.fed_s = asr_event_time_s(event);
      asr_event_free(event);
      event = nullptr;
    }
  }
  return heard;
}

void expect_times(const std::vector<std::pair<double, double>> &found, const std::vector<std::pair<int, int>> &frames) {
  ASSERT_EQ(found.size(), frames.size());
  for (size_t i = 0; i < found.size(); ++i) {
    EXPECT_NEAR(found[i].first, frames[i].first * kTokenFrame_s, 1e-9) << "word " << i;
    EXPECT_NEAR(found[i].second, frames[i].second * kTokenFrame_s, 1e-9) << "word " << i;
  }
}

void expect_refused(asr_engine *engine, const asr_stream_config &config, const std::string &part) {
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine, &config, &stream), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find(part), std::string::npos) << asr_last_error();
  EXPECT_EQ(stream, nullptr);
}

TEST(Tokens, WordsHaveTheTimesOfTheirFrames) {
  const EnginePointer engine = load_tokens();
  asr_engine_info info{};
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(engine.get(), &info));
  EXPECT_EQ(info.frame_shift_ms, 20);
  EXPECT_EQ(info.n_states, kTokenColumns);
  EXPECT_EQ(info.n_feature_dims, 0u);
  for (const float lattice_beam : {0.0f, 8.0f}) {
    asr_stream_config config = of_rows();
    config.lattice_beam = lattice_beam;
    const Heard heard = hear(engine.get(), config, ".....lll.......mm...hH");
    EXPECT_EQ(heard.text, "low mid high");
    expect_times(heard.times, {{5, 8}, {15, 17}, {20, 22}});
    EXPECT_NEAR(heard.fed_s, 22 * kTokenFrame_s, 1e-9);
  }
}

TEST(Tokens, ARepeatedTokenNeedsABlank) {
  const EnginePointer engine = load_tokens();
  EXPECT_EQ(hear(engine.get(), of_rows(), "..ll.ll..").text, "low low");
  EXPECT_EQ(hear(engine.get(), of_rows(), "..llll...").text, "low");
}

TEST(Tokens, PartialsComeByTheTimeOfTheRows) {
  const EnginePointer engine = load_tokens();
  asr_stream_config config = of_rows();
  config.partial_interval_ms = 200;
  const Heard heard = hear(engine.get(), config, std::string(10, '.') + "lll" + std::string(27, '.'), 1);
  for (const double time_s : heard.partials) EXPECT_NEAR(std::remainder(time_s, 0.2), 0, 1e-9);
  EXPECT_FALSE(heard.partials.empty());
}

// Silence after words ends an utterance by the time of the rows: twice as many rows of 10 ms would be needed.
TEST(Tokens, EndpointsAreAtTheTimeOfTheRows) {
  const EnginePointer engine = load_tokens();
  asr_stream_config config = of_rows();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.silence_at_end_ms = config.silence_after_words_ms = 500;
  const Heard heard = hear(engine.get(), config, ".....lll" + std::string(50, '.') + "mm" + std::string(50, '.'), 1);
  EXPECT_EQ(heard.text, "low|mid");
  ASSERT_EQ(heard.finals.size(), 2u);
  EXPECT_GE(heard.finals[0], 8 * kTokenFrame_s + 0.5);
  EXPECT_LE(heard.finals[0], 8 * kTokenFrame_s + 0.5 + 0.2);
  expect_times(heard.times, {{5, 8}, {58, 60}});
  config.blank_skip = 0.99f;
  expect_refused(engine.get(), config, "endpoint");
}

TEST(Tokens, SkippedBlanksChangeNeitherWordsNorTimes) {
  const EnginePointer engine = load_tokens();
  const std::string frames =
      std::string(40, '.') + "ll" + std::string(30, '.') + "l...hH.........." + std::string(60, '.') + "m..";
  for (const size_t chunk : {size_t{1}, size_t{7}, frames.size()}) {
    for (const float lattice_beam : {0.0f, 8.0f}) {
      asr_stream_config config = of_rows();
      config.lattice_beam = lattice_beam;
      const Heard all = hear(engine.get(), config, frames, chunk);
      config.blank_skip = 0.99f;
      const Heard skipped = hear(engine.get(), config, frames, chunk);
      EXPECT_EQ(all.text, "low low high mid");
      EXPECT_EQ(skipped.text, all.text);
      EXPECT_EQ(skipped.times, all.times);
      EXPECT_NEAR(skipped.acoustic_cost, all.acoustic_cost, 0.02);
      EXPECT_LT(skipped.acoustic_cost, all.acoustic_cost);  // some frames were skipped
      EXPECT_EQ(skipped.finals, all.finals);
    }
  }
}

TEST(Tokens, BlankPenaltyAndPriorsWeighTheBlank) {
  const EnginePointer engine = load_tokens();
  asr_stream_config config = of_rows();
  config.word_insertion_cost = -1;  // that of the graph
  EXPECT_EQ(hear(engine.get(), config, "...?...").text, "");
  config.blank_penalty = 1;
  EXPECT_EQ(hear(engine.get(), config, "...?...").text, "low");
  config.blank_penalty = 0;
  config.prior_scale = 1;
  EXPECT_EQ(hear(engine.get(), config, "...?...").text, "low");
}

TEST(Tokens, TakesRowsOfItsWidthAlone) {
  const EnginePointer engine = load_tokens();
  for (const asr_input input : {ASR_INPUT_INT16, ASR_INPUT_FLOAT, ASR_INPUT_FEATURES, ASR_INPUT_ULAW}) {
    asr_stream_config config = default_stream();
    config.input = input;
    expect_refused(engine.get(), config, "has no Gaussians");
  }
  asr_speaker *speaker = nullptr;
  EXPECT_EQ(asr_speaker_new(engine.get(), &speaker), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("has no Gaussians"), std::string::npos) << asr_last_error();
  EXPECT_EQ(asr_engine_add_model(engine.get(), "tones", token_bundle().c_str()), ASR_UNSUPPORTED);
}

TEST(Tokens, ClosedTokensAreFineAndNanIsNot) {
  const EnginePointer engine = load_tokens();
  std::vector<float> rows = token_rows("..l..");
  for (float &value : rows) {
    if (value < -5) value = -std::numeric_limits<float>::infinity();
  }
  const StreamPointer stream = open_stream(engine.get(), of_rows());
  ASSERT_OK(asr_feed(stream.get(), rows.data(), 5));
  rows[2 * kTokenColumns + 3] = NAN;
  EXPECT_EQ(asr_feed(stream.get(), rows.data(), 5), ASR_BAD_AUDIO);
  EXPECT_NE(std::string(asr_last_error()).find("frame 7: value 3 is not a number"), std::string::npos) << asr_last_error();
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(final_text(poll_all(stream.get())), "low");
}

TEST(Tokens, OtherModelsHaveNoBlank) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = of_rows();
  config.blank_skip = 0.9f;
  expect_refused(engine.get(), config, "blank_skip");
  config = of_rows();
  config.blank_penalty = 1;
  expect_refused(engine.get(), config, "blank_penalty");
  config = of_rows();
  config.prior_scale = 1;
  expect_refused(engine.get(), config, "prior_scale");
}

}  // namespace
}  // namespace asr::test
