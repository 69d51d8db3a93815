// SPDX-License-Identifier: Apache-2.0
// Tests that senone.hpp recognises like asr.h: handles, ranges, errors, callbacks. resources.cc tests the rest of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <mutex>
#include <string>
#include <thread>
#include <type_traits>
#include <vector>

#include "tests/api/tone_bundle.h"
#include "tests/bindings/cpp/tone_engine.h"

namespace asr::test {
namespace {

static_assert(!std::is_copy_constructible_v<senone::Engine> && std::is_nothrow_move_constructible_v<senone::Engine>);
static_assert(!std::is_copy_constructible_v<senone::Speaker> && std::is_nothrow_move_constructible_v<senone::Speaker>);
static_assert(!std::is_copy_constructible_v<senone::Stream> && std::is_nothrow_move_constructible_v<senone::Stream>);
static_assert(!std::is_copy_constructible_v<senone::Event> && std::is_nothrow_move_constructible_v<senone::Event>);
static_assert(!std::is_copy_constructible_v<senone::DeviceList>);
static_assert(std::is_nothrow_move_assignable_v<senone::Stream>);

senone::StreamConfig with_lattice() {
  senone::StreamConfig config;
  config.lattice_beam = 8;
  config.n_best = 5;
  return config;
}

TEST(CppHeader, RecognisesInFourLines) {
  senone::Engine engine = load();
  senone::Stream stream = engine.open();
  stream.feed(speak("low mid high"));
  stream.finish();
  EXPECT_EQ(stream.final_event().text(), "low mid high");
}

TEST(CppHeader, InfoAndDevicesAreThoseOfTheLibrary) {
  const senone::Engine engine = load();
  EXPECT_EQ(engine.info().device_id, "cpu:0");
  EXPECT_EQ(engine.info().search_device_id, "cpu:0");
  EXPECT_EQ(engine.info().sample_rate_hz, 16000);
  EXPECT_EQ(engine.info().n_words, 4u);
  EXPECT_FALSE(engine.info().is_batch);
  EXPECT_EQ(engine.info().n_measurements, 1u);
  EXPECT_EQ(engine.stats().n_streams, 0u);
  senone::Engine opened = load();
  EXPECT_EQ(opened.open().stats().fed_s, 0);
  EXPECT_EQ(senone::version(), asr_version());
  size_t n_usable = 0;
  const senone::DeviceList devices;
  for (const senone::Device &device : devices) n_usable += device.usable();
  EXPECT_GE(n_usable, 1u);
  EXPECT_FALSE(devices.empty());
  EXPECT_THROW(devices[devices.size()], senone::Error);
}

TEST(CppHeader, AStreamOfManyUtterances) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.endpoint = ASR_ENDPOINT_DICTATION;
  senone::Stream stream = engine.open(config);
  for (const char *words : {"low mid", "high"}) {
    stream.feed(speak(words));
    stream.end_utterance();
  }
  stream.finish();
  std::vector<std::string> texts;
  for (senone::Event &event : stream.events()) {
    if (event.kind() == senone::EventKind::kFinal) texts.emplace_back(event.text());
  }
  EXPECT_EQ(texts, (std::vector<std::string>{"low mid", "high"}));
}

TEST(CppHeader, TellsOfPausesAndStableWords) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.endpoint = ASR_ENDPOINT_DICTATION;
  config.early_endpoint_ms = 120;  // less than the pause between words
  senone::Stream stream = engine.open(config);
  stream.feed(speak("low mid"));
  stream.finish();
  std::vector<senone::EventKind> kinds;
  for (senone::Event &event : stream.events()) {
    kinds.push_back(event.kind());
    if (event.kind() == senone::EventKind::kFinal) {
      EXPECT_EQ(event.n_stable_words(), 2u);
    }
  }
  EXPECT_NE(std::find(kinds.begin(), kinds.end(), senone::EventKind::kProbablyFinished), kinds.end());
  EXPECT_NE(std::find(kinds.begin(), kinds.end(), senone::EventKind::kSpeechResumed), kinds.end());
}

