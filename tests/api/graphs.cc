// SPDX-License-Identifier: Apache-2.0
// Tests engines with many graphs of one model: an utterance's choice of graph, and changes of graphs while streams run.
#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "core/base/error.h"
#include "core/graph/archive.h"
#include "core/model/bundle.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

using Events = std::vector<std::string>;
using Samples = std::vector<int16_t>;

// The words' numbers differ from the bundle's own graph (low 1, mid 2, high 3), so that results identify their graph.
const std::vector<std::string> kEnds{"high", "low"}, kMids{"mid"};

EnginePointer load_with_grammars() {
  EnginePointer engine = load_engine();
  EXPECT_OK(asr_engine_add_graph(engine.get(), "ends", tone_grammar_bundle(kEnds).c_str()));
  const std::string mids = tone_grammar_archive(kMids);
  EXPECT_OK(asr_engine_add_graph_bytes(engine.get(), "mids", mids.data(), mids.size()));
  return engine;
}

asr_stream_config on_graph(const char *name) {
  asr_stream_config config = default_stream();
  config.graph = name;
  return config;
}

asr_stream_config with_endpoints(asr_vad vad = ASR_VAD_DEFAULT) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.vad = vad;
  return config;
}

Samples silence(double seconds) {
  Samples samples;
  const Samples pause = speak("");
  while (samples.size() < 16000 * seconds) samples.insert(samples.end(), pause.begin(), pause.end());
  samples.resize(static_cast<size_t>(16000 * seconds));
  return samples;
}

// Returns the words of FINAL events with their numbers: "low#1 mid#2".
std::vector<std::string> finals(asr_stream *stream) {
  std::vector<std::string> texts;
  for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_END;) {
    if (asr_wait(stream, 60000) != ASR_OK) return {"no END"};
    asr_event *event = nullptr;
    EXPECT_OK(asr_result(stream, &event));
    kind = asr_event_get_kind(event);
    EXPECT_NE(kind, ASR_EVENT_ERROR) << asr_event_text(event);
    if (kind == ASR_EVENT_FINAL) texts.emplace_back();
    for (size_t i = 0; kind == ASR_EVENT_FINAL && i < asr_event_n_words(event, 0); ++i) {
      asr_word word;
      word.size = sizeof(word);
      EXPECT_OK(asr_event_word(event, 0, i, &word));
      texts.back() += (i > 0 ? " " : "") + format("%s#%u", word.text, word.word_id);
    }
    asr_event_free(event);
  }
  return texts;
}

std::vector<std::string> hear(asr_engine *engine, const asr_stream_config &config, const Samples &samples) {
  const StreamPointer stream = open_stream(engine, config);
  feed(stream.get(), samples, 1600);
  EXPECT_OK(asr_finish(stream.get()));
  return finals(stream.get());
}

TEST(Graphs, StreamsOfTwoRunTogetherAsEachAlone) {
  const EnginePointer engine = load_with_grammars();
  const Samples samples = speak("high");
  for (const float lattice_beam : {0.0f, 8.0f}) {
    std::vector<StreamPointer> streams;
    std::vector<Events> expected;
    for (int i = 0; i < 9; ++i) {
      asr_stream_config config = on_graph(i % 3 == 0 ? "" : i % 3 == 1 ? "ends" : "mids");
      config.lattice_beam = lattice_beam;
      config.partial_interval_ms = 100;
      streams.push_back(open_stream(engine.get(), config));
      config.graph = nullptr;
      const std::string own = i % 3 == 0 ? tone_bundle() : tone_grammar_bundle(i % 3 == 1 ? kEnds : kMids);
      expected.push_back(recognize(load_engine(8, 32, own).get(), config, samples, samples.size()));
    }
    for (size_t at = 0; at < samples.size(); at += 800) {
      for (const StreamPointer &stream : streams) {
        ASSERT_OK(asr_feed(stream.get(), samples.data() + at, std::min<size_t>(800, samples.size() - at)));
      }
    }
    for (const StreamPointer &stream : streams) ASSERT_OK(asr_finish(stream.get()));
    for (size_t i = 0; i < streams.size(); ++i)
      EXPECT_EQ(without_replaced(poll_every(streams[i].get())), without_replaced(expected[i]));
    EXPECT_NE(expected[0], expected[1]);
    EXPECT_NE(expected[1], expected[2]);
  }
}

