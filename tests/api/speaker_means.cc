// SPDX-License-Identifier: Apache-2.0
// Tests speakers whose model has other means (MLLR). The means are estimated from speech, used by utterances that begin
// later, and freed with the speaker and its streams.
#include <atomic>
#include <cmath>
#include <cstdlib>
#include <thread>

#include "core/engine/speaker.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

using Events = std::vector<std::string>;
using SpeakerPointer = std::unique_ptr<asr_speaker, void (*)(asr_speaker *)>;
const char *const kSaid[] = {"low mid high low", "high high mid", "mid low low high"};

SpeakerPointer new_speaker(asr_engine *engine, uint32_t methods = ASR_SPEAKER_MLLR) {
  asr_speaker *speaker = nullptr;
  EXPECT_OK(asr_speaker_new(engine, &speaker));
  EXPECT_OK(asr_speaker_set_methods(speaker, methods, 0));
  return {speaker, asr_speaker_free};
}

asr_stream_config of(const SpeakerPointer &speaker) {
  asr_stream_config config = default_stream();
  config.speaker = speaker.get();
  return config;
}

std::vector<float> values_of(const SpeakerPointer &speaker, decltype(&asr_speaker_get_transform) get) {
  size_t n = 0;
  EXPECT_OK(get(speaker.get(), nullptr, 0, &n));
  std::vector<float> values(n);
  EXPECT_OK(get(speaker.get(), values.data(), n, &n));
  return values;
}
std::vector<float> of_means(const SpeakerPointer &speaker) { return values_of(speaker, asr_speaker_get_mean_transform); }
std::vector<float> of_rows(const SpeakerPointer &speaker) { return values_of(speaker, asr_speaker_get_transform); }

void set_means(const SpeakerPointer &speaker, const std::vector<float> &values) {
  ASSERT_OK(asr_speaker_set_mean_transform(speaker.get(), values.data(), values.size()));
}
void set_rows(const SpeakerPointer &speaker, const std::vector<float> &values) {
  ASSERT_OK(asr_speaker_set_transform(speaker.get(), values.data(), values.size()));
}

uint32_t n_dims_of(asr_engine *engine) {
  asr_engine_info info;
  info.size = sizeof(info);
  EXPECT_OK(asr_engine_get_info(engine, &info));
  return info.n_feature_dims;
}

// Returns a transform with `scale` on the diagonal that adds `offset` to each value.
std::vector<float> transform(uint32_t n_dims, float scale, float offset) {
  std::vector<float> values;
  for (uint32_t r = 0; r < n_dims; ++r) {
    for (uint32_t c = 0; c < n_dims; ++c) values.push_back(r == c ? scale : 0);
    values.push_back(offset);
  }
  return values;
}

Events hear(asr_engine *engine, const SpeakerPointer &speaker, const std::string &words = "low mid high") {
  return recognize(engine, of(speaker), speak(words), 1600);
}

void say_all(asr_engine *engine, const SpeakerPointer &speaker) {
  for (const char *const words : kSaid) (void)hear(engine, speaker, words);
}

// The acoustic cost of the FINAL.
double cost(const Events &events) {
  for (const std::string &event : events) {
    const size_t at = event.find(" a=");
    if (event.find("FINAL") != std::string::npos && at != std::string::npos) return atof(event.c_str() + at + 3);
  }
  ADD_FAILURE() << "no FINAL with a cost";
  return 0;
}

// The model's own means through a model of the speaker: scores take the way of adapted ones.
TEST(SpeakerMeans, TheIdentityChangesNothing) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer speaker = new_speaker(engine.get());
  set_means(speaker, transform(n_dims_of(engine.get()), 1, 0));
  for (const float lattice_beam : {0.0f, 8.0f}) {
    asr_stream_config plain = default_stream(), known = of(speaker);
    plain.lattice_beam = known.lattice_beam = lattice_beam;
    plain.partial_interval_ms = known.partial_interval_ms = 100;
    const Events expected = recognize(engine.get(), plain, speak("low mid high"), 1600);
    for (const size_t chunk : {160, 1601, 100000}) {
      EXPECT_EQ(final_text(recognize(engine.get(), known, speak("low mid high"), chunk)), "low mid high");
    }
    plain.partial_interval_ms = known.partial_interval_ms = 0;
    EXPECT_EQ(recognize(engine.get(), known, speak("low mid high"), 1600),
              recognize(engine.get(), plain, speak("low mid high"), 1600));
  }
}