TEST(CppHeader, TellsThatNobodySpoke) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.endpoint = ASR_ENDPOINT_DICTATION;
  config.no_input_ms = 500;
  senone::Stream stream = engine.open(config);
  stream.feed(std::vector<std::int16_t>(18000));
  stream.finish();
  std::size_t n = 0;
  for (senone::Event &event : stream.events()) n += event.kind() == senone::EventKind::kNoInput;
  EXPECT_EQ(n, 2u);
}

TEST(CppHeader, GivesRows) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.output = ASR_OUTPUT_LOGLIKES;
  senone::Stream stream = engine.open(config);
  stream.feed(speak("low mid"));
  stream.finish();
  std::uint64_t n_frames = 0;
  for (senone::Event &event : stream.events()) {
    if (event.kind() != senone::EventKind::kRows) {
      EXPECT_EQ(event.try_rows().error().status(), ASR_NOT_FOUND);
      continue;
    }
    const asr_rows rows = event.rows();
    EXPECT_EQ(rows.first_frame, n_frames);
    EXPECT_EQ(rows.n_values, engine.info().n_states);
    n_frames += rows.n_rows;
  }
  EXPECT_GT(n_frames, 100u);
}

TEST(CppHeader, TellsWhatIsOutOfTheGrammar) {
  senone::Engine engine(tone_bundle_with_background());
  senone::Stream stream = engine.open();
  stream.feed(speak("high"));
  stream.finish();
  const senone::Event final = stream.final_event();
  EXPECT_GT(final.out_of_grammar(), 0.9f);
  EXPECT_NE(final.flags() & ASR_FLAG_REJECTED, 0u);
}

TEST(CppHeader, CancelsAnUtteranceAndBeginsAnew) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.endpoint = ASR_ENDPOINT_DICTATION;
  config.max_backlog_ms = 0;
  senone::Stream stream = engine.open(config);
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(stream.feed_now(speak("low mid")));
    stream.cancel_utterance();
    EXPECT_TRUE(stream.feed_now(speak("high")));
    stream.finish();
    EXPECT_THROW(stream.feed_now(speak("high")), senone::Error);
    EXPECT_EQ(stream.try_cancel_utterance().error().status(), ASR_INVALID_STATE);
    if (i == 0) stream.reset();
  }
  std::vector<std::string> texts;
  for (senone::Event &event : stream.events()) {
    if (event.kind() == senone::EventKind::kFinal && event.flags() == 0) texts.emplace_back(event.text());
  }
  EXPECT_EQ(texts, std::vector<std::string>{"high"});
}

TEST(CppHeader, FeedNowSaysWhenItIsBusy) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.max_backlog_ms = 80;
  senone::Stream stream = engine.open(config);
  const std::vector<std::int16_t> samples(std::size_t{16000} * 30);
  ASSERT_TRUE(stream.feed_now(samples));
  EXPECT_FALSE(stream.feed_now(samples));
}

TEST(CppHeader, AStateIsCarriedToTheNextStream) {
  senone::EngineConfig on_cpu;
  on_cpu.device = "cpu";
  senone::Engine engine(tone_bundle_with_mean(), on_cpu);
  senone::StreamConfig config;
  config.cmn = ASR_CMN_LIVE;
  senone::Stream first = engine.open(config), second = engine.open(config);
  first.feed(speak("low mid"));
  first.finish();
  first.final_event();
  const std::string state = first.state();
  second.set_state(state);
  EXPECT_EQ(second.state(), state);
  EXPECT_FALSE(second.try_set_state("nonsense"));
  EXPECT_THROW(engine.open().state(), senone::Error);
}

