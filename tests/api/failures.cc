// SPDX-License-Identifier: Apache-2.0
// Tests devices that fail in use (plugins/faulty.cc). The affected streams end with a reason; other streams and the process go
// on. With a fallback nothing is lost. docs/faults.md lists these tests.
#include <gtest/gtest.h>

#include <algorithm>
#include <condition_variable>
#include <cstdlib>
#include <filesystem>
#include <mutex>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

using Events = std::vector<std::string>;

// Returns the first of devices_named().
std::string device_named(const std::string &backend, const std::string &name) { return devices_named(backend, name).at(0); }

EnginePointer load_faulty(const std::string &device, const char *fallback = nullptr, uint32_t timeout_ms = 0,
                          const std::string &bundle = tone_bundle()) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = device.c_str();
  config.window_frames = 8;
  config.n_threads = 2;
  config.fallback = fallback;
  config.device_timeout_ms = timeout_ms;
  asr_engine *engine = nullptr;
  EXPECT_OK(asr_engine_load(bundle.c_str(), &config, &engine));
  return {engine, asr_engine_close};
}

bool has_failed(const Events &events) { return events.size() >= 2 && events[events.size() - 2].rfind("ERROR", 0) == 0; }

// Removes ASR_FLAG_FELL_BACK from the events; counts the FINAL events that had it.
Events without_fallback_flag(Events events, size_t *n_flagged) {
  for (std::string &event : events) {
    const size_t at = event.find("flags=") + 6;
    const unsigned long flags = std::stoul(event.substr(at));
    event.replace(at, event.find(' ', at) - at, std::to_string(flags & ~static_cast<unsigned long>(ASR_FLAG_FELL_BACK)));
    if ((flags & ASR_FLAG_FELL_BACK) != 0 && event.rfind("FINAL", 0) == 0) ++*n_flagged;
  }
  return events;
}

std::vector<int16_t> recording(size_t i) {
  static const char *const kSentences[] = {"low high mid low", "mid mid high", "high low", "low mid high high mid"};
  return speak(kSentences[i % 4]);
}

// Recognises the recordings on concurrent streams; a failing call must return this status.
std::vector<Events> recognize_at_once(asr_engine *engine, const asr_stream_config &config,
                                      const std::vector<std::vector<int16_t>> &recordings, asr_status status) {
  std::vector<StreamPointer> streams;
  for (size_t i = 0; i < recordings.size(); ++i) streams.push_back(open_stream(engine, config));
  for (size_t i = 0; i < recordings.size(); ++i) {
    const asr_status fed = asr_feed(streams[i].get(), recordings[i].data(), recordings[i].size());
    EXPECT_TRUE(fed == ASR_OK || fed == status) << asr_last_error();
    const asr_status finished = asr_finish(streams[i].get());
    EXPECT_TRUE(finished == ASR_OK || finished == status) << asr_last_error();
  }
  std::vector<Events> results;
  for (const StreamPointer &stream : streams) {
    results.push_back(poll_all(stream.get()));
    if (!has_failed(results.back())) continue;
    const std::string &error = results.back()[results.back().size() - 2];
    EXPECT_EQ(error.rfind(std::string("ERROR ") + asr_status_text(status), 0), 0u) << error;
    EXPECT_NE(error.find("a fault made for this test"), std::string::npos) << error;
    EXPECT_EQ(asr_feed(stream.get(), recording(0).data(), 1), status);
  }
  return results;
}

std::vector<std::vector<int16_t>> recordings(size_t n) {
  std::vector<std::vector<int16_t>> result;
  for (size_t i = 0; i < n; ++i) result.push_back(recording(i));
  return result;
}

// Returns the CPU's events of each recording(i) alone.
std::vector<Events> expected_of(const asr_stream_config &config, size_t n, const std::string &bundle = tone_bundle()) {
  const EnginePointer engine = load_engine(8, 8, bundle);
  std::vector<Events> result;
  for (size_t i = 0; i < n; ++i) result.push_back(recognize(engine.get(), config, recording(i), 1000));
  return result;
}

