// SPDX-License-Identifier: Apache-2.0
// Tests engines that score on one device and search on another (asr_engine_config.search_device). Devices of plugins compute
// with the CPU's arithmetic, so events must equal those of the CPU alone to the last bit. Some of them leave parts out, which
// the CPU then does.
#include <cstdlib>
#include <utility>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

using Events = std::vector<std::string>;
const char *const kSentences[] = {"low high mid low", "mid mid high", "", "low mid high high mid low"};

std::string faulty(const std::string &fault) { return devices_named("faulty", fault).at(0); }

asr_status load(const std::string &device, const std::string &search_device, const char *fallback, EnginePointer *engine) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = device.c_str();
  config.search_device = search_device.c_str();
  config.fallback = fallback;
  config.window_frames = 16;
  config.n_threads = 2;
  config.device_timeout_ms = 50;  // for the device that hangs
  asr_engine *loaded = nullptr;
  const asr_status status = asr_engine_load(tone_bundle().c_str(), &config, &loaded);
  engine->reset(loaded);
  return status;
}

EnginePointer load(const std::string &device, const std::string &search_device, const char *fallback = nullptr) {
  EnginePointer engine(nullptr, asr_engine_close);
  EXPECT_OK(load(device, search_device, fallback, &engine));
  return engine;
}

asr_engine_info info_of(const EnginePointer &engine) {
  asr_engine_info info{};
  info.size = sizeof(info);
  EXPECT_OK(asr_engine_get_info(engine.get(), &info));
  return info;
}

// Pairs of a device that scores and another that searches: without and with the fused step and overlapping advances. The last
// ones have no front end, no search, or neither; with "" the CPU searches for those that cannot.
std::vector<std::pair<std::string, std::string>> pairs() {
  const std::string plain = faulty("none"), overlapping = devices_named("overlapping", "none").at(0);
  return {{plain, "cpu"},          {"cpu", plain},        {overlapping, "cpu"},       {"cpu:0", overlapping},
          {"stepping:0", "cpu"},   {plain, "stepping:0"}, {"cpu_scores", ""},         {"cpu_no_search", ""},
          {"cpu_no_features", ""}, {"cpu_scores", plain}, {"cpu", "cpu_no_features"}, {"cpu_no_features", "cpu"}};
}

// Recognises all sentences at once, in chunks that differ from stream to stream.
std::vector<Events> recognize_all(asr_engine *engine, const asr_stream_config &config) {
  std::vector<StreamPointer> streams;
  size_t chunk = 100;
  for (const char *sentence : kSentences) {
    streams.push_back(open_stream(engine, config));
    feed(streams.back().get(), speak(sentence), chunk *= 3);
    EXPECT_OK(asr_finish(streams.back().get()));
  }
  std::vector<Events> results;
  for (const StreamPointer &stream : streams) results.push_back(poll_all(stream.get()));
  return results;
}

// Rows of features for every sentence, or of log-likelihoods.
std::vector<Events> recognize_rows(asr_engine *engine, asr_input input, uint32_t row_length) {
  asr_stream_config config = default_stream();
  config.input = input;
  std::vector<Events> results;
  for (size_t i = 0; i < 3; ++i) {
    std::vector<float> rows(size_t{30} * row_length);
    for (size_t k = 0; k < rows.size(); ++k) rows[k] = static_cast<float>((k * (i + 7)) % 23) / -3;
    const StreamPointer stream = open_stream(engine, config);
    EXPECT_OK(asr_feed(stream.get(), rows.data(), 30));
    EXPECT_OK(asr_finish(stream.get()));
    results.push_back(poll_all(stream.get()));
  }
  return results;
}

TEST(SearchDevice, EventsOfOneDevice) {
  asr_stream_config partials = default_stream(), live = default_stream(), endpoints = default_stream();
  partials.partial_interval_ms = 130;
  live.cmn = ASR_CMN_LIVE;
  endpoints.endpoint = ASR_ENDPOINT_COMMAND;
  endpoints.partial_interval_ms = 200;
  const EnginePointer cpu = load_engine();
  const asr_engine_info info = info_of(cpu);
  for (const auto &[device, search_device] : pairs()) {
    const EnginePointer engine = load(device, search_device);
    for (const asr_stream_config &config : {default_stream(), partials, live, endpoints}) {
      EXPECT_EQ(recognize_all(engine.get(), config), recognize_all(cpu.get(), config)) << device << ", " << search_device;
    }
    EXPECT_EQ(recognize_rows(engine.get(), ASR_INPUT_FEATURES, info.n_feature_dims),
              recognize_rows(cpu.get(), ASR_INPUT_FEATURES, info.n_feature_dims));
    EXPECT_EQ(recognize_rows(engine.get(), ASR_INPUT_LOGLIKES, info.n_states),
              recognize_rows(cpu.get(), ASR_INPUT_LOGLIKES, info.n_states));
  }
}

TEST(SearchDevice, Lattices) {
  asr_stream_config config = default_stream();
  config.lattice_beam = 8;
  config.n_best = 5;
  const std::vector<Events> expected = recognize_all(load_engine().get(), config);
  const std::string overlapping = devices_named("overlapping", "none").at(0);
  for (const auto &[device, search_device] : {std::pair{faulty("none"), std::string("cpu")}, {"cpu", overlapping}}) {
    EXPECT_EQ(recognize_all(load(device, search_device).get(), config), expected) << device << ", " << search_device;
  }
  for (const char *part : {"cpu_scores", "cpu_no_search", "cpu_no_features"}) {
    EXPECT_EQ(recognize_all(load(part, "").get(), config), expected) << part;
  }
  asr_stream *refused = nullptr;
  const EnginePointer without = load("cpu", faulty("none"));
  EXPECT_EQ(asr_open(without.get(), &config, &refused), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("device faulty:0 makes no lattices"), std::string::npos) << asr_last_error();
}

