// SPDX-License-Identifier: Apache-2.0
// Tests engines with several acoustic models, from which streams choose and which they fuse.
#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/model/bundle.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

using Events = std::vector<std::string>;
constexpr asr_fusion_rule kRules[] = {ASR_FUSION_SUM, ASR_FUSION_LOG_SUM, ASR_FUSION_MAX, ASR_FUSION_FOLLOW, ASR_FUSION_SELECT};
const char *const kWords = "low mid high high low";

// A stream's models, and the arrays to which its config points.
struct Fused {
  std::vector<const char *> models;
  std::vector<float> weights;
  asr_fusion fusion;
  asr_stream_config config;

  Fused(asr_fusion_rule rule, std::vector<const char *> names, std::vector<float> shares = {})
      : models(std::move(names)), weights(std::move(shares)) {
    asr_fusion_default(&fusion);
    fusion.rule = rule;
    fusion.n_models = static_cast<uint32_t>(models.size());
    fusion.models = models.data();
    fusion.weights = weights.empty() ? nullptr : weights.data();
    fusion.follow_ms = 100;
    fusion.select_ms = 200;
    config = default_stream();
    config.fusion = &fusion;
  }
  Fused(const Fused &) = delete;
};

void add(asr_engine *engine, const char *name, ToneModel model) {
  EXPECT_OK(asr_engine_add_model(engine, name, tone_model_bundle(model).c_str()));
}

EnginePointer load_models(const std::string &device = "cpu", uint32_t max_lanes = 8, uint32_t window_frames = 32) {
  EnginePointer engine = load_engine(max_lanes, window_frames, "", device);
  EXPECT_OK(asr_engine_add_model(engine.get(), "again", tone_bundle().c_str()));
  add(engine.get(), "wide", ToneModel::kWide);
  add(engine.get(), "full", ToneModel::kFull);
  add(engine.get(), "other", ToneModel::kOtherFeatures);
  add(engine.get(), "deaf", ToneModel::kDeaf);
  return engine;
}

Events hear(asr_engine *engine, const asr_stream_config &config, size_t chunk = 1600) {
  return recognize(engine, config, speak(kWords), chunk);
}

// Models of load_models() that differ and recognise all words.
const std::vector<const char *> kAll{"", "wide", "full", "other"};

TEST(Fusion, AModelIsUsedAlone) {
  const EnginePointer engine = load_models();
  const Events plain = hear(engine.get(), default_stream());
  for (const char *const name : {"", "again"}) {
    const Fused fused(ASR_FUSION_MAX, {name});
    EXPECT_EQ(hear(engine.get(), fused.config), plain) << name;
  }
  // A model alone and a model with the other's weight 0 have the same costs.
  const Fused wide(ASR_FUSION_SUM, {"wide"}), left(ASR_FUSION_SUM, {"wide", ""}, {1, 0});
  const Events found = hear(engine.get(), wide.config);
  EXPECT_NE(found, plain);
  EXPECT_EQ(hear(engine.get(), left.config), found);
  EXPECT_EQ(final_text(found), kWords);
  EXPECT_EQ(final_text(hear(engine.get(), Fused(ASR_FUSION_SUM, {"other"}).config)), kWords);
  EXPECT_NE(final_text(hear(engine.get(), Fused(ASR_FUSION_SUM, {"deaf"}).config)), kWords);
}

TEST(Fusion, AModelWithItselfIsItself) {
  const EnginePointer engine = load_models();
  for (const float lattice_beam : {0.0f, 8.0f}) {
    asr_stream_config plain = default_stream();
    plain.lattice_beam = lattice_beam;
    const Events expected = hear(engine.get(), plain);
    for (const asr_fusion_rule rule : kRules) {
      Fused fused(rule, {"", "again"}, {0.5f, 0.5f}), twice(rule, {"", ""}, {3, 3});
      fused.config.lattice_beam = twice.config.lattice_beam = lattice_beam;
      EXPECT_EQ(hear(engine.get(), fused.config), expected) << rule;
      EXPECT_EQ(hear(engine.get(), twice.config), expected) << rule;
    }
  }
}