TEST(CppHeader, EventsAreARangeThatEndsWithEnd) {
  senone::Engine engine = load();
  senone::Stream stream = engine.open();
  stream.feed(speak("high low"));
  stream.finish();
  std::vector<senone::EventKind> kinds;
  for (senone::Event &event : stream.events()) kinds.push_back(event.kind());
  using Kind = senone::EventKind;
  EXPECT_EQ(kinds, (std::vector<Kind>{Kind::kReady, Kind::kSpeechStart, Kind::kEndpoint, Kind::kFinal, Kind::kEnd}));
}

TEST(CppHeader, EventsMayBeMovedOutOfTheLoopAndOutliveTheEngine) {
  std::vector<senone::Event> kept;
  {
    senone::Engine engine = load();
    senone::Stream stream = engine.open();
    stream.feed(speak("mid"));
    stream.finish();
    for (senone::Event &event : stream.events()) kept.push_back(std::move(event));
  }
  ASSERT_EQ(kept.size(), 5u);
  EXPECT_EQ(kept[3].text(), "mid");
  EXPECT_EQ(kept[4].kind(), senone::EventKind::kEnd);
}

TEST(CppHeader, WordsAlternativesAndArcsAreRanges) {
  senone::Engine engine = load();
  senone::Stream stream = engine.open(with_lattice());
  stream.feed(speak("low high"));
  stream.finish();
  const senone::Event final = stream.final_event();

  std::string joined;
  double last_s = 0;
  for (const senone::Word word : final.words()) {
    joined += std::string(word.text) + " ";
    EXPECT_GE(word.start_s, last_s);
    EXPECT_GT(word.end_s, word.start_s);
    EXPECT_NEAR(word.confidence, 1, 1e-3);
    last_s = word.end_s;
  }
  EXPECT_EQ(joined, "low high ");

  const senone::Lattice lattice = final.lattice();
  double best_cost = -INFINITY;
  for (const senone::Alternative alternative : final.alternatives()) {
    const double cost = alternative.graph_cost() + lattice.acoustic_scale() * alternative.acoustic_cost();
    EXPECT_GE(cost, best_cost - 1e-6);
    best_cost = cost;
    EXPECT_EQ(alternative.words()[0].text, alternative.text().substr(0, alternative.text().find(' ')));
  }

  double leaving_start = 0;
  size_t n_ids = 0;
  for (const senone::Arc arc : lattice.arcs()) {
    EXPECT_LT(arc.from, arc.to);
    if (arc.from == 0) leaving_start += arc.posterior;
    n_ids += arc.transition_ids.size();
  }
  EXPECT_NEAR(leaving_start, 1, 1e-6);
  EXPECT_GT(n_ids, 0u);
  double ending = 0;
  for (const senone::LatticeState state : lattice.states()) ending += state.end_posterior;
  EXPECT_NEAR(ending, 1, 1e-6);
  EXPECT_EQ(lattice.arcs().size(), lattice.arrays().n_arcs);
}

TEST(CppHeader, TextIsTheLibrarysOwn) {
  senone::Engine engine = load();
  senone::Stream stream = engine.open();
  stream.feed(speak("low"));
  stream.finish();
  const senone::Event final = stream.final_event();
  EXPECT_EQ(final.text().data(), asr_event_text(final.get()));
  asr_word word{};
  word.size = sizeof(word);
  ASSERT_EQ(asr_event_word(final.get(), 0, 0, &word), ASR_OK);
  EXPECT_EQ(final.words()[0].text.data(), word.text);
}

TEST(CppHeader, ErrorsHaveTheLibrarysStatusAndMessage) {
  try {
    senone::Engine engine("/no/such/bundle");
    FAIL() << "no exception";
  } catch (const senone::Error &error) {
    EXPECT_EQ(error.status(), ASR_NOT_FOUND);
    EXPECT_EQ(error.status_text(), "ASR_NOT_FOUND");
    EXPECT_NE(std::string(error.what()).find("/no/such/bundle"), std::string::npos) << error.what();
  }
  const auto engine = senone::Engine::try_load("/no/such/bundle");
  EXPECT_FALSE(engine);
  EXPECT_EQ(engine.error().status(), ASR_NOT_FOUND);
}