TEST(SearchDevice, GraphsAndModelsThatAreAdded) {
  const EnginePointer cpu = load_engine();
  const char *const names[] = {"", "wide"};
  asr_fusion fusion;
  asr_fusion_default(&fusion);
  fusion.n_models = 2;
  fusion.models = names;
  asr_stream_config fused = default_stream(), other = default_stream();
  fused.fusion = &fusion;
  other.graph = "again";
  const auto events_of = [&](asr_engine *engine) {
    EXPECT_OK(asr_engine_add_model(engine, "wide", tone_model_bundle(ToneModel::kWide).c_str()));
    EXPECT_OK(asr_engine_add_graph(engine, "again", tone_bundle().c_str()));
    std::vector<Events> events = recognize_all(engine, fused);
    for (Events &one : recognize_all(engine, other)) events.push_back(std::move(one));
    EXPECT_OK(asr_engine_remove_graph(engine, "again"));
    return events;
  };
  const std::vector<Events> expected = events_of(cpu.get());
  for (const auto &[device, search_device] : pairs()) {
    EXPECT_EQ(events_of(load(device, search_device).get()), expected) << device << ", " << search_device;
  }
}

TEST(SearchDevice, IsNamedInTheInfo) {
  const EnginePointer split = load(faulty("none"), "cpu");
  EXPECT_EQ(std::string(info_of(split).device_id), "faulty:0");
  EXPECT_EQ(std::string(info_of(split).search_device_id), "cpu:0");
  EXPECT_STRNE(info_of(split).search_device_name, info_of(split).device_name);
  for (const char *same : {"", "cpu", "cpu:0"}) EXPECT_EQ(std::string(info_of(load("cpu", same)).search_device_id), "cpu:0");
}

TEST(SearchDevice, IsTheCpuWhereTheBackEndDoesNotSearch) {
  for (const char *part : {"cpu_scores", "cpu_no_search"}) {
    const EnginePointer engine = load(part, "");
    EXPECT_EQ(std::string(info_of(engine).device_id), std::string(part) + ":0");
    EXPECT_EQ(std::string(info_of(engine).search_device_id), "cpu:0");
  }
  EXPECT_EQ(std::string(info_of(load("cpu_no_features", "")).search_device_id), "cpu_no_features:0");
  EnginePointer engine(nullptr, asr_engine_close);
  EXPECT_EQ(load("cpu", "cpu_scores", nullptr, &engine), ASR_UNSUPPORTED);
  EXPECT_EQ(std::string(asr_last_error()),
            "search device \"cpu_scores\": its back end does not search; take another one, such as cpu");
}

TEST(SearchDevice, IsRefusedIfItIsNotThere) {
  EnginePointer engine(nullptr, asr_engine_close);
  EXPECT_EQ(load("cpu", "cpu:7", nullptr, &engine), ASR_NO_DEVICE);
  EXPECT_NE(std::string(asr_last_error()).find("search device \"cpu:7\": back end cpu has no such device"), std::string::npos)
      << asr_last_error();
  EXPECT_EQ(load("cpu", "abacus", nullptr, &engine), ASR_NO_DEVICE);
  EXPECT_NE(std::string(asr_last_error()).find("no back end \"abacus\" was found"), std::string::npos) << asr_last_error();
}

// Counts the streams that say so if a device is lost: in asr_open, in a call, or by an event.
size_t n_lost_streams(asr_engine *engine) {
  size_t n = 0;
  for (const char *sentence : kSentences) {
    asr_stream *opened = nullptr;
    const asr_status status = asr_open(engine, nullptr, &opened);
    const StreamPointer stream(opened, asr_close);
    EXPECT_TRUE(status == ASR_OK || status == ASR_DEVICE_LOST) << asr_last_error();
    if (status == ASR_DEVICE_LOST) ++n;
    if (status != ASR_OK) continue;
    const std::vector<int16_t> samples = speak(sentence);
    asr_feed(opened, samples.data(), samples.size());
    asr_finish(opened);
    const Events events = poll_all(opened);
    EXPECT_EQ(events.back().rfind("END", 0), 0u) << events.back();
    for (const std::string &event : events) n += event.rfind("ERROR ASR_DEVICE_LOST", 0) == 0;
  }
  return n;
}

// Either device may be lost. Without a fallback all streams end, with one nothing is lost.
TEST(SearchDevice, Lost) {
  const std::vector<Events> expected = recognize_all(load_engine().get(), default_stream());
  size_t n_lost = 0;
  for (const std::string &lost : devices_named("faulty", "lost")) {
    for (const auto &[device, search_device] : {std::pair{lost, std::string("cpu")}, {"cpu", lost}}) {
      n_lost += n_lost_streams(load(device, search_device).get());
      const EnginePointer saved = load(device, search_device, "cpu");
      for (int round = 0; round < 2; ++round) {
        const std::vector<Events> results = recognize_all(saved.get(), default_stream());
        for (size_t i = 0; i < results.size(); ++i) {
          EXPECT_EQ(results[i].size(), expected[i].size()) << device << ", " << search_device;
          EXPECT_EQ(final_text(results[i]), final_text(expected[i])) << device << ", " << search_device;
        }
      }
    }
  }
  EXPECT_GT(n_lost, 40u);
}

}  // namespace
}  // namespace asr::test
