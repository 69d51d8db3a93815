// SPDX-License-Identifier: Apache-2.0
// Tests changes of an engine's graphs: replaced, removed or refused, also while streams run, and after a device is lost.
#include <atomic>
#include <cstdlib>
#include <thread>

#include "core/base/error.h"
#include "core/graph/archive.h"
#include "core/model/bundle.h"
#include "tests/api/grammars.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

TEST(Graphs, AreReplaced) {
  const EnginePointer engine = load_with_grammars();
  const Samples samples = speak("low");
  const StreamPointer under_way = open_stream(engine.get(), on_graph("ends")),
                      later = open_stream(engine.get(), on_graph("ends"));
  feed(under_way.get(), {samples.begin(), samples.begin() + 8000}, 8000);
  asr_event *event = nullptr;
  while (event == nullptr || asr_event_get_kind(event) != ASR_EVENT_SPEECH_START) {  // until the utterance has begun
    asr_event_free(event);
    ASSERT_OK(asr_wait(under_way.get(), 60000));
    ASSERT_OK(asr_result(under_way.get(), &event));
  }
  asr_event_free(event);
  const std::string other = tone_grammar_archive({"low", "mid"});
  ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "ends", other.data(), other.size()));
  feed(under_way.get(), {samples.begin() + 8000, samples.end()}, 8000);
  feed(later.get(), samples, 8000);
  for (const StreamPointer *stream : {&under_way, &later}) ASSERT_OK(asr_finish(stream->get()));
  EXPECT_EQ(finals(under_way.get()), Events{"low#2"});
  EXPECT_EQ(finals(later.get()), Events{"low#1"});
}

TEST(Graphs, TheBundlesOwnIsReplaced) {
  const EnginePointer engine = load_engine();
  ASSERT_OK(asr_engine_add_graph(engine.get(), "", tone_grammar_bundle(kEnds).c_str()));
  asr_engine_info info;
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(engine.get(), &info));
  EXPECT_EQ(info.n_words, 3u);
  EXPECT_EQ(hear(engine.get(), default_stream(), speak("low")), Events{"low#2"});
}

TEST(Graphs, AreRemoved) {
  const EnginePointer engine = load_with_grammars();
  const StreamPointer chosen = open_stream(engine.get(), on_graph("ends"));
  ASSERT_OK(asr_engine_remove_graph(engine.get(), "ends"));
  EXPECT_EQ(asr_set_graph(chosen.get(), "ends"), ASR_NOT_FOUND);
  for (int i = 0; i < 2; ++i) {  // the second time after asr_reset
    feed(chosen.get(), speak("low"), 1600);
    ASSERT_OK(asr_finish(chosen.get()));
    EXPECT_EQ(finals(chosen.get()), Events{"low#2"});
    ASSERT_OK(asr_reset(chosen.get()));
  }
  ASSERT_OK(asr_engine_add_graph(engine.get(), "ends", tone_grammar_bundle({"low", "high"}).c_str()));
  EXPECT_EQ(hear(engine.get(), on_graph("ends"), speak("low")), Events{"low#1"});
}

TEST(Graphs, OfAnotherModelAreRefused) {
  const EnginePointer engine = load_with_grammars();
  EXPECT_EQ(asr_engine_add_graph(engine.get(), "ends", tone_bundle_with_mean().c_str()), ASR_UNSUPPORTED);
  EXPECT_EQ(asr_last_error(),
            tone_bundle_with_mean() +
                ": the graph was made for another acoustic model, whose acoustic.bin differs from the one of " + tone_bundle() +
                "; make it for this model with `senone graph`");
  EXPECT_EQ(hear(engine.get(), on_graph("ends"), speak("low")), Events{"low#2"});  // the earlier graph remains
}

TEST(Graphs, OfAModelThatIsNotToldAreRefused) {
  const std::string archive = tone_grammar_archive(kEnds);
  GraphParts parts = read_graph_archive(archive.data(), archive.size(), "archive");
  const Bundle model = read_bundle_index(tone_bundle());
  EXPECT_NO_THROW(check_made_for(parts, model, parts.graph.n_pdfs()));
  for (const char *const name : {"hmms.bin", "acoustic.bin"}) parts.bundle.files.erase(name);
  try {
    check_made_for(parts, model, parts.graph.n_pdfs());
    ADD_FAILURE();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_UNSUPPORTED);
  }
}

