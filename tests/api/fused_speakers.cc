// SPDX-License-Identifier: Apache-2.0
// Tests speakers on a device that makes and transforms their rows itself (plugins/stepping.cc, with the CPU's arithmetic).
// Events and learned transforms must equal the CPU's to the last bit.
#include <string>
#include <utility>
#include <vector>

#include "tests/api/recognizer.h"
#include "tests/api/speakers.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

// The results of a speaker's streams, and the transforms learned from them.
struct Learned {
  std::vector<Events> events;
  std::vector<std::vector<float>> transforms;
  float warp = 1;
  bool operator==(const Learned &other) const {
    return events == other.events && transforms == other.transforms && warp == other.warp;
  }
};

asr_stream_config stream_of(const SpeakerPointer &speaker, float lattice_beam, asr_cmn cmn = ASR_CMN_LIVE) {
  asr_stream_config config = of(speaker);
  config.cmn = cmn;
  config.partial_interval_ms = 130;
  config.lattice_beam = lattice_beam;
  return config;
}

// Recognises, adapts, and recognises again, with streams of one utterance.
Learned adapt_between_streams(const std::string &device, uint32_t methods, float lattice_beam, size_t chunk, asr_cmn cmn) {
  const EnginePointer engine = load_engine(4, 16, cmn == ASR_CMN_BATCH ? tone_bundle_with_mean() : "", device);
  const SpeakerPointer speaker = new_speaker(engine.get());
  EXPECT_OK(asr_speaker_set_methods(speaker.get(), methods, methods == ASR_SPEAKER_VTLN ? 11 : 0));
  Learned learned;
  for (int pass = 0; pass < 2; ++pass) {
    for (const char *const words : {"low mid high low mid", "high high mid low", "mid low low high low"}) {
      learned.events.push_back(recognize(engine.get(), stream_of(speaker, lattice_beam, cmn), speak(words), chunk));
    }
    EXPECT_OK(asr_adapt(speaker.get()));
    learned.transforms.push_back(transform_of(speaker));
  }
  learned.warp = warp_of(speaker);
  return learned;
}

// Recognises utterances of one stream, whose later ones have other transforms than its first.
Learned adapt_between_utterances(const std::string &device, float lattice_beam, size_t chunk) {
  const EnginePointer engine = load_engine(4, 16, "", device);
  std::vector<int16_t> samples;
  for (const char *const words : {"low mid high low", "high high mid", "mid low low high", "low mid"}) {
    const std::vector<int16_t> said = speak(words);
    samples.insert(samples.end(), said.begin(), said.end());
    samples.insert(samples.end(), 16000, 0);
  }
  const SpeakerPointer speaker = new_speaker(engine.get());
  asr_stream_config config = stream_of(speaker, lattice_beam);
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.adaptation = ASR_ADAPTATION_BETWEEN_UTTERANCES;
  Learned learned;
  learned.events.push_back(recognize(engine.get(), config, samples, chunk));
  learned.transforms.push_back(transform_of(speaker));
  return learned;
}

void expect_what_the_cpu_learns(uint32_t methods, float lattice_beam, asr_cmn cmn) {
  const Learned expected = adapt_between_streams("cpu", methods, lattice_beam, 1600, cmn);
  EXPECT_EQ(expected.transforms[0].empty(), methods == ASR_SPEAKER_VTLN);
  const std::pair<const char *, size_t> trials[] = {{"stepping:0", 160}, {"stepping:3", 100000}, {"stepping:4", 1000}};
  for (const auto &[device, chunk] : trials) {
    EXPECT_EQ(adapt_between_streams(device, methods, lattice_beam, chunk, cmn), expected) << device << ", " << chunk;
  }
}

TEST(FusedSpeakers, LearnAsOnTheCpu) {
  for (const float lattice_beam : {0.0f, 8.0f}) {
    expect_what_the_cpu_learns(ASR_SPEAKER_FMLLR, lattice_beam, ASR_CMN_LIVE);
    expect_what_the_cpu_learns(ASR_SPEAKER_VTLN, lattice_beam, ASR_CMN_LIVE);
  }
}

