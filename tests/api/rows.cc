// SPDX-License-Identifier: Apache-2.0
// Tests streams that give rows instead of words: what they give, that nothing but the audio decides it, and their ends.
#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "core/model/acoustic_model.h"
#include "reference/gmm.h"
#include "tests/api/speakers.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

const std::vector<int16_t> &recording() {
  static const std::vector<int16_t> samples = speak("low high mid mid low high");
  return samples;
}

// A recording of some seconds more than the shortest backlog, in frames.
std::vector<int16_t> long_recording() {
  std::vector<int16_t> samples;
  for (int i = 0; i < 4; ++i) samples.insert(samples.end(), recording().begin(), recording().end());
  return samples;
}

// Returns the events of rows that are fed.
Events recognize_rows(asr_engine *engine, asr_input input, const GivenRows &rows) {
  asr_stream_config config = default_stream();
  config.input = input;
  const StreamPointer stream = open_stream(engine, config);
  EXPECT_OK(asr_feed(stream.get(), rows.values.data(), rows.n_rows));
  EXPECT_OK(asr_finish(stream.get()));
  return poll_all(stream.get());
}

std::string final_of(const Events &events) {
  for (const std::string &event : events) {
    if (event.rfind("FINAL", 0) == 0) return event;
  }
  return "";
}

TEST(Rows, FedBackTheyGiveTheResultsOfTheAudio) {
  const EnginePointer engine = load_engine();
  for (const asr_cmn cmn : {ASR_CMN_MODEL, ASR_CMN_BATCH, ASR_CMN_NONE}) {
    asr_stream_config words = default_stream();
    words.cmn = cmn;
    const std::string expected = final_of(recognize(engine.get(), words, recording(), 1000));
    const bool is_heard = expected.find("low high mid mid low high") != std::string::npos;
    EXPECT_TRUE(is_heard || cmn == ASR_CMN_BATCH) << expected;  // the tones' model knows no other means
    for (const asr_output output : {ASR_OUTPUT_FEATURES, ASR_OUTPUT_LOGLIKES}) {
      asr_stream_config config = giving(output);
      config.cmn = cmn;
      const GivenRows given = rows_of(engine.get(), config, recording(), 1000);
      const asr_input input = output == ASR_OUTPUT_FEATURES ? ASR_INPUT_FEATURES : ASR_INPUT_LOGLIKES;
      const std::string found = final_of(recognize_rows(engine.get(), input, given));
      // Samples that fill no frame have a time, too.
      EXPECT_EQ(found.substr(found.find(" [")), expected.substr(expected.find(" [")));
    }
  }
}

TEST(Rows, LogLikelihoodsAreThoseOfTheReference) {
  for (const std::string &bundle : {tone_bundle(), tone_model_bundle(ToneModel::kFull)}) {
    const EnginePointer engine = load_engine(8, 32, bundle);
    const GivenRows features = rows_of(engine.get(), giving(ASR_OUTPUT_FEATURES), recording(), 777);
    const GivenRows scores = rows_of(engine.get(), giving(ASR_OUTPUT_LOGLIKES), recording(), 777);
    const AcousticModel model = read_acoustic_model(bundle + "/acoustic.bin");
    const AcousticView view(model);
    ASSERT_EQ(features.n_values, model.n_dims);
    ASSERT_EQ(scores.n_values, model.n_states);
    ASSERT_EQ(scores.n_rows, features.n_rows);
    EXPECT_GT(scores.n_rows, 200u);
    for (size_t t = 0; t < scores.n_rows; ++t) {
      for (uint32_t s = 0; s < model.n_states; ++s) {
        const double expected = reference::log_likelihood(*view.get(), s, features.values.data() + t * model.n_dims);
        ASSERT_NEAR(scores.values[t * model.n_states + s], expected, 1e-4 * (1 + std::fabs(expected))) << t << " " << s;
      }
    }
  }
}

// Neither chunks nor other streams, some of which want words, change a value.
TEST(Rows, DependOnTheAudioAlone) {
  for (const asr_output output : {ASR_OUTPUT_FEATURES, ASR_OUTPUT_LOGLIKES}) {
    const EnginePointer alone = load_engine(1, 8), shared = load_engine(4, 32);
    const GivenRows expected = rows_of(alone.get(), giving(output), recording(), 16000);
    std::vector<GivenRows> given(6);
    std::vector<std::string> words(3);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < given.size(); ++i) {
      threads.emplace_back([&, i] { given[i] = rows_of(shared.get(), giving(output), recording(), 160 * i + 99); });
    }
    for (std::string &text : words) {
      threads.emplace_back([&] { text = final_text(recognize(shared.get(), default_stream(), recording(), 500)); });
    }
    for (std::thread &thread : threads) thread.join();
    for (const GivenRows &rows : given) EXPECT_EQ(rows.values, expected.values);
    for (const std::string &text : words) EXPECT_EQ(text, "low high mid mid low high");
  }
}