// Counts the failed streams; the others must have the events of their recording alone.
size_t n_failed(const std::vector<Events> &results, const std::vector<Events> &expected) {
  size_t n = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    if (has_failed(results[i])) {
      ++n;
    } else {
      EXPECT_EQ(results[i], expected[i]) << "stream " << i;
    }
  }
  return n;
}

size_t n_failed_of_four(const std::string &device, asr_status status) {
  const EnginePointer engine = load_faulty(device);
  return n_failed(recognize_at_once(engine.get(), default_stream(), recordings(4), status), expected_of(default_stream(), 4));
}

TEST(Failures, OneStreamsFailureHarmsNoOther) {
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const char *fault : {"channel_begin 2: fails", "best_path 2: fails", "outcome 2: fails"}) {
      EXPECT_EQ(n_failed_of_four(device_named(backend, fault), ASR_OUT_OF_MEMORY), 1u) << backend << " " << fault;
    }
  }
}

TEST(Failures, AFailedCallFailsItsStreams) {
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const char *fault : {"extract 5: fails", "score 5: fails", "wait 5: fails"}) {
      EXPECT_GE(n_failed_of_four(device_named(backend, fault), ASR_INTERNAL), 1u) << backend << " " << fault;
    }
  }
}

TEST(Failures, OneOf64IsBad) {
  const std::vector<Events> expected = expected_of(default_stream(), 64);
  for (const char *fault : {"outcome 2: fails", "loud 1: fails", "best_path 2: fails"}) {
    const bool is_loud = std::string(fault).rfind("loud", 0) == 0;
    std::vector<std::vector<int16_t>> all = recordings(64);
    if (is_loud) all[17][9000] = INT16_MAX;
    const EnginePointer engine = load_faulty(device_named("faulty", fault));
    const std::vector<Events> results =
        recognize_at_once(engine.get(), default_stream(), all, is_loud ? ASR_INTERNAL : ASR_OUT_OF_MEMORY);
    EXPECT_EQ(n_failed(results, expected), 1u) << fault;
    EXPECT_TRUE(!is_loud || has_failed(results[17]));
  }
}

// Runs 64 streams on the CPU, each with its own log-likelihoods. Stream 17 is spoilt and must end. The others must have the
// events that they have alone. Returns the events of stream 17.
Events among_64(const std::string &bundle, const asr_stream_config &bad_config, const std::vector<float> &bad_rows) {
  const auto rows_of = [](size_t i) {
    std::vector<float> rows(size_t{4} * 100);
    uint32_t random = static_cast<uint32_t>(i) + 1;
    for (float &value : rows) value = -static_cast<float>((random = random * 1664525 + 1013904223) >> 24) / 20;
    return rows;
  };
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  config.lattice_beam = bad_config.lattice_beam;
  std::vector<Events> alone, together;
  for (const bool at_once : {false, true}) {
    const EnginePointer engine = load_engine(8, 16, bundle);
    std::vector<StreamPointer> streams;
    for (size_t i = 0; i < 64; ++i) {
      const bool is_bad = at_once && i == 17;
      streams.push_back(open_stream(engine.get(), is_bad ? bad_config : config));
      const std::vector<float> rows = is_bad && !bad_rows.empty() ? bad_rows : rows_of(i);
      const asr_status fed = asr_feed(streams[i].get(), rows.data(), rows.size() / 4);
      const asr_status finished = fed == ASR_OK ? asr_finish(streams[i].get()) : fed;
      EXPECT_TRUE(finished == ASR_OK || is_bad) << asr_last_error();
      if (!at_once) alone.push_back(poll_all(streams[i].get()));
    }
    for (size_t i = 0; i < 64 && at_once; ++i) together.push_back(poll_all(streams[i].get()));
  }
  for (size_t i = 0; i < 64; ++i) {
    if (i == 17) continue;
    EXPECT_EQ(together[i], alone[i]) << "stream " << i;
  }
  EXPECT_EQ(together[17].back().rfind("END", 0), 0u);
  return together[17];
}