// Every rule gives different events.
TEST(Fusion, EveryRuleHearsTheWords) {
  const EnginePointer engine = load_models();
  std::vector<Events> heard{hear(engine.get(), default_stream())};
  for (const asr_fusion_rule rule : kRules) {
    const Fused fused(rule, kAll, {1, 2, 1, 0.5f});
    const Events found = hear(engine.get(), fused.config);
    EXPECT_EQ(final_text(found), kWords) << rule;
    EXPECT_EQ(std::count(heard.begin(), heard.end(), found), 0) << rule;
    heard.push_back(found);
  }
}

// Model "deaf" recognises only "mid". The rules must give the other model more weight, or choose it.
TEST(Fusion, ADeafModelIsNotFollowed) {
  const EnginePointer engine = load_models();
  for (const asr_fusion_rule rule : {ASR_FUSION_LOG_SUM, ASR_FUSION_MAX, ASR_FUSION_FOLLOW, ASR_FUSION_SELECT}) {
    EXPECT_EQ(final_text(hear(engine.get(), Fused(rule, {"deaf", ""}).config)), kWords) << rule;
  }
}

TEST(Fusion, ChunksAndWindowsDoNotMatter) {
  for (const asr_fusion_rule rule : kRules) {
    Fused fused(rule, kAll);
    fused.config.lattice_beam = 8;
    Events expected;
    for (const uint32_t window_frames : {8u, 32u, 57u}) {
      const EnginePointer engine = load_models("cpu", 8, window_frames);
      for (const size_t chunk : {100, 1601, 1000000}) {
        const Events found = hear(engine.get(), fused.config, chunk);
        if (expected.empty()) expected = found;
        EXPECT_EQ(found, expected) << rule << " " << window_frames << " " << chunk;
      }
    }
  }
}

// Streams of each rule, and plain ones, run on the same device at once. The devices include one with two advances in flight and
// one with a fused step.
TEST(Fusion, StreamsRunTogetherAsEachAlone) {
  std::vector<std::string> devices{"cpu"};
  for (const char *const name : {"overlapping", "stepping"}) devices.push_back(devices_named(name, "").at(0));
  for (const std::string &device : devices) {
    const EnginePointer engine = load_models(device, 3);
    std::vector<std::unique_ptr<Fused>> fused;
    std::vector<asr_stream_config> configs;
    std::vector<Events> expected;
    for (size_t i = 0; i < 12; ++i) {
      fused.push_back(std::make_unique<Fused>(kRules[i % 5], kAll));
      configs.push_back(i % 3 == 2 ? default_stream() : fused.back()->config);
      if (i % 2 == 0) configs.back().lattice_beam = 6;
      expected.push_back(hear(engine.get(), configs.back()));
      EXPECT_EQ(final_text(expected.back()), kWords);
    }
    std::vector<StreamPointer> streams;
    const std::vector<int16_t> samples = speak(kWords);
    for (const asr_stream_config &config : configs) streams.push_back(open_stream(engine.get(), config));
    for (size_t at = 0; at < samples.size(); at += 700) {
      for (const StreamPointer &stream : streams) {
        ASSERT_OK(asr_feed(stream.get(), samples.data() + at, std::min<size_t>(700, samples.size() - at)));
      }
    }
    for (const StreamPointer &stream : streams) ASSERT_OK(asr_finish(stream.get()));
    for (size_t i = 0; i < streams.size(); ++i) EXPECT_EQ(poll_all(streams[i].get()), expected[i]) << device << " " << i;
  }
}

