// SPDX-License-Identifier: Apache-2.0
// Devices that fail in use (plugins/faulty.cc): the streams concerned end with a reason, others and the process go on.
#include <cstdlib>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Before anything looks for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

struct Outcome {
  size_t n_right = 0, n_failed = 0;
};

// Four streams at once on a device that fails.
Outcome recognize_on(const char *device, asr_status status) {
  const std::vector<int16_t> samples = speak("low high mid low");
  const std::vector<std::string> expected = recognize(load_engine().get(), default_stream(), samples, 1000);
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = device;
  config.window_frames = 8;
  asr_engine *engine = nullptr;
  EXPECT_OK(asr_engine_load(tone_bundle().c_str(), &config, &engine));
  if (engine == nullptr) return {};
  const EnginePointer owner(engine, asr_engine_close);
  std::vector<StreamPointer> streams;
  for (int i = 0; i < 4; ++i) streams.push_back(open_stream(engine));
  for (const StreamPointer &stream : streams) {
    const asr_status fed = asr_feed(stream.get(), samples.data(), samples.size());
    EXPECT_TRUE(fed == ASR_OK || fed == status) << asr_last_error();
    const asr_status finished = asr_finish(stream.get());
    EXPECT_TRUE(finished == ASR_OK || finished == status) << asr_last_error();
  }
  Outcome outcome;
  for (const StreamPointer &stream : streams) {
    const std::vector<std::string> events = poll_all(stream.get());
    if (events == expected) {
      ++outcome.n_right;
    } else if (events.size() >= 3) {
      ++outcome.n_failed;
      EXPECT_EQ(events[events.size() - 2].rfind(std::string("ERROR ") + asr_status_text(status), 0), 0u)
          << events[events.size() - 2];
      EXPECT_NE(events[events.size() - 2].find("a fault made for this test"), std::string::npos);
      EXPECT_EQ(asr_feed(stream.get(), samples.data(), 1), status);
    }
  }
  EXPECT_EQ(outcome.n_right + outcome.n_failed, 4u);
  return outcome;
}

TEST(Failures, OneStreamsFailureHarmsNoOther) {
  for (const char *device : {"faulty:0", "faulty:4"}) {
    const Outcome outcome = recognize_on(device, ASR_OUT_OF_MEMORY);
    EXPECT_EQ(outcome.n_failed, 1u) << device;
  }
}

TEST(Failures, AFailedCallFailsItsStreams) {
  for (const char *device : {"faulty:1", "faulty:5"}) {
    const Outcome outcome = recognize_on(device, ASR_INTERNAL);
    EXPECT_GE(outcome.n_failed, 1u) << device;
  }
}

TEST(Failures, ALostDeviceFailsAllItsStreams) {
  for (const char *device : {"faulty:2", "faulty:3"}) {
    const Outcome outcome = recognize_on(device, ASR_DEVICE_LOST);
    EXPECT_EQ(outcome.n_failed, 4u) << device;
  }
}

TEST(Failures, ADeviceWithoutLatticesSaysSo) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = "faulty:4";
  asr_engine *engine = nullptr;
  ASSERT_OK(asr_engine_load(tone_bundle().c_str(), &config, &engine));
  const EnginePointer owner(engine, asr_engine_close);
  asr_stream_config stream_config = default_stream();
  stream_config.lattice_beam = 8;
  asr_stream *stream = nullptr;
  EXPECT_EQ(asr_open(engine, &stream_config, &stream), ASR_UNSUPPORTED);
  EXPECT_NE(std::string(asr_last_error()).find("faulty:4"), std::string::npos) << asr_last_error();
  EXPECT_EQ(stream, nullptr);
}

}  // namespace
}  // namespace asr::test
