// SPDX-License-Identifier: Apache-2.0
// Tests calls with wrong arguments and in the wrong order: each returns a status and a message, and harms nothing.
#include <cmath>
#include <cstring>
#include <limits>
#include <mutex>
#include <random>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Expects that the call returns this status and a message that contains `part`.
#define EXPECT_REFUSED(call, status, part) \
  EXPECT_EQ((call), status);               \
  EXPECT_NE(std::string(asr_last_error()).find(part), std::string::npos) << asr_last_error()

TEST(Misuse, NullEverywhere) {
  asr_device device{};
  asr_engine_info info{};
  asr_event *event = nullptr;
  asr_stream *stream = nullptr;
  asr_engine *engine = nullptr;
  EXPECT_REFUSED(asr_devices(nullptr), ASR_INVALID_ARGUMENT, "asr_devices: list is NULL");
  EXPECT_EQ(asr_device_list_count(nullptr), 0u);
  EXPECT_EQ(asr_device_list_get(nullptr, 0, &device), ASR_INVALID_ARGUMENT);
  asr_device_list_free(nullptr);
  asr_engine_config_default(nullptr);
  EXPECT_REFUSED(asr_engine_load(nullptr, nullptr, &engine), ASR_INVALID_ARGUMENT, "bundle_path is NULL");
  EXPECT_REFUSED(asr_engine_load("x", nullptr, nullptr), ASR_INVALID_ARGUMENT, "engine is NULL");
  EXPECT_EQ(asr_engine_get_info(nullptr, &info), ASR_INVALID_ARGUMENT);
  asr_engine_close(nullptr);
  asr_stream_config_default(nullptr);
  EXPECT_EQ(asr_open(nullptr, nullptr, &stream), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_feed(nullptr, "", 0), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_finish(nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_cancel(nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_result(nullptr, &event), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_wait(nullptr, 0), ASR_INVALID_ARGUMENT);
  asr_close(nullptr);
  asr_event_free(nullptr);
  EXPECT_EQ(asr_event_get_kind(nullptr), 0);
  EXPECT_EQ(asr_event_status(nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_event_flags(nullptr), 0u);
  EXPECT_EQ(asr_event_time_s(nullptr), 0);
  EXPECT_STREQ(asr_event_text(nullptr), "");
  EXPECT_EQ(asr_event_n_alternatives(nullptr), 0u);
  EXPECT_STREQ(asr_event_alternative_text(nullptr, 0), "");
  EXPECT_EQ(asr_event_alternative_costs(nullptr, 0, nullptr, nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_event_n_words(nullptr, 0), 0u);
  EXPECT_EQ(asr_event_n_stable_words(nullptr), 0u);
  EXPECT_EQ(asr_event_out_of_grammar(nullptr), -1);
  EXPECT_EQ(asr_event_word(nullptr, 0, 0, nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_REFUSED(asr_event_lattice(nullptr, nullptr), ASR_INVALID_ARGUMENT, "event is NULL");
  asr_set_log(nullptr, ASR_LOG_DEBUG, nullptr);
  EXPECT_EQ(engine, nullptr);
  EXPECT_EQ(stream, nullptr);

  const EnginePointer loaded = load_engine();
  EXPECT_REFUSED(asr_engine_get_info(loaded.get(), nullptr), ASR_INVALID_ARGUMENT, "info is NULL");
  EXPECT_REFUSED(asr_open(loaded.get(), nullptr, nullptr), ASR_INVALID_ARGUMENT, "stream is NULL");
  const StreamPointer opened = open_stream(loaded.get());
  EXPECT_REFUSED(asr_feed(opened.get(), nullptr, 1), ASR_INVALID_ARGUMENT, "samples is NULL");
  EXPECT_OK(asr_feed(opened.get(), nullptr, 0));
  EXPECT_REFUSED(asr_result(opened.get(), nullptr), ASR_INVALID_ARGUMENT, "event is NULL");
}

TEST(Misuse, StatusTextIsNeverNull) {
  EXPECT_STREQ(asr_status_text(ASR_OK), "ASR_OK");
  EXPECT_STREQ(asr_status_text(ASR_INTERNAL), "ASR_INTERNAL");
  EXPECT_STREQ(asr_status_text(ASR_BUSY), "ASR_BUSY");
  for (int status = -20; status < 5; ++status) EXPECT_NE(asr_status_text(static_cast<asr_status>(status)), nullptr);
}

TEST(Misuse, CallsOutOfOrder) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get());
  const int16_t sample = 0;
  EXPECT_OK(asr_finish(stream.get()));
  EXPECT_REFUSED(asr_finish(stream.get()), ASR_INVALID_STATE, "finished already");
  EXPECT_REFUSED(asr_feed(stream.get(), &sample, 1), ASR_INVALID_STATE, "was finished");
  poll_all(stream.get());
  EXPECT_REFUSED(asr_wait(stream.get(), 0), ASR_INVALID_STATE, "taken already");
  asr_event *event = nullptr;
  EXPECT_OK(asr_result(stream.get(), &event));
  EXPECT_EQ(event, nullptr);
  EXPECT_OK(asr_cancel(stream.get()));
  EXPECT_OK(asr_result(stream.get(), &event));
  EXPECT_EQ(event, nullptr);
}

TEST(Misuse, WaitingTimesOut) {
  const EnginePointer engine = load_engine();
  const StreamPointer stream = open_stream(engine.get());
  asr_event *event = nullptr;
  ASSERT_OK(asr_wait(stream.get(), 0));
  ASSERT_OK(asr_result(stream.get(), &event));
  EXPECT_EQ(asr_event_get_kind(event), ASR_EVENT_READY);
  EXPECT_EQ(asr_event_n_alternatives(event), 0u);
  EXPECT_STREQ(asr_event_alternative_text(event, 0), "");
  EXPECT_EQ(asr_event_alternative_costs(event, 0, nullptr, nullptr), ASR_INVALID_ARGUMENT);
  asr_event_free(event);
  EXPECT_EQ(asr_wait(stream.get(), 0), ASR_TIMEOUT);
  EXPECT_EQ(asr_wait(stream.get(), 20), ASR_TIMEOUT);
}

TEST(Misuse, StreamConfigsOutOfRange) {
  const EnginePointer engine = load_engine();
  struct Case {
    const char *field;
    void (*spoil)(asr_stream_config *);
    asr_status status;
  };
  const Case cases[] = {
      {"size", [](asr_stream_config *c) { c->size = 0; }, ASR_INVALID_ARGUMENT},
      {"size", [](asr_stream_config *c) { c->size = 7; }, ASR_INVALID_ARGUMENT},
      {"size", [](asr_stream_config *c) { c->size = offsetof(asr_stream_config, beam) - 1; }, ASR_INVALID_ARGUMENT},
      {"size", [](asr_stream_config *c) { c->size = offsetof(asr_stream_config, callback) + 4; }, ASR_INVALID_ARGUMENT},
      {"size", [](asr_stream_config *c) { c->size += 1; }, ASR_INVALID_ARGUMENT},
      {"size", [](asr_stream_config *c) { c->size = 4104; }, ASR_INVALID_ARGUMENT},
      {"size", [](asr_stream_config *c) { c->size = size_t{1} << 63; }, ASR_INVALID_ARGUMENT},
      {"input", [](asr_stream_config *c) { memset(&c->input, 0x11, sizeof(c->input)); }, ASR_INVALID_ARGUMENT},
      {"cmn", [](asr_stream_config *c) { memset(&c->cmn, 0xff, sizeof(c->cmn)); }, ASR_INVALID_ARGUMENT},
      {"sample_rate_hz", [](asr_stream_config *c) { c->sample_rate_hz = 999; }, ASR_INVALID_ARGUMENT},
      {"sample_rate_hz", [](asr_stream_config *c) { c->sample_rate_hz = 768001; }, ASR_INVALID_ARGUMENT},
      {"n_channels", [](asr_stream_config *c) { c->n_channels = 0; }, ASR_INVALID_ARGUMENT},
      {"n_channels", [](asr_stream_config *c) { c->n_channels = 65; }, ASR_INVALID_ARGUMENT},
      {"channel", [](asr_stream_config *c) { c->channel = 1; }, ASR_INVALID_ARGUMENT},
      {"channel", [](asr_stream_config *c) { c->channel = -2; }, ASR_INVALID_ARGUMENT},
      {"vtln_warp", [](asr_stream_config *c) { c->vtln_warp = 0.7f; }, ASR_INVALID_ARGUMENT},
      {"vtln_warp", [](asr_stream_config *c) { c->vtln_warp = NAN; }, ASR_INVALID_ARGUMENT},
      {"beam", [](asr_stream_config *c) { c->beam = -1; }, ASR_INVALID_ARGUMENT},
      {"beam", [](asr_stream_config *c) { c->beam = NAN; }, ASR_INVALID_ARGUMENT},
      {"acoustic_scale", [](asr_stream_config *c) { c->acoustic_scale = INFINITY; }, ASR_INVALID_ARGUMENT},
      {"word_insertion_cost", [](asr_stream_config *c) { c->word_insertion_cost = -INFINITY; }, ASR_INVALID_ARGUMENT},
      {"lattice_beam", [](asr_stream_config *c) { c->lattice_beam = -1; }, ASR_INVALID_ARGUMENT},
      {"lattice_beam", [](asr_stream_config *c) { c->lattice_beam = NAN; }, ASR_INVALID_ARGUMENT},
      {"lattice_beam", [](asr_stream_config *c) { c->n_best = 2; }, ASR_INVALID_ARGUMENT},
      {"n_best", [](asr_stream_config *c) { c->n_best = 10001; }, ASR_INVALID_ARGUMENT},
  };
  for (const Case &c : cases) {
    asr_stream_config config = default_stream();
    c.spoil(&config);
    asr_stream *stream = nullptr;
    EXPECT_REFUSED(asr_open(engine.get(), &config, &stream), c.status, c.field);
    EXPECT_EQ(stream, nullptr);
  }
}

TEST(Misuse, EngineConfigsOutOfRange) {
  struct Case {
    const char *field;
    void (*spoil)(asr_engine_config *);
    asr_status status;
  };
  const Case cases[] = {
      {"max_lanes", [](asr_engine_config *c) { c->max_lanes = 0; }, ASR_INVALID_ARGUMENT},
      {"max_lanes", [](asr_engine_config *c) { c->max_lanes = 1025; }, ASR_INVALID_ARGUMENT},
      {"window_frames", [](asr_engine_config *c) { c->window_frames = 7; }, ASR_INVALID_ARGUMENT},
      {"window_frames", [](asr_engine_config *c) { c->window_frames = 257; }, ASR_INVALID_ARGUMENT},
      {"n_threads", [](asr_engine_config *c) { c->n_threads = 257; }, ASR_INVALID_ARGUMENT},
      {"reserved", [](asr_engine_config *c) { c->reserved = 1; }, ASR_INVALID_ARGUMENT},
      {"nonesuch:0", [](asr_engine_config *c) { c->device = "nonesuch:0"; }, ASR_NO_DEVICE},
  };
  for (const Case &c : cases) {
    asr_engine_config config;
    asr_engine_config_default(&config);
    c.spoil(&config);
    asr_engine *engine = nullptr;
    EXPECT_REFUSED(asr_engine_load(tone_bundle().c_str(), &config, &engine), c.status, c.field);
    EXPECT_EQ(engine, nullptr);
  }
  asr_engine *engine = nullptr;
  EXPECT_REFUSED(asr_engine_load("/no/such/bundle", nullptr, &engine), ASR_NOT_FOUND, "/no/such/bundle");
}

TEST(Misuse, ConfigsOfOtherVersions) {
  const EnginePointer engine = load_engine();
  // A newer program's struct has a field that this library does not know.
  struct {
    asr_stream_config config;
    uint64_t later_field;
  } newer{default_stream(), 0};
  newer.config.size = sizeof(newer);
  asr_stream *stream = nullptr;
  EXPECT_OK(asr_open(engine.get(), &newer.config, &stream));
  asr_close(stream);
  stream = nullptr;
  newer.later_field = uint64_t{1} << 40;
  EXPECT_REFUSED(asr_open(engine.get(), &newer.config, &stream), ASR_UNSUPPORTED, "does not know");
  EXPECT_EQ(stream, nullptr);
  // An older program's struct lacks fields. These have their defaults; the memory behind the struct does not matter.
  asr_stream_config older = default_stream();
  memset(&older.beam, 0xff, sizeof(older) - offsetof(asr_stream_config, beam));
  older.size = offsetof(asr_stream_config, beam);
  EXPECT_OK(asr_open(engine.get(), &older, &stream));
  asr_close(stream);
  // Output structs are filled up to the caller's size.
  asr_engine_info info{};
  info.size = offsetof(asr_engine_info, frame_shift_ms);
  info.frame_shift_ms = -5;
  EXPECT_OK(asr_engine_get_info(engine.get(), &info));
  EXPECT_EQ(info.sample_rate_hz, 16000);
  EXPECT_EQ(info.frame_shift_ms, -5);
  info.size = offsetof(asr_engine_info, frame_shift_ms) + 2;  // in the middle of a field
  EXPECT_REFUSED(asr_engine_get_info(engine.get(), &info), ASR_INVALID_ARGUMENT, "no version of the struct");
  EXPECT_EQ(info.frame_shift_ms, -5);
  info.size = 0;
  EXPECT_REFUSED(asr_engine_get_info(engine.get(), &info), ASR_INVALID_ARGUMENT, "size");
}

TEST(Misuse, LengthsThatWereNegative) {
  const EnginePointer engine = load_engine();
  for (const asr_input input :
       {ASR_INPUT_INT16, ASR_INPUT_FLOAT, ASR_INPUT_FEATURES, ASR_INPUT_LOGLIKES, ASR_INPUT_ULAW, ASR_INPUT_ALAW}) {
    asr_stream_config config = default_stream();
    config.input = input;
    config.n_channels = 2;
    const StreamPointer stream = open_stream(engine.get(), config);
    const std::vector<float> values(1000);
    for (const size_t n :
         {static_cast<size_t>(-1), static_cast<size_t>(INT32_MIN), SIZE_MAX / 2, SIZE_MAX / 4 + 1, size_t{1} << 41}) {
      EXPECT_EQ(asr_feed(stream.get(), values.data(), n), ASR_INVALID_ARGUMENT) << n;
      EXPECT_NE(std::string(asr_last_error()).find("asr_feed: n is " + std::to_string(n)), std::string::npos)
          << asr_last_error();
    }
    EXPECT_OK(asr_feed(stream.get(), values.data(), 2));
  }
}

// An engine logs once that audio has a lower rate than the model.
TEST(Misuse, LowRatesAreInTheLog) {
  static std::vector<std::string> warnings;
  static std::mutex mutex;
  const EnginePointer engine = load_engine();
  asr_set_log(
      [](asr_log_level, const char *message, void *) {
        const std::lock_guard lock(mutex);
        warnings.push_back(message);
      },
      ASR_LOG_WARNING, nullptr);
  asr_stream_config config = default_stream();
  for (const uint32_t rate_hz : {0u, 16000u, 44100u, 8000u, 8000u}) {
    config.sample_rate_hz = rate_hz;
    open_stream(engine.get(), config);
    EXPECT_EQ(warnings.size(), rate_hz == 8000 ? 1u : 0u) << rate_hz;
  }
  asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].rfind("asr_open: audio of 8000 samples a second on a model for 16000", 0), 0u) << warnings[0];
}

// -inf closes a state of one frame; other values, and frames in which nothing is possible, are refused with their place.
TEST(Misuse, LogLikelihoodsThatAreNotFinite) {
  const EnginePointer engine = load_engine();
  asr_engine_info info{};
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(engine.get(), &info));
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_LOGLIKES;
  const StreamPointer stream = open_stream(engine.get(), config);
  std::vector<float> rows(5 * info.n_states, -INFINITY);
  for (size_t t = 0; t < 5; ++t) rows[t * info.n_states + t % info.n_states] = -1;
  EXPECT_OK(asr_feed(stream.get(), rows.data(), 5));
  std::vector<float> bad = rows;
  std::fill_n(bad.begin() + 2 * info.n_states, info.n_states, -INFINITY);
  EXPECT_REFUSED(asr_feed(stream.get(), bad.data(), 5), ASR_BAD_AUDIO, "frame 7: all log-likelihoods are -inf");
  for (const float value : {INFINITY, NAN}) {
    bad = rows;
    bad[3 * info.n_states + 1] = value;
    EXPECT_REFUSED(asr_feed(stream.get(), bad.data(), 5), ASR_BAD_AUDIO, "frame 8: value 1 is ");
  }
}

TEST(Misuse, SamplesThatAreNotFinite) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_FLOAT;
  const StreamPointer clean = open_stream(engine.get(), config), spoilt = open_stream(engine.get(), config);
  std::vector<float> samples;
  for (const int16_t sample : speak("mid low")) samples.push_back(static_cast<float>(sample) / 32768);
  ASSERT_OK(asr_feed(clean.get(), samples.data(), samples.size()));
  std::vector<float> bad = samples;
  bad.back() = NAN;
  const std::string place = "sample " + std::to_string(bad.size() - 1) + " of channel 0 is not a number";
  EXPECT_REFUSED(asr_feed(spoilt.get(), bad.data(), bad.size()), ASR_BAD_AUDIO, place);
  bad.back() = INFINITY;
  EXPECT_REFUSED(asr_feed(spoilt.get(), bad.data(), bad.size()), ASR_BAD_AUDIO, "nothing of this call");
  ASSERT_OK(asr_feed(spoilt.get(), samples.data(), samples.size()));
  ASSERT_OK(asr_finish(clean.get()));
  ASSERT_OK(asr_finish(spoilt.get()));
  EXPECT_EQ(poll_all(spoilt.get()), poll_all(clean.get()));
}

