// SPDX-License-Identifier: Apache-2.0
// Tests engines on a device that computes scores from samples in one step (plugins/stepping.cc, with the CPU's arithmetic).
// Events must equal the CPU's to the last bit; failing steps must fail their streams.
#include <thread>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

asr_stream_config stream_of(asr_cmn cmn, uint32_t partial_interval_ms = 130) {
  asr_stream_config config = default_stream();
  config.cmn = cmn;
  config.partial_interval_ms = partial_interval_ms;
  return config;
}

TEST(FusedStep, EventsOfTheCpuForAnyChunks) {
  const std::vector<int16_t> samples = speak("low high mid low low");
  for (const char *device : {"stepping:0", "stepping:3", "stepping:7"}) {
    for (const asr_cmn cmn : {ASR_CMN_NONE, ASR_CMN_LIVE, ASR_CMN_BATCH}) {
      const Events expected = recognize(load_engine().get(), stream_of(cmn), samples, 4000);
      for (const size_t chunk : {1u, 160u, 1000u, 100000u}) {
        EXPECT_EQ(recognize(load_engine(8, 32, "", device).get(), stream_of(cmn), samples, chunk), expected)
            << device << ", chunks of " << chunk;
      }
    }
  }
}

TEST(FusedStep, WindowsChangeNothing) {
  const std::vector<int16_t> samples = speak("mid low high");
  for (const uint32_t partial_ms : {10u, 130u, 1000u}) {
    const Events expected = recognize(load_engine().get(), stream_of(ASR_CMN_LIVE, partial_ms), samples, 4000);
    for (const uint32_t window_frames : {8u, 9u, 256u}) {
      const EnginePointer engine = load_engine(3, window_frames, "", "stepping:0");
      EXPECT_EQ(recognize(engine.get(), stream_of(ASR_CMN_LIVE, partial_ms), samples, 7777), expected) << window_frames;
    }
  }
}

TEST(FusedStep, ShortAndSilentStreams) {
  const EnginePointer cpu = load_engine(), engine = load_engine(8, 32, "", "stepping:0");
  for (const size_t n : {0u, 1u, 100u, 409u, 410u, 2000u}) {
    const std::vector<int16_t> samples(n, 7);
    EXPECT_EQ(recognize(engine.get(), stream_of(ASR_CMN_LIVE), samples, 300),
              recognize(cpu.get(), stream_of(ASR_CMN_LIVE), samples, 300));
  }
}

// The device normalises short streams as a whole, the host longer ones. Lengths are around the limit of the device.
TEST(FusedStep, WholeStreamsOfAnyLength) {
  constexpr size_t kMaxFrames = 150, kShift = 160, kWindow = 410;
  const EnginePointer cpu = load_engine(8, 32, tone_bundle_with_mean());
  const std::vector<int16_t> said = speak("low mid high low mid high low mid high low mid high low mid high low");
  ASSERT_GT(said.size(), 2 * kMaxFrames * kShift);
  for (const uint32_t window_frames : {8u, 32u}) {
    const EnginePointer engine = load_engine(8, window_frames, tone_bundle_with_mean(), "stepping:0");
    for (const size_t n_frames : {kMaxFrames - 1, kMaxFrames, kMaxFrames + 1, kMaxFrames + 40, 2 * kMaxFrames}) {
      const size_t n_samples = kWindow + (n_frames - 1) * kShift;
      const std::vector<int16_t> samples(said.begin(), said.begin() + static_cast<ptrdiff_t>(n_samples));
      const Events expected = recognize(cpu.get(), stream_of(ASR_CMN_BATCH), samples, 4000);
      EXPECT_EQ(final_text(expected).rfind("low mid high", 0), 0u) << final_text(expected);
      for (const size_t chunk : {160u, 7777u, 1000000u}) {
        EXPECT_EQ(recognize(engine.get(), stream_of(ASR_CMN_BATCH), samples, chunk), expected)
            << n_frames << " frames in chunks of " << chunk;
      }
    }
  }
}

// Streams are normalised as a whole by the device, as its failure shows.
TEST(FusedStep, TheDeviceNormalisesWholeStreams) {
  const EnginePointer engine = load_engine(8, 32, "", "stepping:6");
  const StreamPointer stream = open_stream(engine.get(), stream_of(ASR_CMN_BATCH));
  const std::vector<int16_t> samples = speak("high low");
  (void)asr_feed(stream.get(), samples.data(), samples.size());  // the stream may have failed already
  (void)asr_finish(stream.get());
  const Events events = poll_all(stream.get());
  ASSERT_GE(events.size(), 2u);
  EXPECT_NE(events[events.size() - 2].find("a fault of whole signals"), std::string::npos) << events[events.size() - 2];
  EXPECT_EQ(final_text(recognize(engine.get(), stream_of(ASR_CMN_LIVE), samples, 1000)), "high low");
}

// The same calls carry samples whose rows the device makes, samples whose rows the host makes, features and log-likelihoods.
TEST(FusedStep, EveryInputAtOnce) {
  const EnginePointer cpu = load_engine(), engine = load_engine(5, 16, "", "stepping:0");
  asr_engine_info info{};
  info.size = sizeof(info);
  ASSERT_OK(asr_engine_get_info(cpu.get(), &info));
  const auto events_of = [&](asr_engine *of, int i) {
    if (i % 4 < 2) return recognize(of, stream_of(i % 4 == 0 ? ASR_CMN_LIVE : ASR_CMN_BATCH), speak("low mid high"), 500);
    asr_stream_config config = default_stream();
    config.input = i % 4 == 2 ? ASR_INPUT_FEATURES : ASR_INPUT_LOGLIKES;
    const size_t length = i % 4 == 2 ? info.n_feature_dims : 4;
    const StreamPointer stream = open_stream(of, config);
    for (size_t t = 0; t < 90; ++t) {
      std::vector<float> row(length, 0.5f);
      row[t / 30 % length] = 1;
      EXPECT_OK(asr_feed(stream.get(), row.data(), 1));
    }
    EXPECT_OK(asr_finish(stream.get()));
    return poll_all(stream.get());
  };
  std::vector<Events> found(12);
  std::vector<std::thread> threads;
  for (int i = 0; i < 12; ++i) threads.emplace_back([&, i] { found[i] = events_of(engine.get(), i); });
  for (std::thread &thread : threads) thread.join();
  for (int i = 0; i < 12; ++i) EXPECT_EQ(found[i], events_of(cpu.get(), i)) << i;
}

TEST(FusedStep, AStepThatFailsFailsItsStreams) {
  for (const auto &[device, status] : {std::pair("stepping:1", ASR_INTERNAL), std::pair("stepping:2", ASR_DEVICE_LOST)}) {
    const EnginePointer engine = load_engine(8, 8, "", device);
    const StreamPointer stream = open_stream(engine.get(), stream_of(ASR_CMN_LIVE));
    const std::vector<int16_t> silence(6000);
    ASSERT_OK(asr_feed(stream.get(), silence.data(), silence.size()));
    (void)asr_finish(stream.get());  // the stream may have failed already
    const Events events = poll_all(stream.get());
    ASSERT_GE(events.size(), 2u);
    EXPECT_EQ(events[events.size() - 2].rfind(std::string("ERROR ") + asr_status_text(status), 0), 0u)
        << events[events.size() - 2];
    if (status != ASR_INTERNAL) continue;
    EXPECT_EQ(final_text(recognize(engine.get(), stream_of(ASR_CMN_LIVE), speak("high low"), 1000)), "high low");
  }
}

}  // namespace
}  // namespace asr::test