// The host fuses for an engine with a search device, the device for others: bit for bit the same, with any weights.
TEST(Fusion, TheHostFusesAsTheDevice) {
  const auto load = [](const std::string &search_device) {
    asr_engine_config config;
    asr_engine_config_default(&config);
    config.device = "cpu";
    config.search_device = search_device.c_str();
    config.n_threads = 2;
    asr_engine *loaded = nullptr;
    EXPECT_OK(asr_engine_load(tone_bundle().c_str(), &config, &loaded));
    EnginePointer engine(loaded, asr_engine_close);
    add(engine.get(), "wide", ToneModel::kWide);
    add(engine.get(), "full", ToneModel::kFull);
    add(engine.get(), "other", ToneModel::kOtherFeatures);
    return engine;
  };
  const EnginePointer whole = load(""), split = load(devices_named("overlapping", "").at(0));
  const std::vector<std::vector<float>> weights{{0.37f, 2.1f, 1.7f, 0.9f}, {0.1f, 0.2f, 0.7f, 0.3f}, {3, 7, 11, 13}};
  for (const asr_fusion_rule rule : {ASR_FUSION_SUM, ASR_FUSION_LOG_SUM, ASR_FUSION_MAX}) {
    for (const std::vector<float> &shares : weights) {
      Fused fused(rule, kAll, shares);
      fused.config.lattice_beam = 12;
      EXPECT_EQ(hear(whole.get(), fused.config), hear(split.get(), fused.config)) << rule << " " << shares[0];
    }
  }
}

// More models than one call of the device's fusion takes: streams keep models that others have replaced.
TEST(Fusion, ManyModelsAreFusedTogether) {
  const EnginePointer engine = load_engine(8, 64);
  std::vector<std::string> names;
  for (int i = 0; i < 31; ++i) names.push_back(std::to_string(i));
  std::vector<const char *> models{""};
  for (const std::string &name : names) models.push_back(name.c_str());
  std::vector<std::unique_ptr<Fused>> fused;
  std::vector<StreamPointer> streams;
  std::vector<Events> expected;
  for (const size_t n : {32, 17, 30}) {
    for (const std::string &name : names)
      add(engine.get(), name.c_str(), name.size() > 1 ? ToneModel::kWide : ToneModel::kFull);
    fused.push_back(std::make_unique<Fused>(ASR_FUSION_LOG_SUM, std::vector<const char *>(models.begin(), models.begin() + n)));
    streams.push_back(open_stream(engine.get(), fused.back()->config));
    expected.push_back(hear(engine.get(), fused.back()->config));
    EXPECT_EQ(final_text(expected.back()), kWords);
  }
  const std::vector<int16_t> samples = speak(kWords);
  for (const StreamPointer &stream : streams) ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  for (const StreamPointer &stream : streams) ASSERT_OK(asr_finish(stream.get()));
  for (size_t i = 0; i < streams.size(); ++i) EXPECT_EQ(poll_all(streams[i].get()), expected[i]) << i;
}

// The second stream opens the second call of the device's fusion with models of the first call. The third stream's models
// have no room beside them.
TEST(Fusion, ModelsCountInEveryCallThatHasThem) {
  const EnginePointer engine = load_engine(8, 64);
  std::vector<std::string> names;
  for (int i = 0; i < 31; ++i) names.push_back(std::to_string(i));
  struct Opening {
    int first, last;               // models that are loaded anew before
    std::function<bool(int)> has;  // the stream's models, beside the engine's own
  };
  // 32 models; 21, of which 11 are the first stream's; 22, of which the second stream has one.
  const std::vector<Opening> openings = {{0, 30, [](int) { return true; }},
                                         {10, 30, [](int i) { return i < 20; }},
                                         {0, 9, [](int i) { return i < 10 || i >= 20; }}};
  std::vector<std::unique_ptr<Fused>> fused;
  std::vector<StreamPointer> streams;
  std::vector<Events> expected;
  for (const Opening &opening : openings) {
    std::vector<const char *> models{""};
    for (int i = 0; i < 31; ++i) {
      const char *const name = names[static_cast<size_t>(i)].c_str();
      if (i >= opening.first && i <= opening.last) add(engine.get(), name, i % 2 == 0 ? ToneModel::kWide : ToneModel::kFull);
      if (opening.has(i)) models.push_back(name);
    }
    fused.push_back(std::make_unique<Fused>(ASR_FUSION_LOG_SUM, models));
    streams.push_back(open_stream(engine.get(), fused.back()->config));
    expected.push_back(hear(engine.get(), fused.back()->config));
    EXPECT_EQ(final_text(expected.back()), kWords);
  }
  const std::vector<int16_t> samples = speak(kWords);
  for (int turn = 0; turn < 18; ++turn) {  // a window has streams in the order in which they get rows
    std::vector<size_t> order{0, 1, 2};
    for (int i = 0; i < turn % 6; ++i) std::next_permutation(order.begin(), order.end());
    for (const size_t i : order) ASSERT_OK(asr_feed(streams[i].get(), samples.data(), samples.size()));
    for (const size_t i : order) ASSERT_OK(asr_finish(streams[i].get()));
    for (const size_t i : order) {
      EXPECT_EQ(poll_all(streams[i].get()), expected[i]) << i;
      ASSERT_OK(asr_reset(streams[i].get()));
    }
  }
}

