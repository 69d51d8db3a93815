// SPDX-License-Identifier: Apache-2.0
// Tests speakers: rows are transformed, transforms are estimated from speech, and a speaker outlives the engine and handle that
// made it.
#include <chrono>
#include <cmath>
#include <filesystem>
#include <thread>

#include "core/model/bundle.h"
#include "tests/api/speakers.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;
// Returns the events of a stream of features.
Events recognize_rows(asr_engine *engine, asr_stream_config config, const std::vector<float> &rows, size_t n_rows) {
  config.input = ASR_INPUT_FEATURES;
  const StreamPointer stream = open_stream(engine, config);
  EXPECT_OK(asr_feed(stream.get(), rows.data(), n_rows));
  EXPECT_OK(asr_finish(stream.get()));
  return poll_all(stream.get());
}

TEST(Speaker, RowsAreTransformed) {
  const EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  constexpr size_t kRows = 100;
  std::vector<float> rows(kRows * n);
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = std::sin(static_cast<float>(i % 97));
  std::vector<float> transformed = rows;
  for (float &value : transformed) value = value * 2 + 0.5f;
  const SpeakerPointer speaker = new_speaker(engine.get());
  const Events plain = recognize_rows(engine.get(), default_stream(), rows, kRows);
  EXPECT_EQ(recognize_rows(engine.get(), of(speaker), rows, kRows), plain);
  set(speaker, transform(n, 2, 0.5f));
  const Events expected = recognize_rows(engine.get(), default_stream(), transformed, kRows);
  EXPECT_NE(expected, plain);
  EXPECT_EQ(recognize_rows(engine.get(), of(speaker), rows, kRows), expected);
  ASSERT_OK(asr_speaker_set_transform(speaker.get(), nullptr, 0));
  EXPECT_TRUE(transform_of(speaker).empty());
  EXPECT_EQ(recognize_rows(engine.get(), of(speaker), rows, kRows), plain);
}

// The identity transform changes no event, in any chunks, with lattices and without.
TEST(Speaker, TheIdentityChangesNothing) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer speaker = new_speaker(engine.get());
  set(speaker, transform(n_dims_of(engine.get()), 1, 0));
  for (const float lattice_beam : {0.0f, 8.0f}) {
    asr_stream_config plain = default_stream(), known = of(speaker);
    plain.lattice_beam = known.lattice_beam = lattice_beam;
    const Events expected = recognize(engine.get(), plain, speak("low mid high"), 1600);
    for (const size_t chunk : {160, 1601, 100000}) {
      EXPECT_EQ(recognize(engine.get(), known, speak("low mid high"), chunk), expected) << chunk;
    }
  }
}

TEST(Speaker, AdaptsToWhatWasSaid) {
  const EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  const SpeakerPointer speaker = new_speaker(engine.get());
  EXPECT_EQ(asr_adapt(speaker.get()), ASR_INVALID_STATE);
  EXPECT_NE(std::string(asr_last_error()).find("asr_adapt: 0 frames of speech"), std::string::npos) << asr_last_error();
  for (const char *const words : {"low mid high low", "high high mid", "mid low low high"}) {
    (void)recognize(engine.get(), of(speaker), speak(words), 1600);
  }
  ASSERT_OK(asr_adapt(speaker.get()));
  const std::vector<float> values = transform_of(speaker);
  ASSERT_EQ(values.size(), n * (n + 1));
  for (const float value : values) EXPECT_TRUE(std::isfinite(value));
  EXPECT_EQ(final_text(recognize(engine.get(), of(speaker), speak("low mid high"), 1600)), "low mid high");
}

TEST(Speaker, TheOrderOfUtterancesDoesNotMatter) {
  const EnginePointer engine = load_engine();
  const std::vector<std::string> said = {"low mid high low", "high high mid", "mid low low high", "high low", "mid mid"};
  const SpeakerPointer one = new_speaker(engine.get()), other = new_speaker(engine.get());
  for (const std::string &words : said) (void)recognize(engine.get(), of(one), speak(words), 1600);
  std::vector<std::thread> threads;
  for (size_t i = said.size(); i-- > 0;) {
    threads.emplace_back([&, i] {
      asr_stream_config config = of(other);
      (void)recognize(engine.get(), config, speak(said[i]), 500);
    });
  }
  for (std::thread &thread : threads) thread.join();
  ASSERT_OK(asr_adapt(one.get()));
  ASSERT_OK(asr_adapt(other.get()));
  EXPECT_EQ(transform_of(one), transform_of(other));
}