// Rows and means that move alike have the scores of neither moving.
TEST(SpeakerMeans, MeansFollowTheRows) {
  const EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  const SpeakerPointer speaker = new_speaker(engine.get());
  const double plain = cost(hear(engine.get(), speaker));
  set_rows(speaker, transform(n, 1, 2));
  const double apart = cost(hear(engine.get(), speaker));
  EXPECT_GT(apart, plain + 10);
  set_means(speaker, transform(n, 1, 2));
  EXPECT_NEAR(cost(hear(engine.get(), speaker)), plain, 1e-3 * std::abs(plain));
  set_rows(speaker, transform(n, 1, 2));  // discards the means, which belong to the rows before
  EXPECT_TRUE(of_means(speaker).empty());
  EXPECT_EQ(cost(hear(engine.get(), speaker)), apart);
  set_means(speaker, transform(n, 1, 2));
  ASSERT_OK(asr_speaker_set_mean_transform(speaker.get(), nullptr, 0));
  EXPECT_TRUE(of_means(speaker).empty());
  EXPECT_EQ(cost(hear(engine.get(), speaker)), apart);
  set_means(speaker, transform(n, 1, 2));
  ASSERT_OK(asr_speaker_set_warp(speaker.get(), 0.9f));
  EXPECT_TRUE(of_means(speaker).empty());
}

// The rows of these voices are affine maps of those that the model knows, and no sentence of them is recognised. It is with
// means that were estimated from what was recognised nevertheless.
TEST(SpeakerMeans, AdaptToAVoice) {
  const EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  for (const auto &[scale, offset] : {std::pair{0.8f, -0.5f}, {0.7f, 0.6f}}) {
    const SpeakerPointer speaker = new_speaker(engine.get());
    set_rows(speaker, transform(n, scale, offset));
    EXPECT_EQ(asr_adapt(speaker.get()), ASR_INVALID_STATE);  // nothing was said
    for (const char *const words : kSaid) EXPECT_NE(final_text(hear(engine.get(), speaker, words)), words);
    const double strange = cost(hear(engine.get(), speaker));
    say_all(engine.get(), speaker);
    ASSERT_OK(asr_adapt(speaker.get()));
    EXPECT_EQ(of_rows(speaker), transform(n, scale, offset));
    ASSERT_EQ(of_means(speaker).size(), n * (n + 1));
    for (const char *const words : kSaid) EXPECT_EQ(final_text(hear(engine.get(), speaker, words)), words);
    const Events adapted = hear(engine.get(), speaker);
    EXPECT_LT(cost(adapted), strange);

    const SpeakerPointer restored = new_speaker(engine.get());
    set_rows(restored, of_rows(speaker));
    set_means(restored, of_means(speaker));
    EXPECT_EQ(hear(engine.get(), restored), adapted);
  }
}

TEST(SpeakerMeans, AreThoseOfTransformedRows) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer speaker = new_speaker(engine.get(), ASR_SPEAKER_FMLLR | ASR_SPEAKER_MLLR);
  const SpeakerPointer rows_only = new_speaker(engine.get(), ASR_SPEAKER_FMLLR);
  for (const SpeakerPointer *each : {&speaker, &rows_only}) {
    say_all(engine.get(), *each);
    ASSERT_OK(asr_adapt(each->get()));
  }
  EXPECT_EQ(of_rows(speaker), of_rows(rows_only));
  EXPECT_FALSE(of_means(speaker).empty());
  EXPECT_TRUE(of_means(rows_only).empty());
  EXPECT_LT(cost(hear(engine.get(), speaker)), cost(hear(engine.get(), rows_only)));
  ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_FMLLR, 0));
  ASSERT_OK(asr_adapt(speaker.get()));
  EXPECT_TRUE(of_means(speaker).empty());  // its means belonged to other rows
}