// The models' front ends look ahead by different numbers of frames.
TEST(Fusion, MeansAreEachModelsOwn) {
  const EnginePointer engine = load_models();
  add(engine.get(), "mean", ToneModel::kWithMean);
  for (const asr_fusion_rule rule : kRules) {
    Fused fused(rule, {"mean", "", "other"});
    const Events batch = hear(engine.get(), fused.config);
    EXPECT_EQ(final_text(batch), kWords) << rule;
    fused.config.partial_interval_ms = 100;  // makes the mean live
    const Events live = hear(engine.get(), fused.config);
    EXPECT_EQ(final_text(live), kWords) << rule;
    EXPECT_NE(live, batch);
    for (const size_t chunk : {100, 5000}) EXPECT_EQ(hear(engine.get(), fused.config, chunk), live) << rule << " " << chunk;
  }
}

std::vector<int16_t> with_pauses(const std::vector<std::string> &sentences) {
  std::vector<int16_t> samples;
  for (const std::string &words : sentences) {
    const std::vector<int16_t> said = speak(words);
    samples.insert(samples.end(), said.begin(), said.end());
    samples.insert(samples.end(), 20000, 0);
  }
  return samples;
}

Events finals(const Events &events) {
  Events result;
  for (const std::string &event : events) {
    if (event.rfind("FINAL", 0) == 0) result.push_back(event);
  }
  return result;
}

TEST(Fusion, UtterancesOfAStreamBeginAnew) {
  const EnginePointer engine = load_models();
  const std::vector<int16_t> samples = with_pauses({"low mid", "high", "mid low high"});
  for (const asr_vad vad : {ASR_VAD_ON, ASR_VAD_OFF}) {
    for (const asr_fusion_rule rule : kRules) {
      Fused fused(rule, kAll);
      fused.config.endpoint = ASR_ENDPOINT_COMMAND;
      fused.config.vad = vad;
      fused.config.early_endpoint_ms = 150;
      const Events expected = recognize(engine.get(), fused.config, samples, 1600);
      ASSERT_EQ(finals(expected).size(), 3u) << rule;
      EXPECT_NE(finals(expected)[2].find("mid low high"), std::string::npos) << finals(expected)[2];
      for (const size_t chunk : {160, 1000000}) EXPECT_EQ(recognize(engine.get(), fused.config, samples, chunk), expected);
    }
  }
}