TEST(Speaker, AdaptsBetweenUtterances) {
  const EnginePointer engine = load_engine();
  std::vector<int16_t> samples;
  const std::vector<int16_t> pause(16000, 0);
  for (const char *const words : {"low mid high low", "high high mid", "mid low low high", "low mid"}) {
    const std::vector<int16_t> said = speak(words);
    samples.insert(samples.end(), said.begin(), said.end());
    samples.insert(samples.end(), pause.begin(), pause.end());
  }
  for (const float lattice_beam : {0.0f, 8.0f}) {
    std::vector<Events> found;
    std::vector<std::vector<float>> transforms;
    for (const size_t chunk : {160, 16000, 1000000}) {
      const SpeakerPointer speaker = new_speaker(engine.get());
      asr_stream_config config = of(speaker);
      config.endpoint = ASR_ENDPOINT_COMMAND;
      config.adaptation = ASR_ADAPTATION_BETWEEN_UTTERANCES;
      config.lattice_beam = lattice_beam;
      found.push_back(recognize(engine.get(), config, samples, chunk));
      transforms.push_back(transform_of(speaker));
    }
    EXPECT_FALSE(transforms[0].empty());
    EXPECT_EQ(found[1], found[0]);
    EXPECT_EQ(found[2], found[0]);
    EXPECT_EQ(transforms[1], transforms[0]);
    EXPECT_EQ(transforms[2], transforms[0]);
  }
}

TEST(Speaker, OutlivesWhoeverMadeIt) {
  EnginePointer engine = load_engine(), other = load_engine();
  SpeakerPointer speaker = new_speaker(engine.get());
  StreamPointer stream = open_stream(other.get(), of(speaker));
  engine.reset();
  feed(stream.get(), speak("low mid high low high mid"), 1600);
  ASSERT_OK(asr_finish(stream.get()));
  (void)poll_all(stream.get());
  ASSERT_OK(asr_adapt(speaker.get()));
  const StreamPointer last = open_stream(other.get(), of(speaker));
  speaker.reset();
  feed(last.get(), speak("low mid"), 1600);
  ASSERT_OK(asr_reset(last.get()));
  feed(last.get(), speak("low mid"), 1600);
  ASSERT_OK(asr_finish(last.get()));
  EXPECT_EQ(final_text(poll_all(last.get())), "low mid");
}

// The tone bundle with a model of full covariances, which has the graph of the other.
std::string bundle_with_full_covariances() {
  std::string path = tone_bundle() + "/full_with_graph";
  std::filesystem::create_directories(path);
  const auto copy = [&](const std::string &from, const char *name) {
    std::filesystem::copy_file(from + "/" + name, path + "/" + name, std::filesystem::copy_options::overwrite_existing);
  };
  copy(tone_model_bundle(ToneModel::kFull), "acoustic.bin");
  for (const char *name : {"graph.bin", "words.txt", "phones.txt"}) copy(tone_bundle(), name);
  write_bundle_index(read_bundle_index(tone_bundle()), path, {"acoustic.bin", "graph.bin", "words.txt", "phones.txt"});
  return path;
}

// Its covariances have nothing beside the diagonal, so that warps are as likely as with the diagonal model.
TEST(Speaker, AdaptsFullCovariances) {
  const EnginePointer full = load_engine(8, 32, bundle_with_full_covariances()), diagonal = load_engine();
  std::vector<float> warps;
  for (asr_engine *engine : {full.get(), diagonal.get()}) {
    const SpeakerPointer speaker = new_speaker(engine);
    ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN, 21));
    say_shifted(engine, speaker, 1.2);
    ASSERT_OK(asr_adapt(speaker.get()));
    warps.push_back(warp_of(speaker));
  }
  EXPECT_LT(warps[0], 1);
  EXPECT_EQ(warps[0], warps[1]);
  for (const uint32_t methods : {ASR_SPEAKER_FMLLR, ASR_SPEAKER_MLLR}) {
    const SpeakerPointer speaker = new_speaker(full.get());
    ASSERT_OK(asr_speaker_set_methods(speaker.get(), methods, 0));
    for (const char *const words : {"low mid high low", "high high mid", "mid low low high"}) {
      (void)recognize(full.get(), of(speaker), speak(words), 1600);
    }
    ASSERT_OK(asr_adapt(speaker.get()));
    EXPECT_EQ(transform_of(speaker).empty(), methods == ASR_SPEAKER_MLLR);
    for (const float value : transform_of(speaker)) EXPECT_TRUE(std::isfinite(value));
    EXPECT_EQ(final_text(recognize(full.get(), of(speaker), speak("low mid high"), 1600)), "low mid high");
  }
}