TEST(Rows, NeedNoGraph) {
  const EnginePointer engine = load_engine(8, 32, tone_model_bundle(ToneModel::kWide));
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), nullptr, &stream), ASR_NOT_FOUND);
  const GivenRows given = rows_of(engine.get(), giving(ASR_OUTPUT_LOGLIKES), recording(), 1000);
  EXPECT_GT(given.n_rows, 200u);
  EXPECT_EQ(given.status, ASR_OK);
}

TEST(Rows, ComeWhileAudioIsFed) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = giving(ASR_OUTPUT_LOGLIKES);
  config.cmn = ASR_CMN_LIVE;
  const StreamPointer stream = open_stream(engine.get(), config);
  feed(stream.get(), recording(), 1000);
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_ROWS;) {
    asr_event *event = nullptr;
    ASSERT_OK(asr_wait(stream.get(), 60000));
    ASSERT_OK(asr_result(stream.get(), &event));
    kind = asr_event_get_kind(event);
    asr_event_free(event);
  }
}

TEST(Rows, FeaturesAreScoredToo) {
  const EnginePointer engine = load_engine();
  const GivenRows features = rows_of(engine.get(), giving(ASR_OUTPUT_FEATURES), recording(), 777);
  const GivenRows expected = rows_of(engine.get(), giving(ASR_OUTPUT_LOGLIKES), recording(), 777);
  asr_stream_config config = giving(ASR_OUTPUT_LOGLIKES);
  config.input = ASR_INPUT_FEATURES;
  const StreamPointer stream = open_stream(engine.get(), config);
  ASSERT_OK(asr_feed(stream.get(), features.values.data(), features.n_rows));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(poll_rows(stream.get()).values, expected.values);
}

TEST(Rows, AreThoseOfTheSpeaker) {
  const EnginePointer engine = load_engine();
  const GivenRows plain = rows_of(engine.get(), giving(ASR_OUTPUT_FEATURES), recording(), 777);
  const SpeakerPointer speaker = new_speaker(engine.get());
  set(speaker, transform(n_dims_of(engine.get()), 2, 0.5f));
  asr_stream_config config = of(speaker);
  config.output = ASR_OUTPUT_FEATURES;
  const GivenRows transformed = rows_of(engine.get(), config, recording(), 777);
  ASSERT_EQ(transformed.values.size(), plain.values.size());
  for (size_t i = 0; i < plain.values.size(); ++i) EXPECT_EQ(transformed.values[i], plain.values[i] * 2 + 0.5f) << i;
  EXPECT_EQ(asr_adapt(speaker.get()), ASR_INVALID_STATE) << "nothing is learned of rows";
}

TEST(Rows, OfFusedModels) {
  const EnginePointer engine = load_engine(), other = load_engine(8, 32, tone_model_bundle(ToneModel::kOtherFeatures));
  ASSERT_OK(asr_engine_add_model(engine.get(), "other", tone_model_bundle(ToneModel::kOtherFeatures).c_str()));
  const GivenRows one = rows_of(engine.get(), giving(ASR_OUTPUT_LOGLIKES), recording(), 777);
  const GivenRows two = rows_of(other.get(), giving(ASR_OUTPUT_LOGLIKES), recording(), 777);
  const char *const names[] = {"", "other"};
  asr_fusion fusion;
  asr_fusion_default(&fusion);
  fusion.n_models = 2;
  fusion.models = names;
  asr_stream_config config = giving(ASR_OUTPUT_LOGLIKES);
  config.fusion = &fusion;
  const GivenRows fused = rows_of(engine.get(), config, recording(), 777);
  ASSERT_GT(fused.values.size(), 500u);
  ASSERT_LE(fused.values.size(), std::min(one.values.size(), two.values.size()));
  for (size_t i = 0; i < fused.values.size(); ++i) {
    const float mean = (one.values[i] + two.values[i]) / 2;
    ASSERT_NEAR(fused.values[i], mean, 1e-4 * (1 + std::fabs(mean))) << i;
  }
}