TEST(Fusion, UtterancesAreEndedCancelledAndReset) {
  const EnginePointer engine = load_models();
  Fused fused(ASR_FUSION_SELECT, kAll);
  fused.config.endpoint = ASR_ENDPOINT_DICTATION;
  fused.config.vad = ASR_VAD_OFF;
  const StreamPointer stream = open_stream(engine.get(), fused.config);
  feed(stream.get(), speak("low low high"), 1600);
  ASSERT_OK(asr_cancel_utterance(stream.get()));
  feed(stream.get(), speak("mid high"), 1600);
  ASSERT_OK(asr_end_utterance(stream.get()));
  feed(stream.get(), speak("low"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  const Events said = finals(poll_all(stream.get()));
  ASSERT_GE(said.size(), 2u);
  EXPECT_NE(said[said.size() - 2].find("mid high"), std::string::npos) << said[said.size() - 2];
  EXPECT_NE(said.back().find("low"), std::string::npos) << said.back();

  fused.config.endpoint = ASR_ENDPOINT_OFF;
  fused.config.vad = ASR_VAD_DEFAULT;
  const StreamPointer again = open_stream(engine.get(), fused.config);
  feed(again.get(), speak("high"), 1600);
  ASSERT_OK(asr_engine_remove_model(engine.get(), "wide"));  // the stream keeps it
  ASSERT_OK(asr_reset(again.get()));
  feed(again.get(), speak("mid low"), 1600);
  ASSERT_OK(asr_finish(again.get()));
  EXPECT_EQ(final_text(poll_all(again.get())), "mid low");
}

TEST(Fusion, GraphsBackgroundsAndRowsGoWithIt) {
  EnginePointer engine = load_engine(8, 32, tone_bundle_with_background());
  add(engine.get(), "wide", ToneModel::kWide);
  Fused fused(ASR_FUSION_LOG_SUM, {"", "wide"});
  for (const char *const words : {"low", "high"}) {
    const Events found = recognize(engine.get(), fused.config, speak(words), 1600);
    EXPECT_EQ(found, recognize(engine.get(), fused.config, speak(words), 160));
  }
  ASSERT_OK(asr_engine_add_graph(engine.get(), "ends", tone_grammar_bundle({"high", "low"}).c_str()));
  fused.config.graph = "ends";
  EXPECT_EQ(final_text(recognize(engine.get(), fused.config, speak("high"), 1600)), "high");

  asr_engine_info info;
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(engine.get(), &info));
  const std::vector<float> rows(100 * size_t{info.n_feature_dims}, 0.25f);
  const auto recognize_rows = [&](asr_stream_config config) {
    config.input = ASR_INPUT_FEATURES;
    const StreamPointer stream = open_stream(engine.get(), config);
    EXPECT_OK(asr_feed(stream.get(), rows.data(), 100));
    EXPECT_OK(asr_finish(stream.get()));
    return poll_all(stream.get());
  };
  const Fused twice(ASR_FUSION_LOG_SUM, {"", ""});
  EXPECT_EQ(recognize_rows(twice.config), recognize_rows(default_stream()));
  EXPECT_NE(recognize_rows(Fused(ASR_FUSION_LOG_SUM, {"", "wide"}).config), recognize_rows(default_stream()));
}

TEST(Fusion, StatesOfStreamsAreOfOneFrontEnd) {
  const EnginePointer engine = load_engine(8, 32, tone_bundle_with_mean());
  ASSERT_OK(asr_engine_add_model(engine.get(), "again", tone_bundle_with_mean().c_str()));
  add(engine.get(), "other", ToneModel::kOtherFeatures);
  Fused same(ASR_FUSION_SUM, {"", "again"}), other(ASR_FUSION_SUM, {"", "other"});
  asr_stream_config plain = default_stream();
  plain.cmn = same.config.cmn = other.config.cmn = ASR_CMN_LIVE;
  const auto state_of = [&](const asr_stream_config &config) {
    const StreamPointer stream = open_stream(engine.get(), config);
    feed(stream.get(), speak(kWords), 1600);
    EXPECT_OK(asr_finish(stream.get()));
    (void)poll_all(stream.get());
    size_t n = 0;
    if (asr_stream_get_state(stream.get(), nullptr, 0, &n) != ASR_OK) return std::string("none");
    std::string state(n, '\0');
    EXPECT_OK(asr_stream_get_state(stream.get(), state.data(), n, &n));
    return state;
  };
  EXPECT_EQ(state_of(same.config), state_of(plain));
  EXPECT_EQ(state_of(other.config), "none");
  Fused turned(ASR_FUSION_SUM, {"again", ""}), alone(ASR_FUSION_SUM, {"again"});
  for (Fused *fused : {&turned, &alone}) {  // in any order, and without the own model
    fused->config.cmn = ASR_CMN_LIVE;
    EXPECT_EQ(state_of(fused->config), state_of(plain));
  }
}

TEST(Fusion, ModelsComeAndGoWhileStreamsRun) {
  const EnginePointer engine = load_models();
  std::atomic<bool> stop{false};
  std::thread changing([&] {
    while (!stop) {
      EXPECT_OK(asr_engine_add_model(engine.get(), "wide", tone_model_bundle(ToneModel::kWide).c_str()));
      EXPECT_OK(asr_engine_add_model(engine.get(), "passing", tone_model_bundle(ToneModel::kOtherFeatures).c_str()));
      EXPECT_OK(asr_engine_remove_model(engine.get(), "passing"));
    }
  });
  const Fused fused(ASR_FUSION_FOLLOW, kAll);
  const Events expected = hear(engine.get(), fused.config);
  for (int i = 0; i < 20; ++i) EXPECT_EQ(hear(engine.get(), fused.config, 3000), expected);
  stop = true;
  changing.join();
}

TEST(Fusion, TheFallbackTakesOver) {
  for (const char *const fault :
       {"score 1: lost", "score 5: lost", "extract 7: lost", "channel_begin 1: lost", "fuse 1: lost", "fuse 5: lost"}) {
    const std::vector<std::string> devices = devices_named("faulty", fault);
    asr_engine_config config;
    asr_engine_config_default(&config);
    config.device = devices.at(0).c_str();
    config.fallback = "cpu";
    config.window_frames = 8;
    config.n_threads = 2;
    asr_engine *loaded = nullptr;
    ASSERT_OK(asr_engine_load(tone_bundle().c_str(), &config, &loaded));
    const EnginePointer engine(loaded, asr_engine_close);
    add(engine.get(), "wide", ToneModel::kWide);
    add(engine.get(), "other", ToneModel::kOtherFeatures);
    const bool on_device = strncmp(fault, "fuse", 4) == 0;
    const Fused fused(on_device ? ASR_FUSION_LOG_SUM : ASR_FUSION_FOLLOW, {"", "wide", "other"});
    EXPECT_EQ(final_text(hear(engine.get(), fused.config)), kWords) << fault;
    EXPECT_EQ(final_text(hear(engine.get(), fused.config)), kWords) << fault;
    add(engine.get(), "late", ToneModel::kFull);
    EXPECT_EQ(final_text(hear(engine.get(), Fused(ASR_FUSION_SUM, {"late", ""}).config)), kWords) << fault;
  }
}

class FusionFaults : public testing::TestWithParam<const char *> {};

TEST_P(FusionFaults, EndTheStreamsConcerned) {
  const std::vector<std::string> devices = devices_named("faulty", GetParam());
  const EnginePointer engine = load_engine(8, 8, "", devices.at(0));
  add(engine.get(), "wide", ToneModel::kWide);
  const Fused fused(ASR_FUSION_SUM, {"", "wide"});
  const StreamPointer stream = open_stream(engine.get(), fused.config);
  const std::vector<int16_t> samples = speak(kWords);
  (void)asr_feed(stream.get(), samples.data(), samples.size());  // the stream may have failed already
  (void)asr_finish(stream.get());
  const Events failed = poll_all(stream.get());
  EXPECT_EQ(failed.at(failed.size() - 2).rfind("ERROR", 0), 0u) << failed.at(failed.size() - 2);
  EXPECT_EQ(final_text(hear(engine.get(), fused.config)), kWords);
}
INSTANTIATE_TEST_SUITE_P(, FusionFaults, testing::Values("score 5: fails", "fuse 3: fails"));

asr_status open_status(asr_engine *engine, const asr_stream_config &config) {
  asr_stream *stream = nullptr;
  const asr_status status = asr_open(engine, &config, &stream);
  asr_close(stream);
  return status;
}

// Makes a copy of the tone bundle with `text` as hmms.bin and a frame every shift_samples.
std::string tone_copy(const std::string &text, uint32_t shift_samples = 160) {
  std::string path = tone_bundle() + "/copy_" + text + std::to_string(shift_samples);
  std::filesystem::create_directories(path);
  const std::vector<std::string> names{"acoustic.bin", "graph.bin", "words.txt", "phones.txt"};
  for (const std::string &name : names) {
    std::filesystem::copy_file(tone_bundle() + "/" + name, path + "/" + name,
                               std::filesystem::copy_options::overwrite_existing);
  }
  std::ofstream(path + "/hmms.bin") << text;
  Bundle bundle = read_bundle_index(tone_bundle());
  bundle.front_end.shift_samples = shift_samples;
  write_bundle_index(bundle, path, {names[0], names[1], names[2], names[3], "hmms.bin"});
  return path;
}

TEST(Fusion, ModelsHaveTheSameStatesAndFrames) {
  const EnginePointer engine = load_engine(8, 32, tone_copy("one"));
  EXPECT_OK(asr_engine_add_model(engine.get(), "same", tone_copy("one").c_str()));
  EXPECT_OK(asr_engine_add_model(engine.get(), "unknown", tone_model_bundle(ToneModel::kWide).c_str()));
  EXPECT_EQ(asr_engine_add_model(engine.get(), "a", tone_copy("another").c_str()), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("hmms.bin differs"), std::string::npos) << asr_last_error();
  EXPECT_EQ(asr_engine_add_model(engine.get(), "a", tone_copy("one", 200).c_str()), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("a frame every 200 samples"), std::string::npos) << asr_last_error();
}

TEST(Fusion, AddingIsRefused) {
  const EnginePointer engine = load_engine();
  asr_engine *const e = engine.get();
  const std::string wide = tone_model_bundle(ToneModel::kWide);
  EXPECT_EQ(asr_engine_add_model(nullptr, "a", wide.c_str()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_model(e, nullptr, wide.c_str()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_model(e, "a", nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_model(e, "", wide.c_str()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_model(e, "a", "/no/such/bundle"), ASR_NOT_FOUND);
  EXPECT_EQ(asr_engine_add_model(e, "a", tone_model_bundle(ToneModel::kFewerStates).c_str()), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("has 3 states"), std::string::npos) << asr_last_error();
  EXPECT_EQ(asr_engine_remove_model(e, "a"), ASR_NOT_FOUND);
  EXPECT_EQ(asr_engine_remove_model(e, ""), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_remove_model(nullptr, "a"), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_remove_model(e, nullptr), ASR_INVALID_ARGUMENT);
  for (int i = 0; i < 31; ++i) ASSERT_OK(asr_engine_add_model(e, std::to_string(i).c_str(), wide.c_str()));
  EXPECT_EQ(asr_engine_add_model(e, "31", wide.c_str()), ASR_UNSUPPORTED);
  EXPECT_OK(asr_engine_add_model(e, "30", wide.c_str()));  // replaces a model
  ASSERT_OK(asr_engine_remove_model(e, "0"));
  EXPECT_OK(asr_engine_add_model(e, "31", wide.c_str()));
}

TEST(Fusion, MisuseIsRefused) {
  const EnginePointer engine = load_models();
  asr_engine *const e = engine.get();
  asr_fusion_default(nullptr);
  const auto with = [&](auto change) {
    Fused fused(ASR_FUSION_SUM, {"", "wide"}, {1, 1});
    change(&fused);
    return open_status(e, fused.config);
  };
  EXPECT_EQ(with([](Fused *) {}), ASR_OK);
  EXPECT_EQ(with([](Fused *f) { f->models[1] = "none"; }), ASR_NOT_FOUND);
  EXPECT_EQ(with([](Fused *f) { f->models[1] = nullptr; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->fusion.models = nullptr; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->fusion.n_models = 0; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->fusion.n_models = 33; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->fusion.rule = static_cast<asr_fusion_rule>(5); }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->fusion.size = 4; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->fusion.follow_ms = 9; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->fusion.select_ms = 600001; }), ASR_INVALID_ARGUMENT);
  for (const float wrong : {-1.0f, NAN, INFINITY, 1e-7f, 1e7f}) {
    EXPECT_EQ(with([&](Fused *f) { f->weights[0] = wrong; }), ASR_INVALID_ARGUMENT) << wrong;
  }
  EXPECT_EQ(with([](Fused *f) { f->weights = {0, 0}, f->fusion.weights = f->weights.data(); }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->config.input = ASR_INPUT_LOGLIKES; }), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(with([](Fused *f) { f->config.input = ASR_INPUT_FEATURES; }), ASR_OK);
  EXPECT_EQ(with([](Fused *f) { f->models[1] = "other", f->config.input = ASR_INPUT_FEATURES; }), ASR_UNSUPPORTED);
  asr_speaker *speaker = nullptr;
  ASSERT_OK(asr_speaker_new(e, &speaker));
  EXPECT_EQ(with([&](Fused *f) { f->config.speaker = speaker; }), ASR_UNSUPPORTED);
  asr_speaker_free(speaker);
}

}  // namespace
}  // namespace asr::test