TEST(Graphs, AreChosenWhenAStreamIsOpened) {
  const EnginePointer engine = load_with_grammars();
  EXPECT_EQ(hear(engine.get(), default_stream(), speak("high")), Events{"high#3"});
  EXPECT_EQ(hear(engine.get(), on_graph(""), speak("high")), Events{"high#3"});
  EXPECT_EQ(hear(engine.get(), on_graph("ends"), speak("high")), Events{"high#1"});
  EXPECT_EQ(hear(engine.get(), on_graph("mids"), speak("mid")), Events{"mid#1"});
  asr_stream *stream = nullptr;
  const asr_stream_config config = on_graph("none");
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_NOT_FOUND);
  EXPECT_STREQ(asr_last_error(), "asr_open: the engine has no graph \"none\"; add it with asr_engine_add_graph");
}

// The directory, the file and the bytes hold the same graph.
TEST(Graphs, ComeFromABundleAnArchiveOrBytes) {
  const EnginePointer engine = load_engine();
  const std::string archive = tone_grammar_archive(kEnds), path = tone_bundle() + "/ends.sgraph";
  std::ofstream(path, std::ios::binary) << archive;
  const std::string shifted = "." + archive;  // at an odd address
  ASSERT_OK(asr_engine_add_graph(engine.get(), "bundle", tone_grammar_bundle(kEnds).c_str()));
  ASSERT_OK(asr_engine_add_graph(engine.get(), "archive", path.c_str()));
  ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "bytes", shifted.data() + 1, archive.size()));
  const Samples samples = speak("low");
  asr_stream_config config = on_graph("bundle");
  config.lattice_beam = 8;
  const Events expected = recognize(engine.get(), config, samples, 1600);
  for (const char *name : {"archive", "bytes"}) {
    config.graph = name;
    EXPECT_EQ(recognize(engine.get(), config, samples, 1600), expected);
  }
}

// The graph's settings are the defaults of the stream's config.
TEST(Graphs, BringTheirSettings) {
  const std::string path = tone_grammar_bundle({"low", "mid"});
  Bundle bundle = read_bundle_index(path);
  bundle.decoding.acoustic_scale = 0.5;
  write_bundle_index(bundle, path, {"acoustic.bin", "graph.bin", "words.txt", "phones.txt"});
  const EnginePointer engine = load_engine();
  ASSERT_OK(asr_engine_add_graph(engine.get(), "half", path.c_str()));
  for (const bool is_told : {false, true}) {
    asr_stream_config config = on_graph("half");
    config.lattice_beam = 8;
    if (is_told) config.acoustic_scale = 2;
    const Events events = recognize(engine.get(), config, speak("low"), 1600);
    const auto has = [](const std::string &event, double scale) {
      return event.find(format(" %a {", scale)) != std::string::npos;
    };
    EXPECT_TRUE(std::any_of(events.begin(), events.end(), [&](const std::string &e) { return has(e, is_told ? 2 : 0.5); }));
  }
}

TEST(Graphs, OfAStreamOfOneUtteranceAreSetBeforeItIsFed) {
  const EnginePointer engine = load_with_grammars();
  const StreamPointer stream = open_stream(engine.get());
  const Samples samples = speak("high");
  ASSERT_OK(asr_set_graph(stream.get(), "mids"));
  ASSERT_OK(asr_set_graph(stream.get(), "ends"));
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  EXPECT_EQ(asr_set_graph(stream.get(), "mids"), ASR_INVALID_STATE);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(finals(stream.get()), Events{"high#1"});
  ASSERT_OK(asr_reset(stream.get()));  // back to the graph of the configuration
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(finals(stream.get()), Events{"high#3"});
  ASSERT_OK(asr_reset(stream.get()));
  ASSERT_OK(asr_set_graph(stream.get(), "ends"));
  ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(finals(stream.get()), Events{"high#1"});
}