TEST(Graphs, DamagedBytesAreRefused) {
  const EnginePointer engine = load_engine();
  const std::string good = tone_grammar_archive(kEnds);
  const auto add = [&](const std::string &bytes) {
    return asr_engine_add_graph_bytes(engine.get(), "a", bytes.data(), bytes.size());
  };
  for (size_t n = 0; n < good.size(); ++n) EXPECT_EQ(add(good.substr(0, n)), ASR_BAD_FILE) << n;
  size_t n_taken = 0;
  for (size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ 0x11);
    const asr_status status = add(bad);
    n_taken += status == ASR_OK;
    EXPECT_TRUE(status == ASR_OK || status == ASR_BAD_FILE || status == ASR_UNSUPPORTED) << i << " " << asr_last_error();
  }
  EXPECT_LT(n_taken, good.size() / 3);  // the origin and the front end in senone.json are not used
  EXPECT_EQ(add(good + std::string(100, '\0')), ASR_BAD_FILE);
  EXPECT_OK(add(good));
}

TEST(Graphs, EventsOutliveThem) {
  EnginePointer engine = load_with_grammars();
  asr_stream_config config = on_graph("ends");
  config.lattice_beam = 8;
  StreamPointer stream = open_stream(engine.get(), config);
  feed(stream.get(), speak("high"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  ASSERT_OK(asr_engine_remove_graph(engine.get(), "ends"));
  asr_event *event = nullptr;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_FINAL; kind = asr_event_get_kind(event)) {
    asr_event_free(event);
    ASSERT_OK(asr_wait(stream.get(), 60000));
    ASSERT_OK(asr_result(stream.get(), &event));
  }
  engine.reset();
  stream.reset();
  EXPECT_NE(shown(event).find("high#1("), std::string::npos) << shown(event);
  asr_event_free(event);
}

TEST(Graphs, AnEngineClosedFirstServesTheirStreams) {
  EnginePointer engine = load_with_grammars();
  const StreamPointer stream = open_stream(engine.get(), with_endpoints());
  ASSERT_OK(asr_set_graph(stream.get(), "ends"));
  engine.reset();
  feed(stream.get(), speak("low"), 1600);
  feed(stream.get(), silence(1), 1600);
  ASSERT_OK(asr_set_graph(stream.get(), "mids"));
  feed(stream.get(), speak("mid"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(finals(stream.get()), (Events{"low#2", "mid#1"}));
}

// Unused graphs are freed even if no decoding makes the engine look for them.
TEST(Graphs, GoAwayWithTheirLastUser) {
  if (kSanitized) GTEST_SKIP() << "a sanitizer keeps memory that was given back";
  const EnginePointer engine = load_engine();
  const StreamPointer idle = open_stream(engine.get());
  const std::string archive = tone_grammar_archive(std::vector<std::string>(2000, "low"));
  ASSERT_GT(archive.size(), 100000u);
  const auto replace = [&](int n) {
    for (int i = 0; i < n; ++i) {
      ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "big", archive.data(), archive.size()));
      ASSERT_OK(asr_set_graph(idle.get(), "big"));
    }
  };
  replace(20);
  const size_t before = resident_bytes();
  replace(400);
  EXPECT_LT(resident_bytes(), before + 400 * archive.size() / 4);
}

TEST(Graphs, AreReplacedWhileStreamsRun) {
  const EnginePointer engine = load_with_grammars();
  const Samples samples = speak("low");
  std::atomic<bool> stop{false};
  std::atomic<int> n_heard{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&, t] {
      for (int i = 0; i < 12; ++i) {
        asr_stream_config config = t % 2 == 0 ? on_graph("ends") : with_endpoints();
        if (i % 3 == 0) config.lattice_beam = 6;
        const StreamPointer stream = open_stream(engine.get(), config);
        const asr_status chosen = t % 2 == 1 ? asr_set_graph(stream.get(), "ends") : ASR_OK;
        EXPECT_EQ(chosen, ASR_OK);
        feed(stream.get(), samples, 1600);
        EXPECT_OK(asr_finish(stream.get()));
        const Events texts = finals(stream.get());
        ASSERT_EQ(texts.size(), 1u);
        EXPECT_TRUE(texts == Events{"low#1"} || texts == Events{"low#2"}) << texts[0];
        ++n_heard;
      }
    });
  }
  std::thread replacing([&] {
    const std::string archives[] = {tone_grammar_archive({"low", "mid"}), tone_grammar_archive(kEnds)};
    for (size_t i = 0; !stop; ++i) {
      EXPECT_OK(asr_engine_add_graph_bytes(engine.get(), "ends", archives[i % 2].data(), archives[i % 2].size()));
      EXPECT_OK(asr_engine_add_graph_bytes(engine.get(), "other", archives[i % 2].data(), archives[i % 2].size()));
      EXPECT_OK(asr_engine_remove_graph(engine.get(), "other"));
    }
  });
  for (std::thread &thread : threads) thread.join();
  stop = true;
  replacing.join();
  EXPECT_EQ(n_heard, 8 * 12);
}