asr_stream_config loglike_stream() {
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  return config;
}

TEST(Failures, OneOf64RewardsWordsOnACycle) {
  asr_stream_config config = loglike_stream();
  config.word_insertion_cost = -5;
  EXPECT_TRUE(has_failed(among_64(tone_bundle_with_cycle(), config, {})));
}

TEST(Failures, OneOf64HasABadRow) {
  for (const float bad : {-1e10f, 3e38f}) {
    for (const float lattice_beam : {0.0f, 1.0f}) {
      asr_stream_config config = loglike_stream();
      config.lattice_beam = lattice_beam;
      std::vector<float> rows(size_t{4} * 100, -1);
      for (size_t p = 0; p < 4; ++p) rows[size_t{4} * 40 + p] = p == 2 ? -bad : bad;
      among_64("", config, rows);
    }
  }
}

TEST(Failures, ALostDeviceFailsAllItsStreams) {
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const char *fault : {"extract 1: lost", "score 5: lost", "advance 1: lost", "advance 5: lost", "wait 1: lost"}) {
      EXPECT_EQ(n_failed_of_four(device_named(backend, fault), ASR_DEVICE_LOST), 4u) << backend << " " << fault;
    }
  }
}

// New streams are refused, streams opened earlier and not yet fed end, and other engines go on.
TEST(Failures, ALostDeviceIsNotUsedAgain) {
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const char *fault : {"channel_begin 1: lost", "advance 5: lost", "best_path 1: lost"}) {
      const EnginePointer other = load_engine();
      const EnginePointer engine = load_faulty(device_named(backend, fault));
      const StreamPointer idle = open_stream(engine.get());
      const StreamPointer others = open_stream(other.get());
      EXPECT_OK(asr_feed(others.get(), recording(0).data(), 5000));
      const Events lost = recognize_at_once(engine.get(), default_stream(), recordings(1), ASR_DEVICE_LOST).at(0);
      EXPECT_TRUE(has_failed(lost)) << backend << " " << fault;

      asr_stream *refused = nullptr;
      EXPECT_EQ(asr_open(engine.get(), nullptr, &refused), ASR_DEVICE_LOST);
      EXPECT_NE(std::string(asr_last_error()).find("a fault made for this test"), std::string::npos) << asr_last_error();
      EXPECT_EQ(refused, nullptr);

      const asr_status fed = asr_feed(idle.get(), recording(0).data(), 5000);
      EXPECT_TRUE(fed == ASR_OK || fed == ASR_DEVICE_LOST);
      EXPECT_TRUE(has_failed(poll_all(idle.get())));

      EXPECT_OK(asr_feed(others.get(), recording(0).data() + 5000, recording(0).size() - 5000));
      EXPECT_OK(asr_finish(others.get()));
      EXPECT_EQ(poll_all(others.get()), expected_of(default_stream(), 1).at(0));
      EXPECT_TRUE(load_faulty(device_named(backend, "none")));
    }
  }
}

// Tries every device with a fault that loses it, at any call; under sanitizers every third of them. All streams, and later
// ones, must have the CPU's events.
void expect_nothing_lost(const asr_stream_config &config, const std::string &backend,
                         const std::string &bundle = tone_bundle()) {
  const std::vector<Events> expected = expected_of(config, 4, bundle);
  size_t n_all_flagged = 0;
  constexpr size_t kStep = kSanitized ? 3 : 1;
  const std::vector<std::string> devices = devices_named(backend, "lost");
  for (size_t d = 0; d < devices.size(); d += kStep) {
    const std::string &device = devices[d];
    const EnginePointer engine = load_faulty(device, "cpu", 50, bundle);
    size_t n_flagged = 0;  // not all faults occur: without lattices the faults of `lattice` do not
    for (int round = 0; round < 2; ++round) {
      const std::vector<Events> results = recognize_at_once(engine.get(), config, recordings(4), ASR_OK);
      for (size_t i = 0; i < 4; ++i) {
        EXPECT_EQ(without_fallback_flag(results[i], &n_flagged), expected[i]) << device << " stream " << i;
      }
    }
    n_all_flagged += n_flagged;
  }
  EXPECT_GT(n_all_flagged, 40u / kStep);
}