// Some of the streams are too long for the device.
TEST(FusedSpeakers, LearnOfWholeStreamsAsOnTheCpu) {
  expect_what_the_cpu_learns(ASR_SPEAKER_FMLLR, 0, ASR_CMN_BATCH);
  expect_what_the_cpu_learns(ASR_SPEAKER_VTLN, 8, ASR_CMN_BATCH);
}

TEST(FusedSpeakers, LearnBetweenUtterancesAsOnTheCpu) {
  for (const float lattice_beam : {0.0f, 8.0f}) {
    const Learned expected = adapt_between_utterances("cpu", lattice_beam, 1600);
    EXPECT_FALSE(expected.transforms[0].empty());
    const std::pair<const char *, size_t> trials[] = {{"stepping:0", 160}, {"stepping:0", 1000000}, {"stepping:4", 16000}};
    for (const auto &[device, chunk] : trials) {
      EXPECT_EQ(adapt_between_utterances(device, lattice_beam, chunk), expected) << device << ", " << chunk;
    }
  }
}

// The device transforms the rows of a speaker's stream, as its failure shows; other streams do not notice.
TEST(FusedSpeakers, TheDeviceTransforms) {
  const EnginePointer engine = load_engine(4, 16, "", "stepping:5");
  const SpeakerPointer speaker = new_speaker(engine.get());
  const std::vector<int16_t> samples = speak("high low");
  EXPECT_EQ(final_text(recognize(engine.get(), stream_of(speaker, 0), samples, 1000)), "high low");
  set(speaker, transform(n_dims_of(engine.get()), 1, 0));
  const StreamPointer stream = open_stream(engine.get(), stream_of(speaker, 0));
  (void)asr_feed(stream.get(), samples.data(), samples.size());  // the stream may have failed already
  (void)asr_finish(stream.get());
  const Events events = poll_all(stream.get());
  ASSERT_GE(events.size(), 2u);
  EXPECT_NE(events[events.size() - 2].find("a fault of transforms made for this test"), std::string::npos)
      << events[events.size() - 2];
  EXPECT_EQ(final_text(recognize(engine.get(), default_stream(), samples, 1000)), "high low");
  ASSERT_OK(asr_speaker_set_transform(speaker.get(), nullptr, 0));
  EXPECT_EQ(final_text(recognize(engine.get(), stream_of(speaker, 0), samples, 1000)), "high low");
}

// A transform that changes the words of its own stream alone.
TEST(FusedSpeakers, OthersAreNotTransformed) {
  const EnginePointer cpu = load_engine(), engine = load_engine(4, 16, "", "stepping:0");
  const std::vector<int16_t> samples = speak("low mid high");
  std::vector<Events> found[2];
  for (asr_engine *const of_engine : {cpu.get(), engine.get()}) {
    const SpeakerPointer one = new_speaker(of_engine), other = new_speaker(of_engine);
    set(one, transform(n_dims_of(of_engine), 0.5f, 1));
    set(other, transform(n_dims_of(of_engine), 1.5f, -1));
    std::vector<Events> &events = found[of_engine == engine.get() ? 1 : 0];
    std::vector<StreamPointer> streams;
    streams.push_back(open_stream(of_engine, stream_of(one, 0)));
    streams.push_back(open_stream(of_engine, stream_of(other, 0)));
    asr_stream_config plain = stream_of(one, 0);
    plain.speaker = nullptr;
    streams.push_back(open_stream(of_engine, plain));
    for (const StreamPointer &stream : streams) feed(stream.get(), samples, 5000);
    for (const StreamPointer &stream : streams) EXPECT_OK(asr_finish(stream.get()));
    for (const StreamPointer &stream : streams) events.push_back(poll_all(stream.get()));
  }
  EXPECT_EQ(found[1], found[0]);
  EXPECT_NE(found[0][0], found[0][2]);
  EXPECT_NE(found[0][1], found[0][2]);
}

}  // namespace
}  // namespace asr::test