TEST(Graphs, MisuseIsRefused) {
  const EnginePointer engine = load_with_grammars();
  const StreamPointer stream = open_stream(engine.get(), with_endpoints());
  EXPECT_EQ(asr_set_graph(nullptr, ""), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_set_graph(stream.get(), "none"), ASR_NOT_FOUND);
  EXPECT_OK(asr_set_graph(stream.get(), nullptr));
  EXPECT_OK(asr_finish(stream.get()));
  EXPECT_EQ(asr_set_graph(stream.get(), "ends"), ASR_INVALID_STATE);
  const std::string path = tone_grammar_bundle(kMids);
  EXPECT_EQ(asr_engine_add_graph(nullptr, "a", path.c_str()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_graph(engine.get(), nullptr, path.c_str()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_graph(engine.get(), "a", nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_graph(engine.get(), "a", "/none"), ASR_NOT_FOUND);
  EXPECT_EQ(asr_engine_add_graph_bytes(engine.get(), "a", nullptr, 1), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_add_graph_bytes(engine.get(), "a", "", 0), ASR_BAD_FILE);
  EXPECT_EQ(asr_engine_remove_graph(nullptr, "ends"), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_remove_graph(engine.get(), nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_remove_graph(engine.get(), ""), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_engine_remove_graph(engine.get(), "a"), ASR_NOT_FOUND);
}

// A turn of a dialog: its words, and the graph chosen before them.
struct Turn {
  const char *graph;
  const char *words;
};
constexpr Turn kTurns[] = {{"ends", "low"}, {"mids", "mid"}, {"", "high"}, {"ends", "high"}, {"", "low mid"}};

// The graph of each utterance depends on the call's position in the audio, not on the chunks.
TEST(Graphs, AreSetBetweenUtterances) {
  const EnginePointer engine = load_with_grammars();
  const Events expected{"low#2", "mid#1", "high#3", "high#1", "low#1 mid#2"};
  for (const asr_vad vad : {ASR_VAD_ON, ASR_VAD_OFF}) {
    for (const double pause_s : {0.0, 0.7, 2.0}) {  // after the call; in a longer pause the utterance begins in silence
      for (const size_t chunk : {37, 160, 1000, 100000}) {
        asr_stream_config config = with_endpoints(vad);
        if (chunk == 160) config.lattice_beam = 6;
        if (chunk == 1000) config.partial_interval_ms = 100;
        const StreamPointer stream = open_stream(engine.get(), config);
        for (const Turn &turn : kTurns) {
          ASSERT_OK(asr_set_graph(stream.get(), turn.graph));
          feed(stream.get(), silence(pause_s), chunk);
          feed(stream.get(), speak(turn.words), chunk);
          feed(stream.get(), silence(1.3), chunk);
        }
        ASSERT_OK(asr_finish(stream.get()));
        EXPECT_EQ(finals(stream.get()), expected) << vad << " " << pause_s << " " << chunk;
      }
    }
  }
}

// All bits of the events are equal, also after the choice.
TEST(Graphs, AChoiceIsAPlaceInTheAudio) {
  const EnginePointer engine = load_with_grammars();
  Samples samples = silence(0.5);
  for (const char *words : {"low", "high", "low high"}) {
    for (const Samples &part : {speak(words), silence(1)}) samples.insert(samples.end(), part.begin(), part.end());
  }
  for (const asr_vad vad : {ASR_VAD_ON, ASR_VAD_OFF}) {
    asr_stream_config config = with_endpoints(vad);
    config.lattice_beam = 6;
    for (size_t place = 0; place < samples.size(); place += 4111) {  // some positions are within words
      std::vector<Events> all;
      for (const size_t chunk : {53, 1601, 100000}) {
        const StreamPointer stream = open_stream(engine.get(), config);
        feed(stream.get(), {samples.begin(), samples.begin() + static_cast<ptrdiff_t>(place)}, chunk);
        ASSERT_OK(asr_set_graph(stream.get(), "ends"));
        feed(stream.get(), {samples.begin() + static_cast<ptrdiff_t>(place), samples.end()}, chunk);
        ASSERT_OK(asr_finish(stream.get()));
        all.push_back(poll_all(stream.get()));
      }
      EXPECT_EQ(all[1], all[0]) << vad << " " << place;
      EXPECT_EQ(all[2], all[0]) << vad << " " << place;
    }
  }
}

// All of the stream's audio is decoded when the call comes.
TEST(Graphs, AreSetWhileAStreamWaits) {
  const EnginePointer engine = load_with_grammars();
  for (const asr_vad vad : {ASR_VAD_ON, ASR_VAD_OFF}) {
    const StreamPointer stream = open_stream(engine.get(), with_endpoints(vad));
    Events texts;
    for (const Turn &turn : kTurns) {
      ASSERT_OK(asr_set_graph(stream.get(), turn.graph));
      feed(stream.get(), speak(turn.words), 1600);
      feed(stream.get(), silence(1.5), 1600);
      for (asr_event_kind kind = ASR_EVENT_READY; kind != ASR_EVENT_FINAL;) {
        ASSERT_OK(asr_wait(stream.get(), 60000));
        asr_event *event = nullptr;
        ASSERT_OK(asr_result(stream.get(), &event));
        kind = asr_event_get_kind(event);
        if (kind == ASR_EVENT_FINAL) texts.push_back(asr_event_text(event));
        asr_event_free(event);
      }
    }
    EXPECT_EQ(texts, (Events{"low", "mid", "high", "high", "low mid"}));
    ASSERT_OK(asr_finish(stream.get()));
    EXPECT_TRUE(finals(stream.get()).empty());
  }
}

// Words fed before the call keep their graph.
TEST(Graphs, AnUtteranceThatIsHeardGoesOn) {
  const EnginePointer engine = load_with_grammars();
  const Samples samples = speak("low high");
  for (const asr_vad vad : {ASR_VAD_ON, ASR_VAD_OFF}) {
    for (const size_t wait : {0, 1}) {  // 1: waits for SPEECH_START
      const StreamPointer stream = open_stream(engine.get(), with_endpoints(vad));
      feed(stream.get(), {samples.begin(), samples.begin() + 8000}, 800);  // to the end of the first word
      for (size_t n = 0; n < 2 * wait; ++n) {
        ASSERT_OK(asr_wait(stream.get(), 60000));
        asr_event *event = nullptr;
        ASSERT_OK(asr_result(stream.get(), &event));
        asr_event_free(event);
      }
      ASSERT_OK(asr_set_graph(stream.get(), "ends"));
      feed(stream.get(), {samples.begin() + 8000, samples.end()}, 800);
      feed(stream.get(), silence(1), 800);
      feed(stream.get(), speak("low"), 800);
      ASSERT_OK(asr_finish(stream.get()));
      EXPECT_EQ(finals(stream.get()), (Events{"low#1 high#3", "low#2"})) << vad << " " << wait;
    }
  }
}

// Rows, unlike audio, never wait for later ones, so the call comes when an utterance has just begun.
TEST(Graphs, AreSetForRows) {
  const EnginePointer engine = load_with_grammars();
  asr_stream_config config = with_endpoints(ASR_VAD_OFF);
  config.input = ASR_INPUT_LOGLIKES;
  const StreamPointer stream = open_stream(engine.get(), config);
  const auto feed_state = [&](size_t n, size_t state) {
    std::vector<float> rows(4 * n, -50.0f);
    for (size_t t = 0; t < n; ++t) rows[4 * t + state] = 0;
    ASSERT_OK(asr_feed(stream.get(), rows.data(), n));
  };
  for (const char *graph : {"ends", "", "ends"}) {
    ASSERT_OK(asr_set_graph(stream.get(), graph));
    feed_state(20, 0), feed_state(30, 1), feed_state(110, 0);
  }
  ASSERT_OK(asr_set_graph(stream.get(), ""));  // this graph may end without a word
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(finals(stream.get()), (Events{"low#2", "low#1", "low#2"}));
}

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
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "a sanitizer keeps memory that was given back";
#endif
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