TEST(SpeakerMeans, TheOrderOfUtterancesDoesNotMatter) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer one = new_speaker(engine.get()), other = new_speaker(engine.get());
  say_all(engine.get(), one);
  std::vector<std::thread> threads;
  for (const char *const words : {kSaid[2], kSaid[0], kSaid[1]}) {
    threads.emplace_back([&, words] { (void)recognize(engine.get(), of(other), speak(words), 500); });
  }
  for (std::thread &thread : threads) thread.join();
  ASSERT_OK(asr_adapt(one.get()));
  ASSERT_OK(asr_adapt(other.get()));
  EXPECT_EQ(of_means(one), of_means(other));
}

TEST(SpeakerMeans, AdaptBetweenUtterances) {
  const EnginePointer engine = load_engine();
  std::vector<int16_t> samples;
  for (const char *const words : kSaid) {
    const std::vector<int16_t> said = speak(words);
    samples.insert(samples.end(), said.begin(), said.end());
    samples.insert(samples.end(), 16000, 0);
  }
  std::vector<Events> found;
  std::vector<std::vector<float>> transforms;
  for (const size_t chunk : {160, 1000000}) {
    const SpeakerPointer speaker = new_speaker(engine.get());
    asr_stream_config config = of(speaker);
    config.endpoint = ASR_ENDPOINT_COMMAND;
    config.adaptation = ASR_ADAPTATION_BETWEEN_UTTERANCES;
    found.push_back(recognize(engine.get(), config, samples, chunk));
    transforms.push_back(of_means(speaker));
    EXPECT_TRUE(of_rows(speaker).empty());
  }
  EXPECT_FALSE(transforms[0].empty());
  EXPECT_EQ(found[1], found[0]);
  EXPECT_EQ(transforms[1], transforms[0]);
}

// Streams of several speakers, and of none, share the steps of an engine.
TEST(SpeakerMeans, SpeakersKeepApart) {
  const EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  std::vector<SpeakerPointer> speakers;
  std::vector<Events> expected;
  for (int i = 0; i < 4; ++i) {
    speakers.push_back(new_speaker(engine.get()));
    if (i > 0) set_means(speakers.back(), transform(n, 1, 0.3f * static_cast<float>(i)));
    expected.push_back(hear(engine.get(), speakers.back()));
    if (i > 0) {
      EXPECT_NE(expected[i], expected[i - 1]);
    }
  }
  std::vector<Events> found(12);
  std::vector<std::thread> threads;
  for (size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] { found[i] = recognize(engine.get(), of(speakers[i % 4]), speak("low mid high"), 800); });
  }
  for (std::thread &thread : threads) thread.join();
  for (size_t i = 0; i < found.size(); ++i) EXPECT_EQ(found[i], expected[i % 4]) << i;
}

// An utterance keeps the means that it began with.
TEST(SpeakerMeans, AreThoseOfUtterancesThatBeginLater) {
  EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  SpeakerPointer speaker = new_speaker(engine.get());
  set_means(speaker, transform(n, 1, 0.5f));
  const Events expected = hear(engine.get(), speaker);
  const StreamPointer stream = open_stream(engine.get(), of(speaker));
  feed(stream.get(), speak("low"), 1600);
  const std::vector<int16_t> all = speak("low mid high");
  ASSERT_OK(asr_reset(stream.get()));
  feed(stream.get(), {all.begin(), all.begin() + 6400}, 1600);
  std::this_thread::sleep_for(std::chrono::milliseconds(200));  // it has begun
  ASSERT_OK(asr_speaker_set_mean_transform(speaker.get(), nullptr, 0));
  speaker.reset();
  engine.reset();
  feed(stream.get(), {all.begin() + 6400, all.end()}, 1600);
  ASSERT_OK(asr_finish(stream.get()));
  EXPECT_EQ(poll_all(stream.get()), expected);
}