void expect_refused(asr_engine *engine, const asr_stream_config &config, const std::string &part) {
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine, &config, &stream), ASR_INVALID_ARGUMENT) << part;
  EXPECT_NE(std::string(asr_last_error()).find(part), std::string::npos) << asr_last_error();
}

TEST(Rows, MisuseIsRefused) {
  const EnginePointer engine = load_engine();
  const auto refuse = [&](auto spoil, const char *part) {
    asr_stream_config config = giving(ASR_OUTPUT_LOGLIKES);
    spoil(&config);
    expect_refused(engine.get(), config, part);
  };
  refuse([](auto *c) { c->output = static_cast<asr_output>(3); }, "asr_stream_config.output");
  refuse([](auto *c) { c->input = ASR_INPUT_LOGLIKES; }, "ASR_OUTPUT_LOGLIKES, but input is ASR_INPUT_LOGLIKES");
  refuse([](auto *c) { c->endpoint = ASR_ENDPOINT_COMMAND; }, "but endpoint is set");
  refuse([](auto *c) { c->lattice_beam = 8; }, "but lattice_beam is set");
  refuse([](auto *c) { c->partial_interval_ms = 8; }, "but partial_interval_ms is set");
  refuse([](auto *c) { c->cmn = ASR_CMN_MEASURE; }, "but cmn is ASR_CMN_MEASURE");
  asr_fusion fusion;
  asr_fusion_default(&fusion);
  fusion.rule = ASR_FUSION_FOLLOW;
  refuse([&](auto *c) { c->fusion = &fusion; }, "asr_fusion.rule");
  fusion.rule = ASR_FUSION_SUM;
  refuse([&](auto *c) { c->fusion = &fusion, c->output = ASR_OUTPUT_FEATURES; }, "but fusion is set");

  const StreamPointer stream = open_stream(engine.get(), giving(ASR_OUTPUT_FEATURES));
  EXPECT_EQ(asr_end_utterance(stream.get()), ASR_INVALID_STATE);
  EXPECT_EQ(asr_cancel_utterance(stream.get()), ASR_INVALID_STATE);
  EXPECT_EQ(asr_boost(stream.get(), "low", 3, 1), ASR_INVALID_STATE);
  asr_rows rows{};
  rows.size = sizeof(rows);
  EXPECT_EQ(asr_event_rows(nullptr, &rows), ASR_INVALID_ARGUMENT);
}

TEST(Rows, OfNothingAreNone) {
  const EnginePointer engine = load_engine();
  for (const asr_output output : {ASR_OUTPUT_FEATURES, ASR_OUTPUT_LOGLIKES}) {
    const GivenRows given = rows_of(engine.get(), giving(output), {}, 1);
    EXPECT_EQ(given.n_rows, 0u);
    EXPECT_EQ(given.status, ASR_OK);
  }
}

TEST(Rows, ThatNobodyTakesHoldUpTheFeeder) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = giving(ASR_OUTPUT_FEATURES);
  config.max_backlog_ms = 1000;
  config.cmn = ASR_CMN_NONE;
  const StreamPointer stream = open_stream(engine.get(), config);
  const std::vector<int16_t> samples = long_recording();
  size_t n_fed = 0;
  asr_status status = ASR_OK;
  while (n_fed + 160 <= samples.size() && (status = asr_feed(stream.get(), samples.data() + n_fed, 160)) == ASR_OK)
    n_fed += 160;
  while (status == ASR_OK && (status = asr_feed(stream.get(), samples.data(), 0)) == ASR_OK) {  // the engine makes the rest
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  EXPECT_EQ(status, ASR_BUSY);
  EXPECT_NE(std::string(asr_last_error()).find("asr_feed: rows of more than max_backlog_ms"), std::string::npos);
  EXPECT_EQ(asr_try_feed(stream.get(), samples.data(), 1), ASR_BUSY);
  ASSERT_OK(asr_finish(stream.get()));
  const GivenRows given = poll_rows(stream.get());
  EXPECT_GT(given.n_rows, 100u);
  ASSERT_OK(asr_reset(stream.get()));
  EXPECT_OK(asr_feed(stream.get(), samples.data(), 160)) << "rows of before do not count";
}

struct Taken {
  GivenRows given;
  std::atomic<size_t> n_rows{0};
  std::atomic<bool> waits{true};
};

