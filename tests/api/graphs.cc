// SPDX-License-Identifier: Apache-2.0
// Tests engines with many graphs of one model: where graphs come from, and an utterance's choice of graph. graph_changes.cc
// tests their changes.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "core/base/error.h"
#include "core/model/bundle.h"
#include "tests/api/grammars.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

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

// All grammars of such an engine come at run time.
TEST(Graphs, AreAddedToABundleWithoutOne) {
  const std::filesystem::path path = tone_bundle() + "-model";
  std::filesystem::create_directories(path);
  std::filesystem::copy_file(tone_bundle() + "/acoustic.bin", path / "acoustic.bin",
                             std::filesystem::copy_options::overwrite_existing);
  write_bundle_index(read_bundle_index(tone_bundle()), path, {"acoustic.bin"});
  const EnginePointer engine = load_engine(8, 32, path);
  std::filesystem::remove_all(path);
  asr_engine_info info{};
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(engine.get(), &info));
  EXPECT_EQ(info.n_words + info.n_graph_states + info.n_graph_arcs, 0u);
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), nullptr, &stream), ASR_NOT_FOUND);
  EXPECT_EQ(asr_last_error(),
            "asr_open: " + path.string() + " has no graph.bin; make it with `senone graph`, or choose a graph that was added");
  const std::string ends = tone_grammar_archive(kEnds), mids = tone_grammar_archive(kMids);
  ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "ends", ends.data(), ends.size()));
  EXPECT_EQ(hear(engine.get(), on_graph("ends"), speak("high")), Events{"high#1"});
  ASSERT_OK(asr_engine_add_graph_bytes(engine.get(), "", mids.data(), mids.size()));
  EXPECT_EQ(hear(engine.get(), default_stream(), speak("mid")), Events{"mid#1"});
  ASSERT_OK(asr_engine_get_info(engine.get(), &info));
  EXPECT_GT(info.n_graph_states, 0u);
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
  const StreamPointer of_one_utterance = open_stream(engine.get());
  EXPECT_OK(asr_finish(of_one_utterance.get()));
  EXPECT_EQ(asr_set_graph(of_one_utterance.get(), "ends"), ASR_INVALID_STATE);
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

}  // namespace
}  // namespace asr::test