EnginePointer load(const std::string &device, const char *fallback, const char *search_device) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = device.c_str();
  config.fallback = fallback;
  config.search_device = search_device;
  config.n_threads = 2;
  asr_engine *engine = nullptr;
  EXPECT_OK(asr_engine_load(tone_bundle().c_str(), &config, &engine));
  return {engine, asr_engine_close};
}

// Streams take the speaker's means if these were wanted when they were opened.
TEST(SpeakerMeans, AreOfStreamsThatAreOpenedLater) {
  const EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  const SpeakerPointer speaker = new_speaker(engine.get(), ASR_SPEAKER_FMLLR);
  const auto heard_by = [](const StreamPointer &stream) {
    feed(stream.get(), speak("low mid high"), 1600);
    EXPECT_OK(asr_finish(stream.get()));
    return poll_all(stream.get());
  };
  const Events plain = hear(engine.get(), speaker);
  const StreamPointer before = open_stream(engine.get(), of(speaker));
  set_means(speaker, transform(n, 1, 0.5f));
  const Events expected = hear(engine.get(), speaker);
  EXPECT_NE(expected, plain);
  EXPECT_EQ(heard_by(before), plain);
  ASSERT_OK(asr_reset(before.get()));
  EXPECT_EQ(heard_by(before), expected);
  ASSERT_OK(asr_speaker_set_mean_transform(speaker.get(), nullptr, 0));
  ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_MLLR, 0));
  const StreamPointer wanting = open_stream(engine.get(), of(speaker));
  set_means(speaker, transform(n, 1, 0.5f));
  EXPECT_EQ(heard_by(wanting), expected);
}

// Another device takes over, with the speaker's means, or searches with their scores.
TEST(SpeakerMeans, AreOnEveryDevice) {
  const EnginePointer plain = load_engine();
  const uint32_t n = n_dims_of(plain.get());
  const SpeakerPointer speaker = new_speaker(plain.get());
  set_means(speaker, transform(n, 1, 0.5f));
  const double expected = cost(hear(plain.get(), speaker));
  for (const char *backend : {"faulty", "overlapping"}) {
    for (const char *fault : {"score 1: lost", "score 5: lost", "none"}) {
      const EnginePointer engine = load(devices_named(backend, fault)[0], "cpu", nullptr);
      EXPECT_NEAR(cost(hear(engine.get(), speaker)), expected, 1e-3 * std::abs(expected)) << backend << " " << fault;
    }
    const EnginePointer split = load(devices_named(backend, "none")[0], nullptr, "cpu");
    EXPECT_NEAR(cost(hear(split.get(), speaker)), expected, 1e-3 * std::abs(expected)) << backend;
  }
}

// A device that scores from samples in one step does so with the engine's own model only; the host makes these rows.
TEST(SpeakerMeans, AreOnADeviceThatMakesRows) {
  const EnginePointer cpu = load_engine(), engine = load_engine(8, 32, "", "stepping:0");
  const uint32_t n = n_dims_of(cpu.get());
  for (const asr_cmn cmn : {ASR_CMN_NONE, ASR_CMN_LIVE}) {
    const SpeakerPointer speaker = new_speaker(cpu.get());
    asr_stream_config config = of(speaker);
    config.cmn = cmn;
    const Events plain = recognize(cpu.get(), config, speak("low mid high"), 1600);
    EXPECT_EQ(recognize(engine.get(), config, speak("low mid high"), 1600), plain);
    set_means(speaker, transform(n, 1, 0.5f));
    const Events expected = recognize(cpu.get(), config, speak("low mid high"), 1600);
    EXPECT_NE(expected, plain);
    for (const size_t chunk : {160, 1601, 100000}) {
      EXPECT_EQ(recognize(engine.get(), config, speak("low mid high"), chunk), expected) << chunk;
    }
  }
}