TEST(CppHeader, TryFunctionsDoNotThrow) {
  senone::Engine engine = load();
  senone::StreamConfig bad;
  bad.n_channels = 100;
  EXPECT_EQ(engine.try_open(bad).error().status(), ASR_INVALID_ARGUMENT);
  senone::Stream stream = engine.open();
  EXPECT_TRUE(stream.try_feed(speak("low")));
  EXPECT_TRUE(stream.try_finish());
  EXPECT_EQ(stream.try_finish().error().status(), ASR_INVALID_STATE);
  EXPECT_EQ(stream.try_feed(speak("low")).error().status(), ASR_INVALID_STATE);
  const senone::Event final = stream.final_event();
  EXPECT_EQ(final.try_lattice().error().status(), ASR_NOT_FOUND);
  EXPECT_THROW(final.lattice(), senone::Error);
  EXPECT_EQ(stream.try_next().error().status(), ASR_INVALID_STATE);
  EXPECT_EQ(senone::Stream().try_finish().error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(senone::Event().kind(), senone::EventKind::kNone);
}

TEST(CppHeader, FeedRefusesTheWrongTypeAndHalfSamples) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.n_channels = 2;
  senone::Stream stereo = engine.open(config);
  EXPECT_EQ(stereo.try_feed(std::vector<int16_t>(3)).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(stereo.try_feed(std::vector<float>(4)).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_TRUE(stereo.try_feed(std::vector<int16_t>(4)));
  config.input = ASR_INPUT_FEATURES;
  senone::Stream rows = engine.open(config);
  EXPECT_EQ(rows.try_feed(std::vector<float>(engine.info().n_feature_dims + 1)).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_TRUE(rows.try_feed(std::vector<float>(std::size_t{2} * engine.info().n_feature_dims)));
}

TEST(CppHeader, G711) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.input = ASR_INPUT_ULAW;
  senone::Stream stream = engine.open(config);
  EXPECT_EQ(stream.try_feed(std::vector<int16_t>(4)).error().status(), ASR_INVALID_ARGUMENT);
  EXPECT_TRUE(stream.try_feed(std::vector<uint8_t>(4)));
}

TEST(CppHeader, RecordingsAreDecoded) {
  senone::AudioConfig config;
  config.format = ASR_AUDIO_S16LE;
  senone::Audio audio(config);
  const std::vector<int16_t> samples(100, 16384);
  audio.push(samples.data(), 2 * samples.size());
  audio.finish();
  std::vector<float> read(200);
  EXPECT_EQ(audio.read(read.data(), read.size()), 100u);
  EXPECT_EQ(read[99], 0.5f);
  EXPECT_EQ(audio.info().n_bits, 16u);
  EXPECT_EQ(audio.next_warning(), "");
  EXPECT_EQ(audio.try_push("a", 1).error().status(), ASR_INVALID_STATE);
  senone::Audio file;
  EXPECT_EQ(file.try_push("fLaC0123456789012345678901", 26).error().status(), ASR_UNSUPPORTED);
  EXPECT_EQ(file.info().is_other, 1u);
}

TEST(CppHeader, NextHasATimeout) {
  senone::Engine engine = load();
  senone::Stream stream = engine.open();
  EXPECT_EQ(stream.next().kind(), senone::EventKind::kReady);
  EXPECT_FALSE(stream.next(std::chrono::milliseconds(1)));
  EXPECT_FALSE(stream.poll());
  EXPECT_FALSE(stream.wait(std::chrono::milliseconds(1)));
}

TEST(CppHeader, AnErrorEventIsThrownByFinalEventOnly) {
  senone::Engine engine = load();
  senone::Stream iterated = engine.open(), waited = engine.open();
  iterated.cancel();
  waited.cancel();
  bool seen = false;
  for (const senone::Event &event : iterated.events()) {
    if (event.kind() == senone::EventKind::kError) seen = event.status() == ASR_CANCELLED;
  }
  EXPECT_TRUE(seen);
  EXPECT_EQ(waited.try_final_event().error().status(), ASR_CANCELLED);
}

TEST(CppHeader, CallbacksGetStreamAndEvents) {
  senone::Engine engine = load();
  std::string text;
  std::thread::id thread;
  senone::Stream stream = engine.open({}, [&](senone::StreamView view, senone::Event event) {
    if (event.kind() == senone::EventKind::kReady) {
      view.feed(speak("mid low"));
      view.finish();
    }
    if (event.kind() == senone::EventKind::kFinal) text = event.text();
    thread = std::this_thread::get_id();
  });
  EXPECT_TRUE(stream.wait());
  EXPECT_EQ(text, "mid low");
  EXPECT_NE(thread, std::this_thread::get_id());
}

// It would be ignored, and the program would wait for ever.
TEST(CppHeader, ACallbackInTheConfigIsRefused) {
  senone::Engine engine = load();
  senone::StreamConfig config;
  config.callback = [](asr_stream *, asr_event *event, void *) { asr_event_free(event); };
  const auto stream = engine.try_open(config);
  ASSERT_FALSE(stream);
  EXPECT_EQ(stream.error().status(), ASR_INVALID_ARGUMENT);
}

TEST(CppHeader, WhatACallbackThrowsComesOutOfWait) {
  senone::Engine engine = load();
  std::atomic<int> n_calls{0};
  senone::Stream stream = engine.open({}, [&](senone::StreamView, senone::Event) {
    ++n_calls;
    throw std::out_of_range("from the callback");
  });
  EXPECT_THROW(stream.wait(), std::out_of_range);
  EXPECT_TRUE(stream.callback_failure());
  EXPECT_EQ(n_calls, 1);
  EXPECT_FALSE(stream.try_finish());
}

TEST(CppHeader, AStreamMovedInItsCallbacksLifeKeepsWorking) {
  senone::Engine engine = load();
  std::string text;
  std::vector<senone::Stream> streams;
  streams.push_back(engine.open({}, [&](senone::StreamView, senone::Event event) {
    if (event.kind() == senone::EventKind::kFinal) text = event.text();
  }));
  for (int i = 0; i < 20; ++i) streams.push_back(engine.open());
  streams[0].feed(speak("high"));
  streams[0].finish();
  streams[0].wait();
  EXPECT_EQ(text, "high");
  streams[0] = std::move(streams[1]);
  streams[0].feed(speak("low"));
  streams[0].finish();
  EXPECT_EQ(streams[0].final_event().text(), "low");
}

TEST(CppHeader, ClosingInTheOwnCallbackCancels) {
  senone::Engine engine = load();
  std::mutex opened;
  senone::Stream stream;
  std::atomic<bool> done{false};
  {
    const std::lock_guard lock(opened);
    stream = engine.open({}, [&](senone::StreamView, senone::Event) {
      const std::lock_guard wait(opened);
      stream.close();
      done = true;
    });
  }
  while (!done) std::this_thread::yield();
  const std::lock_guard lock(opened);
  EXPECT_FALSE(stream);
}

TEST(CppHeader, LogComesAsStringViewAndMayThrow) {
  std::mutex mutex;
  std::vector<std::string> lines;
  senone::set_log(
      [&](asr_log_level, std::string_view message) {
        const std::lock_guard lock(mutex);
        lines.emplace_back(message);
        throw 1;
      },
      ASR_LOG_DEBUG);
  senone::Engine engine = load();
  senone::set_log(nullptr);
  EXPECT_FALSE(lines.empty());
}

TEST(CppHeader, ManyThreadsShareAnEngine) {
  senone::Engine engine = load();
  std::vector<std::thread> threads;
  std::atomic<int> n_right{0};
  for (int t = 0; t < 8; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 4; ++i) {
        senone::Stream stream = engine.open();
        stream.feed(speak("low high"));
        stream.finish();
        n_right += stream.final_event().text() == "low high";
      }
    });
  }
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(n_right, 32);
}

}  // namespace
}  // namespace asr::test