// The engine's thread serves the call while the callback runs.
TEST(Graphs, AreAddedInACallback) {
  const EnginePointer engine = load_engine();
  struct Heard {
    asr_engine *engine;
    asr_status status = ASR_INTERNAL;
  } heard{engine.get()};
  asr_stream_config config = default_stream();
  config.user_data = &heard;
  config.callback = [](asr_stream *, asr_event *event, void *user_data) {
    auto *const to = static_cast<Heard *>(user_data);
    if (asr_event_get_kind(event) == ASR_EVENT_FINAL) {
      to->status = asr_engine_add_graph(to->engine, "ends", tone_grammar_bundle(kEnds).c_str());
    }
    asr_event_free(event);
  };
  const StreamPointer stream = open_stream(engine.get(), config);
  feed(stream.get(), speak("low"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  ASSERT_OK(asr_wait(stream.get(), 60000));
  EXPECT_EQ(heard.status, ASR_OK);
}

TEST(Graphs, ALogFunctionMayNotAddThem) {
  const EnginePointer engine = load_engine();
  struct Seen {
    asr_engine *engine;
    asr_status status = ASR_OK;
  } seen{engine.get()};
  asr_set_log(
      [](asr_log_level, const char *, void *user_data) {
        auto *const to = static_cast<Seen *>(user_data);
        to->status = asr_engine_remove_graph(to->engine, "ends");
      },
      ASR_LOG_INFO, &seen);
  EXPECT_OK(asr_engine_add_graph(engine.get(), "ends", tone_grammar_bundle(kEnds).c_str()));  // logs the graph that it loads
  asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
  EXPECT_EQ(seen.status, ASR_INVALID_STATE);
}

// The callback of a FINAL does not know whether the stream was finished meanwhile.
TEST(GraphChanges, AfterTheEndHaveNoEffect) {
  const EnginePointer engine = load_with_grammars();
  for (const bool is_set : {false, true}) {
    const StreamPointer stream = open_stream(engine.get(), with_endpoints());
    ASSERT_OK(asr_set_graph(stream.get(), "ends"));
    feed(stream.get(), speak("low"), 1600);
    feed(stream.get(), silence(1), 1600);
    feed(stream.get(), speak("high"), 1600);
    ASSERT_OK(asr_finish(stream.get()));
    if (is_set) {
      EXPECT_OK(asr_set_graph(stream.get(), "mids"));
      EXPECT_EQ(asr_set_graph(stream.get(), "none"), ASR_NOT_FOUND);
    }
    EXPECT_EQ(finals(stream.get()), (Events{"low#2", "high#1"}));
    if (is_set) {
      EXPECT_OK(asr_set_graph(stream.get(), "mids"));  // after END, too
    }
  }
}

// Returns the devices of the faulty back ends that are lost in use.
std::vector<std::string> lost_devices() {
  std::vector<std::string> ids = devices_named("faulty", ": lost");
  for (const std::string &id : devices_named("overlapping", ": lost")) ids.push_back(id);
  return ids;
}

TEST(Graphs, AFallbackHasThem) {
  for (const std::string &device : lost_devices()) {
    for (const float lattice_beam : {0.0f, 6.0f}) {
      if (lattice_beam > 0 && device.rfind("faulty:", 0) == 0) continue;  // this back end makes no lattices
      asr_engine_config engine_config;
      asr_engine_config_default(&engine_config);
      engine_config.device = device.c_str();
      engine_config.window_frames = 8;
      engine_config.n_threads = 2;
      engine_config.fallback = "cpu";
      engine_config.device_timeout_ms = 50;
      asr_engine *loaded = nullptr;
      ASSERT_OK(asr_engine_load(tone_bundle().c_str(), &engine_config, &loaded));
      const EnginePointer engine{loaded, asr_engine_close};
      ASSERT_OK(asr_engine_add_graph(engine.get(), "ends", tone_grammar_bundle(kEnds).c_str()));
      asr_stream_config config = on_graph("ends");
      config.lattice_beam = lattice_beam;
      for (int i = 0; i < 3; ++i) EXPECT_EQ(hear(engine.get(), config, speak("low")), Events{"low#2"}) << device;
      const std::string later = tone_grammar_archive({"low", "mid"});
      ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "ends", later.data(), later.size())) << device;
      EXPECT_EQ(hear(engine.get(), config, speak("low")), Events{"low#1"}) << device;
    }
  }
}

}  // namespace
}  // namespace asr::test