TEST(SpeakerMeans, MisuseIsRefused) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer speaker = new_speaker(engine.get());
  const uint32_t n = n_dims_of(engine.get());
  size_t n_values = 7;
  EXPECT_EQ(asr_speaker_get_mean_transform(nullptr, nullptr, 0, &n_values), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_get_mean_transform(speaker.get(), nullptr, 0, nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_set_mean_transform(nullptr, nullptr, 0), ASR_INVALID_ARGUMENT);
  std::vector<float> values = transform(n, 1, 0);
  EXPECT_EQ(asr_speaker_set_mean_transform(speaker.get(), nullptr, values.size()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_set_mean_transform(speaker.get(), values.data(), values.size() - 1), ASR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(asr_last_error()).find("asr_speaker_set_mean_transform: n_values is "), std::string::npos);
  values[1] = INFINITY;
  EXPECT_EQ(asr_speaker_set_mean_transform(speaker.get(), values.data(), values.size()), ASR_INVALID_ARGUMENT);
  EXPECT_STREQ(asr_last_error(), "asr_speaker_set_mean_transform: a value is not finite");
  values[1] = 1e20f;
  EXPECT_EQ(asr_speaker_set_mean_transform(speaker.get(), values.data(), values.size()), ASR_INVALID_ARGUMENT);
  EXPECT_STREQ(asr_last_error(),
               "asr_speaker_set_mean_transform: the values move a mean beyond a thousand times the range of the model's rows");
  EXPECT_TRUE(of_means(speaker).empty());
  set_means(speaker, transform(n, 1, 0));
  EXPECT_EQ(asr_speaker_get_mean_transform(speaker.get(), values.data(), 3, &n_values), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(n_values, 7u);
}

// A device of an engine, without the engine.
struct Place {
  const LoadedModel model{tone_bundle(), [] {
                            EngineOptions options;
                            options.device = "cpu";
                            return options;
                          }()};
  std::atomic<int> n_wakes{0};
  Place() {
    model.objects().set_wake([this] { ++n_wakes; });
  }
};

std::shared_ptr<const SpeakerModel> new_model(const Bundle &bundle) {
  const auto model = std::make_shared<const AcousticModel>(read_acoustic_model(bundle));
  return std::make_shared<const SpeakerModel>(model, AdaptedMeans(*model, {}));
}

TEST(SpeakerModel, IsLoadedOnceAndGoesWithItsUsers) {
  Place place;
  std::shared_ptr<const SpeakerModel> one = new_model(place.model.bundle());
  const std::shared_ptr<const SpeakerModel> other = new_model(place.model.bundle());
  std::shared_ptr<asr_backend_acoustic> used = one->on(place.model);
  const std::weak_ptr<asr_backend_acoustic> loaded = used;
  EXPECT_EQ(one->on(place.model), used);
  EXPECT_NE(other->on(place.model), used);
  used.reset();
  place.model.objects().free_unused();
  EXPECT_FALSE(loaded.expired());  // the speaker has it
  used = one->on(place.model);
  one.reset();
  EXPECT_FALSE(loaded.expired());  // the stream has it
  EXPECT_EQ(place.n_wakes, 0);
  used.reset();
  EXPECT_EQ(place.n_wakes, 1);
  place.model.objects().free_unused();
}

TEST(SpeakerModel, OutlivesEngines) {
  std::shared_ptr<const SpeakerModel> model;
  {
    Place place, second;
    model = new_model(place.model.bundle());
    EXPECT_NE(model->on(place.model), model->on(second.model));
  }
  Place third;
  EXPECT_NE(model->on(third.model), nullptr);
  model.reset();
  EXPECT_EQ(third.n_wakes, 1);
}

}  // namespace
}  // namespace asr::test