// A stream logs once that its floats are in the range of 16-bit integers.
TEST(Misuse, FloatsFarBeyondFullScaleAreInTheLog) {
  static std::vector<std::string> warnings;
  warnings.clear();
  const EnginePointer engine = load_engine();
  asr_set_log([](asr_log_level, const char *message, void *) { warnings.push_back(message); }, ASR_LOG_WARNING, nullptr);
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_FLOAT;
  for (const float scale : {1 / 32768.0f, 1.5f / 32768.0f, 1.0f}) {
    const StreamPointer stream = open_stream(engine.get(), config);
    std::vector<float> samples;
    for (const int16_t sample : speak("mid low")) samples.push_back(scale * static_cast<float>(sample));
    EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size() / 2));
    EXPECT_OK(asr_feed(stream.get(), samples.data() + samples.size() / 2, samples.size() - samples.size() / 2));
    EXPECT_EQ(warnings.size(), scale == 1 ? 1u : 0u) << scale;
  }
  asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_EQ(warnings[0].rfind("asr_feed: a sample is ", 0), 0u) << warnings[0];
  EXPECT_NE(warnings[0].find("the full scale of floats is -1..1"), std::string::npos) << warnings[0];
}

// A stream of 16-bit samples logs that it is fed something else, whose sound is noise.
TEST(Misuse, OtherBytesInPlaceOfSamplesAreInTheLog) {
  static std::vector<std::string> warnings;
  const EnginePointer engine = load_engine();
  const std::vector<int16_t> samples = speak("mid low");
  std::vector<float> floats;
  for (const int16_t sample : samples) floats.push_back(static_cast<float>(sample) / 32768);
  const auto halves = reinterpret_cast<const int16_t *>(floats.data());
  std::vector<int16_t> flac = samples, noise;
  memcpy(flac.data(), "fLaC", 4);
  std::mt19937 random(1);
  for (size_t i = 0; i < samples.size(); ++i) noise.push_back(static_cast<int16_t>(random()));
  for (const auto &[values, expected] :
       {std::pair(samples, ""), std::pair(noise, ""), std::pair(std::vector<int16_t>(samples.size()), ""),
        std::pair(std::vector<int16_t>(halves, halves + 2 * floats.size()), "the samples look like 32-bit floats"),
        std::pair(flac, "the first samples are the bytes of a file, FLAC")}) {
    warnings.clear();
    asr_set_log([](asr_log_level, const char *message, void *) { warnings.push_back(message); }, ASR_LOG_WARNING, nullptr);
    const StreamPointer stream = open_stream(engine.get(), default_stream());
    for (size_t at = 0; at < values.size(); at += 1000) {
      EXPECT_OK(asr_feed(stream.get(), values.data() + at, std::min<size_t>(1000, values.size() - at)));
    }
    asr_set_log(nullptr, ASR_LOG_ERROR, nullptr);
    ASSERT_EQ(warnings.size(), *expected == 0 ? 0u : 1u) << expected;
    if (*expected != 0) {
      EXPECT_NE(warnings[0].find(expected), std::string::npos) << warnings[0];
    }
  }
}