TEST(Fallback, NothingIsLost) {
  for (const char *backend : {"faulty", "overlapping"}) expect_nothing_lost(default_stream(), backend);
}

TEST(Fallback, PartialResultsComeOnce) {
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 100;
  for (const char *backend : {"faulty", "overlapping"}) expect_nothing_lost(config, backend);
}

TEST(Fallback, LatticesAreMadeAgain) {
  asr_stream_config config = default_stream();
  config.lattice_beam = 8;
  config.n_best = 3;
  expect_nothing_lost(config, "overlapping");
}

TEST(Fallback, BatchNormalisationBeginsAgain) {
  asr_stream_config config = default_stream();
  config.cmn = ASR_CMN_BATCH;
  expect_nothing_lost(config, "faulty");
}

// Rows that were given before the loss do not come again, and none is missing.
TEST(Fallback, RowsComeOnce) {
  const EnginePointer cpu = load_engine(8, 8);
  constexpr size_t kStep = kSanitized ? 3 : 1;
  for (const asr_output output : {ASR_OUTPUT_FEATURES, ASR_OUTPUT_LOGLIKES}) {
    std::vector<GivenRows> expected;
    for (size_t i = 0; i < 4; ++i) expected.push_back(rows_of(cpu.get(), giving(output), recording(i), 1000));
    size_t n_flagged = 0;
    for (const char *backend : {"faulty", "overlapping"}) {
      const std::vector<std::string> devices = devices_named(backend, "lost");
      for (size_t d = 0; d < devices.size(); d += kStep) {
        const EnginePointer engine = load_faulty(devices[d], "cpu", 50);
        std::vector<StreamPointer> streams;
        for (size_t i = 0; i < 4; ++i) streams.push_back(open_stream(engine.get(), giving(output)));
        for (size_t i = 0; i < 4; ++i) {
          feed(streams[i].get(), recording(i), 1000);
          EXPECT_OK(asr_finish(streams[i].get()));
        }
        for (size_t i = 0; i < 4; ++i) {
          const GivenRows given = poll_rows(streams[i].get());
          EXPECT_EQ(given.status, ASR_OK) << devices[d];
          EXPECT_EQ(given.values, expected[i].values) << devices[d] << " stream " << i;
          n_flagged += (given.flags & ASR_FLAG_FELL_BACK) != 0;
        }
      }
    }
    EXPECT_GT(n_flagged, 0u);
  }
}

TEST(Failures, RowsOfALostDeviceEnd) {
  const EnginePointer engine = load_faulty(device_named("overlapping", "score 5: lost"));
  const StreamPointer stream = open_stream(engine.get(), giving(ASR_OUTPUT_LOGLIKES));
  const asr_status fed = asr_feed(stream.get(), recording(0).data(), recording(0).size());
  EXPECT_TRUE(fed == ASR_OK || fed == ASR_DEVICE_LOST);
  (void)asr_finish(stream.get());
  EXPECT_EQ(poll_rows(stream.get()).status, ASR_DEVICE_LOST);
}

std::vector<int16_t> background(size_t seconds) {
  const std::vector<int16_t> pause = speak("");
  std::vector<int16_t> samples;
  while (samples.size() < 16000 * seconds) samples.insert(samples.end(), pause.begin(), pause.end());
  return samples;
}

// The device fails in its fifth advance; a stream without speech must never reach it.
TEST(Failures, NothingIsDecodedOfBackground) {
  const EnginePointer engine = load_faulty(device_named("faulty", "advance 5: lost"));
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  EXPECT_EQ(recognize(engine.get(), config, background(10), 1600).size(), 2u);  // READY, END
}