TEST(Speaker, MisuseIsRefused) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer speaker = new_speaker(engine.get());
  const uint32_t n = n_dims_of(engine.get());
  asr_speaker *made = nullptr;
  size_t n_values = 0;
  EXPECT_EQ(asr_speaker_new(nullptr, &made), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_new(engine.get(), nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_adapt(nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_get_transform(nullptr, nullptr, 0, &n_values), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_get_transform(speaker.get(), nullptr, 0, nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_set_transform(nullptr, nullptr, 0), ASR_INVALID_ARGUMENT);
  asr_speaker_free(nullptr);
  std::vector<float> values = transform(n, 1, 0);
  EXPECT_EQ(asr_speaker_set_transform(speaker.get(), nullptr, values.size()), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_set_transform(speaker.get(), values.data(), values.size() - 1), ASR_INVALID_ARGUMENT);
  values[1] = NAN;
  EXPECT_EQ(asr_speaker_set_transform(speaker.get(), values.data(), values.size()), ASR_INVALID_ARGUMENT);
  EXPECT_STREQ(asr_last_error(), "asr_speaker_set_transform: a value is not finite");
  values[1] = 0;
  set(speaker, values);
  EXPECT_EQ(asr_speaker_get_transform(speaker.get(), values.data(), 3, &n_values), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(n_values, 0u);

  asr_stream *stream = nullptr;
  asr_stream_config config = of(speaker);
  config.adaptation = ASR_ADAPTATION_BETWEEN_UTTERANCES;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);  // no endpoint
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.speaker = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
  config = of(speaker);
  config.input = ASR_INPUT_LOGLIKES;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
  config = of(speaker);
  config.reserved2 = 1;
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
  config = of(speaker);
  config.adaptation = static_cast<asr_adaptation>(3);
  EXPECT_EQ(asr_open(engine.get(), &config, &stream), ASR_INVALID_ARGUMENT);
}

// The warp moves in the right direction; golden tests with real voices check its size.
TEST(SpeakerWarp, FollowsTheVoice) {
  const EnginePointer engine = load_engine();
  for (const uint32_t n_warps : {11u, 21u}) {
    for (const float lattice_beam : {0.0f, 8.0f}) {
      std::vector<float> warps;
      for (const double factor : {1.2, 1.0, 0.85}) {
        const SpeakerPointer speaker = new_speaker(engine.get());
        ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN, n_warps));
        say_shifted(engine.get(), speaker, factor, lattice_beam);
        ASSERT_OK(asr_adapt(speaker.get()));
        EXPECT_TRUE(transform_of(speaker).empty());
        warps.push_back(warp_of(speaker));
      }
      EXPECT_LT(warps[0], warps[2]);
      EXPECT_LE(warps[0], warps[1]);
      EXPECT_LE(warps[1], warps[2]);
    }
  }
}

// A stream with endpoints has utterances at any offset, one of them so long that not all of its sound is kept.
TEST(SpeakerWarp, IsFoundWithinAStream) {
  const EnginePointer engine = load_engine();
  std::string many = "low mid high";
  for (int i = 0; i < 40; ++i) many += " mid low high";
  std::vector<int16_t> samples;
  for (const std::string &words : {std::string("low mid high low"), many, std::string("mid low low high")}) {
    const std::vector<int16_t> said = speak(words);
    samples.insert(samples.end(), said.begin(), said.end());
    samples.insert(samples.end(), 20000, 0);
  }
  std::vector<float> warps;
  for (const size_t chunk : {160, 1600000}) {
    const SpeakerPointer speaker = new_speaker(engine.get());
    ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN, 21));
    asr_stream_config config = of(speaker);
    config.endpoint = ASR_ENDPOINT_CAPTIONS;
    config.longest_utterance_ms = 300000;
    config.sample_rate_hz = 19200;
    (void)recognize(engine.get(), config, samples, chunk);
    ASSERT_OK(asr_adapt(speaker.get()));
    warps.push_back(warp_of(speaker));
  }
  EXPECT_LT(warps[0], 1);
  EXPECT_EQ(warps[1], warps[0]);
}