void take(asr_stream *, asr_event *event, void *user_data) {
  auto *const taken = static_cast<Taken *>(user_data);
  while (taken->waits) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  add_rows(event, &taken->given);
  taken->n_rows = taken->given.n_rows;
  asr_event_free(event);
}

TEST(Rows, ACallbackIsWaitedFor) {
  const EnginePointer engine = load_engine();
  const GivenRows expected = rows_of(engine.get(), giving(ASR_OUTPUT_LOGLIKES), long_recording(), 16000);
  Taken taken;
  asr_stream_config config = giving(ASR_OUTPUT_LOGLIKES);
  config.max_backlog_ms = 500;
  config.callback = take;
  config.user_data = &taken;
  const StreamPointer stream = open_stream(engine.get(), config);
  std::thread releasing([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    taken.waits = false;
  });
  feed(stream.get(), long_recording(), 160);
  releasing.join();
  ASSERT_OK(asr_finish(stream.get()));
  ASSERT_OK(asr_wait(stream.get(), -1));
  EXPECT_EQ(taken.given.values, expected.values);
}

// The callback takes nothing while asr_cancel ends the call that waits for it.
TEST(Rows, CancellingFreesAFeederWhoWaits) {
  const EnginePointer engine = load_engine();
  Taken taken;
  asr_stream_config config = giving(ASR_OUTPUT_FEATURES);
  config.max_backlog_ms = 80;
  config.callback = take;
  config.user_data = &taken;
  const StreamPointer stream = open_stream(engine.get(), config);
  std::atomic<asr_status> status{ASR_OK};
  std::thread feeding([&] {
    while (status == ASR_OK) status = asr_feed(stream.get(), recording().data(), 160);
  });
  std::this_thread::sleep_for(std::chrono::milliseconds(100));
  ASSERT_OK(asr_cancel(stream.get()));
  feeding.join();
  EXPECT_EQ(status, ASR_CANCELLED);
  taken.waits = false;
  ASSERT_OK(asr_wait(stream.get(), -1));
  EXPECT_EQ(taken.given.status, ASR_CANCELLED);
}

// Streams that are closed, cancelled or reset in the middle leave others as they are.
TEST(Rows, StreamsThatStopHarmNoOther) {
  const EnginePointer engine = load_engine(4, 16);
  const GivenRows expected = rows_of(engine.get(), giving(ASR_OUTPUT_LOGLIKES), recording(), 16000);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < 8; ++i) {
    threads.emplace_back([&, i] {
      const asr_output output = i % 2 == 0 ? ASR_OUTPUT_LOGLIKES : ASR_OUTPUT_FEATURES;
      for (size_t n = 1; n < 20; ++n) {
        const StreamPointer stream = open_stream(engine.get(), giving(output));
        EXPECT_OK(asr_feed(stream.get(), recording().data(), std::min(recording().size(), n * 1700)));
        if (n % 4 == 0) {
          EXPECT_OK(asr_finish(stream.get()));
        }
        if (n % 3 == 0) {
          EXPECT_OK(asr_cancel(stream.get()));
        }
        if (n % 5 != 0) continue;
        EXPECT_OK(asr_reset(stream.get()));
        feed(stream.get(), recording(), 1000);
        EXPECT_OK(asr_finish(stream.get()));
        const GivenRows given = poll_rows(stream.get());
        if (output == ASR_OUTPUT_LOGLIKES) {
          EXPECT_EQ(given.values, expected.values);
        }
      }
    });
  }
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(rows_of(engine.get(), giving(ASR_OUTPUT_LOGLIKES), recording(), 3000).values, expected.values);
  }
  for (std::thread &thread : threads) thread.join();
}

// Engine and stream are freed before their events.
TEST(Rows, AnEventOutlivesItsStream) {
  EnginePointer engine = load_engine();
  StreamPointer stream = open_stream(engine.get(), giving(ASR_OUTPUT_LOGLIKES));
  feed(stream.get(), recording(), 1000);
  ASSERT_OK(asr_finish(stream.get()));
  asr_event *event = nullptr;
  while (asr_event_get_kind(event) != ASR_EVENT_ROWS) {
    asr_event_free(event);
    ASSERT_OK(asr_wait(stream.get(), -1));
    ASSERT_OK(asr_result(stream.get(), &event));
  }
  stream.reset();
  engine.reset();
  GivenRows given;
  add_rows(event, &given);
  EXPECT_TRUE(std::isfinite(given.values.back()));
  asr_event_free(event);
}

}  // namespace
}  // namespace asr::test