// Sentences of over 20 s, whose best paths leave the search in pieces.
std::vector<std::vector<int16_t>> long_recordings() {
  std::vector<std::vector<int16_t>> all;
  for (size_t i = 0; i < 4; ++i) {
    std::vector<int16_t> samples;
    while (samples.size() < size_t{16000} * 20) {
      for (const int16_t sample : recording(i + samples.size() / 40000)) samples.push_back(sample);
    }
    all.push_back(std::move(samples));
  }
  return all;
}

std::vector<Events> expected_of(const asr_stream_config &config, const std::vector<std::vector<int16_t>> &recordings) {
  const EnginePointer engine = load_engine(8, 8, tone_bundle());
  std::vector<Events> expected;
  for (const std::vector<int16_t> &samples : recordings) expected.push_back(recognize(engine.get(), config, samples, 1000));
  return expected;
}

// After the sixth piece each stream has given away a part of its path.
TEST(Fallback, PathsGivenAwayInPiecesComeAgain) {
  const std::vector<std::vector<int16_t>> all = long_recordings();
  asr_stream_config config = default_stream();
  config.partial_interval_ms = 500;
  const std::vector<Events> expected = expected_of(config, all);
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const char *fault : {"piece 1: lost", "piece 6: lost", "advance 16: lost", "best_path 12: lost"}) {
      const EnginePointer engine = load_faulty(device_named(backend, fault), "cpu", 50);
      size_t n_flagged = 0;
      const std::vector<Events> results = recognize_at_once(engine.get(), config, all, ASR_OK);
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_EQ(without_fallback_flag(results[i], &n_flagged), expected[i]) << backend << " " << fault << " stream " << i;
      }
      EXPECT_EQ(n_flagged, all.size()) << backend << " " << fault;
    }
  }
}

TEST(Failures, APieceThatFailsHarmsNoOtherStream) {
  const std::vector<std::vector<int16_t>> all = long_recordings();
  const std::vector<Events> expected = expected_of(default_stream(), all);
  for (const char *backend : {"faulty", "overlapping"}) {
    const EnginePointer engine = load_faulty(device_named(backend, "piece 2: fails"));
    EXPECT_EQ(n_failed(recognize_at_once(engine.get(), default_stream(), all, ASR_OUT_OF_MEMORY), expected), 1u) << backend;
  }
}

// What a log function takes of a stream when the log tells of the fallback, and then cancels: no other call comes between the
// loss and the repetition. It waits until all audio is fed, because audio after the cancelling would be another utterance.
struct CancelledAtTheLoss {
  asr_stream *stream = nullptr;
  std::mutex mutex;
  std::condition_variable changed;
  std::vector<asr_event_kind> before;
  bool fed = false, done = false;

  static void log(asr_log_level, const char *message, void *user_data) {
    auto *const self = static_cast<CancelledAtTheLoss *>(user_data);
    if (std::string(message).find("takes over its streams") == std::string::npos) return;
    std::unique_lock lock(self->mutex);
    self->changed.wait(lock, [self] { return self->fed; });
    take_all(self->stream, &self->before);
    EXPECT_OK(asr_cancel_utterance(self->stream));
    self->done = true;
    self->changed.notify_all();
  }

  static void take_all(asr_stream *stream, std::vector<asr_event_kind> *kinds) {
    for (;;) {
      asr_event *event = nullptr;
      ASSERT_OK(asr_result(stream, &event));
      if (event == nullptr) return;
      kinds->push_back(asr_event_get_kind(event));
      asr_event_free(event);
    }
  }
};