TEST(Misuse, HugeSamplesAreSurvived) {
  const EnginePointer engine = load_engine();
  asr_stream_config config = default_stream();
  config.input = ASR_INPUT_FLOAT;
  for (const float value : {1e30f, -1e38f, std::numeric_limits<float>::denorm_min()}) {
    const StreamPointer stream = open_stream(engine.get(), config);
    const std::vector<float> samples(16000, value);
    EXPECT_OK(asr_feed(stream.get(), samples.data(), samples.size()));
    EXPECT_OK(asr_finish(stream.get()));
    EXPECT_EQ(poll_all(stream.get()).back().rfind("END", 0), 0u);
  }
}

TEST(Misuse, HardlyAnyAudio) {
  const EnginePointer engine = load_engine();
  for (const size_t n : {0u, 1u, 2u, 159u, 160u, 409u, 410u, 411u}) {
    for (const asr_cmn cmn : {ASR_CMN_MODEL, ASR_CMN_LIVE, ASR_CMN_BATCH}) {
      for (const uint32_t rate_hz : {0u, 48000u}) {
        asr_stream_config config = default_stream();
        config.cmn = cmn;
        config.sample_rate_hz = rate_hz;
        const std::vector<std::string> events = recognize(engine.get(), config, std::vector<int16_t>(n), 100);
        ASSERT_EQ(events.size(), 5u) << n << " samples";
        EXPECT_EQ(final_text(events), "") << n << " samples";
        EXPECT_NE(std::stoul(events[3].substr(events[3].find("flags=") + 6)) & ASR_FLAG_NO_SPEECH, 0u) << events[3];
      }
    }
  }
}

TEST(Misuse, DeviceListsEndSomewhere) {
  asr_device_list *list = nullptr;
  ASSERT_OK(asr_devices(&list));
  asr_device device{};
  device.size = sizeof(device);
  ASSERT_GE(asr_device_list_count(list), 1u);
  ASSERT_OK(asr_device_list_get(list, 0, &device));
  EXPECT_NE(device.id[0], '\0');
  EXPECT_REFUSED(asr_device_list_get(list, asr_device_list_count(list), &device), ASR_INVALID_ARGUMENT, "asr_device_list_get");
  asr_device_list_free(list);
}

}  // namespace
}  // namespace asr::test