TEST(SpeakerWarp, IsThatOfStreamsThatBeginLater) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer speaker = new_speaker(engine.get());
  asr_stream_config warped = default_stream(), both = of(speaker);
  warped.vtln_warp = both.vtln_warp = 0.9f;
  const Events plain = recognize(engine.get(), default_stream(), speak("low mid"), 1600);
  const Events expected = recognize(engine.get(), warped, speak("low mid"), 1600);
  ASSERT_NE(expected, plain);
  const StreamPointer before = open_stream(engine.get(), of(speaker));
  ASSERT_OK(asr_speaker_set_warp(speaker.get(), 0.9f));
  EXPECT_EQ(recognize(engine.get(), of(speaker), speak("low mid"), 1600), expected);
  feed(before.get(), speak("low mid"), 1600);
  ASSERT_OK(asr_finish(before.get()));
  EXPECT_EQ(poll_all(before.get()), plain);
  EXPECT_EQ(recognize(engine.get(), both, speak("low mid"), 1600), expected);
  ASSERT_OK(asr_speaker_set_warp(speaker.get(), 1.2f));
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine.get(), &both, &stream), ASR_INVALID_ARGUMENT);
  EXPECT_STREQ(asr_last_error(),
               "asr_open: asr_stream_config.vtln_warp is 0.9, but its speaker's warp is 1.2; set it by "
               "asr_speaker_set_warp");
  ASSERT_OK(asr_reset(before.get()));
  feed(before.get(), speak("low mid"), 1600);
  ASSERT_OK(asr_finish(before.get()));
  EXPECT_NE(poll_all(before.get()), plain);
}

// Sums of an abandoned search do not enter the next one.
TEST(SpeakerWarp, AnotherSearchBeginsAnew) {
  const EnginePointer engine = load_engine();
  std::string many = "low";
  for (int i = 0; i < 30; ++i) many += " mid low high";
  for (int delay_ms = 0; delay_ms < 20; delay_ms += 2) {
    const SpeakerPointer speaker = new_speaker(engine.get());
    ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN, 11));
    const StreamPointer stream = open_stream(engine.get(), of(speaker));
    feed(stream.get(), speak(many), 16000);
    ASSERT_OK(asr_finish(stream.get()));
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN, 21));
    (void)poll_all(stream.get());
    const asr_status status = asr_adapt(speaker.get());
    if (status == ASR_OK) {
      EXPECT_NEAR(warp_of(speaker), 1, 0.07);
    } else {
      EXPECT_EQ(status, ASR_INVALID_STATE);
    }
  }
}

// A transform is valid for rows of one warp.
TEST(SpeakerWarp, GoesBeforeTheTransform) {
  const EnginePointer engine = load_engine();
  const uint32_t n = n_dims_of(engine.get());
  const SpeakerPointer speaker = new_speaker(engine.get());
  ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN | ASR_SPEAKER_FMLLR, 21));
  set(speaker, transform(n, 1, 0.5f));
  ASSERT_OK(asr_speaker_set_warp(speaker.get(), 1));
  EXPECT_FALSE(transform_of(speaker).empty());  // kept, as the warp was already 1
  say_shifted(engine.get(), speaker, 1.2);
  ASSERT_OK(asr_adapt(speaker.get()));
  EXPECT_LT(warp_of(speaker), 1);
  EXPECT_TRUE(transform_of(speaker).empty());
  EXPECT_EQ(asr_adapt(speaker.get()), ASR_INVALID_STATE);  // the earlier speech has other rows under this warp
  say_shifted(engine.get(), speaker, 1.2);
  ASSERT_OK(asr_adapt(speaker.get()));
  EXPECT_EQ(transform_of(speaker).size(), n * (n + 1));
}

TEST(SpeakerWarp, MisuseIsRefused) {
  const EnginePointer engine = load_engine();
  const SpeakerPointer speaker = new_speaker(engine.get());
  float warp = 0;
  EXPECT_EQ(asr_speaker_get_warp(nullptr, &warp), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_get_warp(speaker.get(), nullptr), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(asr_speaker_set_warp(nullptr, 1), ASR_INVALID_ARGUMENT);
  for (const float wrong : {0.5f, 1.3f, NAN, -1.0f, INFINITY}) {
    EXPECT_EQ(asr_speaker_set_warp(speaker.get(), wrong), ASR_INVALID_ARGUMENT) << wrong;
  }
  EXPECT_EQ(warp_of(speaker), 1);
  EXPECT_EQ(asr_speaker_set_methods(nullptr, ASR_SPEAKER_FMLLR, 0), ASR_INVALID_ARGUMENT);
  for (const auto &[methods, n_warps] :
       {std::pair{0u, 0u}, {8u, 0u}, {9u, 0u}, {4u, 11u}, {1u, 11u}, {2u, 0u}, {2u, 1u}, {3u, 46u}}) {
    EXPECT_EQ(asr_speaker_set_methods(speaker.get(), methods, n_warps), ASR_INVALID_ARGUMENT) << methods << " " << n_warps;
  }
  ASSERT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN, 11));
  EXPECT_EQ(asr_adapt(speaker.get()), ASR_INVALID_STATE);
  EXPECT_NE(std::string(asr_last_error()).find("asr_adapt: 0 frames of speech"), std::string::npos) << asr_last_error();
}

}  // namespace
}  // namespace asr::test