// Its ENDPOINT and FINAL come although the other device has nothing to repeat.
TEST(Fallback, AnUtteranceThatIsCancelledBeforeItComesAgainHasItsFinal) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_DICTATION;
  const std::vector<int16_t> samples = long_recordings()[0];
  size_t n_heard = 0;
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const char *fault : {"advance 1: lost", "advance 16: lost", "best_path 12: lost", "piece 1: lost"}) {
      const EnginePointer engine = load_faulty(device_named(backend, fault), "cpu", 50);
      const StreamPointer stream = open_stream(engine.get(), config);
      CancelledAtTheLoss cancelled;
      cancelled.stream = stream.get();
      asr_set_log(CancelledAtTheLoss::log, ASR_LOG_WARNING, &cancelled);
      ASSERT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
      {
        std::unique_lock lock(cancelled.mutex);
        cancelled.fed = true;
        cancelled.changed.notify_all();
        cancelled.changed.wait(lock, [&] { return cancelled.done; });
      }
      asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
      ASSERT_OK(asr_finish(stream.get()));
      const Events after = poll_all(stream.get());
      const auto n_of = [&](asr_event_kind kind) { return std::count(cancelled.before.begin(), cancelled.before.end(), kind); };
      const bool is_heard = n_of(ASR_EVENT_SPEECH_START) > n_of(ASR_EVENT_FINAL);
      n_heard += is_heard;
      ASSERT_EQ(after.size(), is_heard ? 3u : 1u) << backend << " " << fault;  // END
      if (!is_heard) continue;
      EXPECT_EQ(after[0].rfind("ENDPOINT", 0), 0u) << after[0];
      EXPECT_EQ(after[1].rfind("FINAL", 0), 0u) << after[1];
      const unsigned long flags = std::stoul(after[1].substr(after[1].find("flags=") + 6));
      EXPECT_NE(flags & ASR_FLAG_CANCELLED, 0u) << after[1];
    }
  }
  EXPECT_GE(n_heard, 4u);
}

// Some devices are lost between utterances.
TEST(Fallback, SpeechAfterBackgroundIsNotLost) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  std::vector<int16_t> samples = background(4);
  for (size_t i = 0; i < 2; ++i) {
    for (const std::vector<int16_t> &part : {recording(i), background(3)}) {
      samples.insert(samples.end(), part.begin(), part.end());
    }
  }
  const Events expected = recognize(load_engine().get(), config, samples, 1600);
  EXPECT_GT(expected.size(), 6u);
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const std::string &device : devices_named(backend, "lost")) {
      size_t n_flagged = 0;
      const EnginePointer engine = load_faulty(device, "cpu", 50);
      EXPECT_EQ(without_fallback_flag(recognize(engine.get(), config, samples, 1600), &n_flagged), expected) << device;
    }
  }
}

// Events from before the loss are not repeated, and an utterance in progress is decoded again from its start.
TEST(Fallback, UtterancesComeOnce) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.silence_at_end_ms = 100;  // less than the pause after each word
  for (const float lattice_beam : {0.0f, 8.0f}) {
    config.lattice_beam = lattice_beam;
    expect_nothing_lost(config, "overlapping");
    if (lattice_beam == 0) expect_nothing_lost(config, "faulty");
  }
}

TEST(Fallback, ResultsAreComparedWithTheBackground) {
  asr_stream_config config = default_stream();
  expect_nothing_lost(config, "faulty", tone_bundle_with_background());
  config.lattice_beam = 8;
  expect_nothing_lost(config, "overlapping", tone_bundle_with_background());
}

TEST(Fallback, EarlyEndpointsComeOnce) {
  asr_stream_config config = default_stream();
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.early_endpoint_ms = 100;  // less than the pause after each word, which has no endpoint
  for (const char *backend : {"faulty", "overlapping"}) expect_nothing_lost(config, backend);
}

TEST(Fallback, SaysSo) {
  struct Log {
    std::mutex mutex;
    std::vector<std::string> warnings;
  } log;
  asr_set_log(
      [](asr_log_level level, const char *message, void *user_data) {
        Log *const to = static_cast<Log *>(user_data);
        std::lock_guard lock(to->mutex);
        if (level == ASR_LOG_WARNING) to->warnings.push_back(message);
      },
      ASR_LOG_WARNING, &log);
  const std::string device = device_named("faulty", "advance 5: lost");
  const EnginePointer engine = load_faulty(device, "cpu");
  size_t n_flagged = 0;
  for (const Events &events : recognize_at_once(engine.get(), default_stream(), recordings(4), ASR_OK)) {
    without_fallback_flag(events, &n_flagged);
  }
  asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
  EXPECT_EQ(n_flagged, 4u);
  const auto says = [&](const std::string &warning) {
    return warning.find(device) != std::string::npos && warning.find("cpu:0") != std::string::npos &&
           warning.find("a fault made for this test") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(log.warnings.begin(), log.warnings.end(), says), 1);
}

TEST(Fallback, StreamsMayBeCancelledAndClosed) {
  const std::vector<std::vector<int16_t>> all = recordings(16);
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const std::string &device : devices_named(backend, "lost")) {
      const EnginePointer engine = load_faulty(device, "cpu", 10);
      std::vector<StreamPointer> streams;
      for (size_t i = 0; i < all.size(); ++i) streams.push_back(open_stream(engine.get()));
      for (size_t i = 0; i < all.size(); ++i) {
        EXPECT_OK(asr_feed(streams[i].get(), all[i].data(), all[i].size()));
        if (i % 3 == 0) asr_cancel(streams[i].get());
        if (i % 3 == 1) streams[i].reset();
      }
      for (size_t i = 0; i < all.size(); ++i) {
        if (i % 3 == 1) continue;
        const asr_status finished = asr_finish(streams[i].get());
        EXPECT_EQ(finished, i % 3 == 0 ? ASR_CANCELLED : ASR_OK);
        EXPECT_EQ(has_failed(poll_all(streams[i].get())), i % 3 == 0) << device << " stream " << i;
      }
    }
  }
}

// If the bundle is gone when the device is lost, the streams fail as without a fallback.
TEST(Fallback, MayFail) {
  const std::filesystem::path bundle = tone_bundle() + "-removed";
  std::filesystem::copy(tone_bundle(), bundle, std::filesystem::copy_options::recursive);
  const EnginePointer engine = load_faulty(device_named("overlapping", "best_path 1: lost"), "cpu", 0, bundle);
  std::filesystem::remove_all(bundle);
  const std::vector<Events> results = recognize_at_once(engine.get(), default_stream(), recordings(4), ASR_DEVICE_LOST);
  EXPECT_GE(std::count_if(results.begin(), results.end(), has_failed), 1);
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), nullptr, &stream), ASR_DEVICE_LOST);
  EXPECT_NE(std::string(asr_last_error()).find("a fault made for this test"), std::string::npos) << asr_last_error();
}

TEST(Fallback, OnlyTheCpu) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.fallback = "cuda:1";
  asr_engine *engine = nullptr;
  EXPECT_EQ(asr_engine_load(tone_bundle().c_str(), &config, &engine), ASR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(asr_last_error()).find("cuda:1"), std::string::npos) << asr_last_error();
}

// The timeout is passed to the device, which ends its wait after that time.
TEST(Failures, AnAdvanceThatNeverEndsLosesTheDevice) {
  const EnginePointer engine = load_faulty(device_named("faulty", "hang 5: lost"), nullptr, 20);
  const std::vector<Events> results = recognize_at_once(engine.get(), default_stream(), recordings(4), ASR_DEVICE_LOST);
  EXPECT_EQ(std::count_if(results.begin(), results.end(), has_failed), 4);
}

TEST(Failures, ADeviceWithoutLatticesSaysSo) {
  const std::string device = device_named("faulty", "none");
  const EnginePointer engine = load_faulty(device);
  asr_stream_config stream_config = default_stream();
  stream_config.lattice_beam = 8;
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &stream_config, &stream), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find(device), std::string::npos) << asr_last_error();
  EXPECT_EQ(stream, nullptr);
}

}  // namespace
}  // namespace asr::test
