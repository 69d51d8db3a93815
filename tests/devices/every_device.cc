// SPDX-License-Identifier: Apache-2.0
// Tests engines on every device against the CPU: the same words and events, for any concurrent audio and any chunks. A
// device with the fused step makes the rows of streams that it can normalise. The host makes the others' rows, in the
// same calls.
#include <cmath>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "tests/api/recognizer.h"
#include "tests/api/speakers.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

using Events = std::vector<std::string>;

// One way to use a stream.
struct Use {
  const char *sentence;
  asr_cmn cmn;
  size_t chunk;
  uint32_t partial_interval_ms;
};
constexpr Use kUses[] = {{"low high mid low low", ASR_CMN_NONE, 1000, 130},
                         {"mid", ASR_CMN_LIVE, 160, 200},
                         {"high low", ASR_CMN_BATCH, 1600, 200},
                         {"", ASR_CMN_LIVE, 99, 50},
                         {"low mid high low mid high", ASR_CMN_LIVE, 7777, 0},
                         {"mid mid", ASR_CMN_NONE, 16000, 10}};

std::vector<std::string> other_devices() {
  std::vector<std::string> ids;
  asr_device_list *list = nullptr;
  EXPECT_OK(asr_devices(&list));
  for (size_t i = 0; i < asr_device_list_count(list); ++i) {
    asr_device device{};
    device.size = sizeof(device);
    EXPECT_OK(asr_device_list_get(list, i, &device));
    const std::string id = device.id;
    if (*device.reason == 0 && id.rfind("cpu", 0) != 0) ids.push_back(id);
  }
  asr_device_list_free(list);
  return ids;
}

Events events_of(asr_engine *engine, const Use &use, size_t chunk) {
  asr_stream_config config = default_stream();
  config.cmn = use.cmn;
  config.partial_interval_ms = use.partial_interval_ms;
  return recognize(engine, config, speak(use.sentence), chunk);
}

// An event without its costs, whose last digits differ between devices: its kind, time and text.
Events without_costs(Events events) {
  for (std::string &event : events) event = event.substr(0, event.find(" ["));
  return events;
}

TEST(EveryDevice, HearsWhatTheCpuHears) {
  const std::vector<std::string> devices = other_devices();
  if (devices.empty()) GTEST_SKIP() << "no device but the CPU";
  const EnginePointer cpu = load_engine();
  for (const std::string &id : devices) {
    const EnginePointer alone = load_engine(1, 32, "", id), shared = load_engine(4, 9, "", id);
    std::vector<Events> together(std::size(kUses));
    std::vector<std::thread> threads;
    for (size_t i = 0; i < std::size(kUses); ++i) {
      threads.emplace_back([&, i] { together[i] = events_of(shared.get(), kUses[i], kUses[i].chunk); });
    }
    for (std::thread &thread : threads) thread.join();
    for (size_t i = 0; i < std::size(kUses); ++i) {
      SCOPED_TRACE(id + ": " + kUses[i].sentence);
      EXPECT_EQ(together[i], events_of(alone.get(), kUses[i], 4000));
      EXPECT_EQ(without_costs(together[i]), without_costs(events_of(cpu.get(), kUses[i], 4000)));
    }
  }
}

// Rows depend on the audio alone, and are nearly the CPU's.
TEST(EveryDevice, GivesRowsOfTheCpu) {
  const std::vector<std::string> devices = other_devices();
  if (devices.empty()) GTEST_SKIP() << "no device but the CPU";
  const EnginePointer cpu = load_engine();
  for (const std::string &id : devices) {
    const EnginePointer alone = load_engine(1, 32, "", id), shared = load_engine(4, 9, "", id);
    for (const asr_output output : {ASR_OUTPUT_FEATURES, ASR_OUTPUT_LOGLIKES}) {
      std::vector<GivenRows> together(std::size(kUses));
      std::vector<std::thread> threads;
      const auto rows = [&](asr_engine *engine, size_t i, size_t chunk) {
        asr_stream_config config = giving(output);
        config.cmn = kUses[i].cmn;
        return rows_of(engine, config, speak(kUses[i].sentence), chunk);
      };
      for (size_t i = 0; i < together.size(); ++i) {
        threads.emplace_back([&, i] { together[i] = rows(shared.get(), i, kUses[i].chunk); });
      }
      for (std::thread &thread : threads) thread.join();
      for (size_t i = 0; i < together.size(); ++i) {
        SCOPED_TRACE(id + ": " + kUses[i].sentence);
        EXPECT_EQ(together[i].values, rows(alone.get(), i, 4000).values);
        const GivenRows expected = rows(cpu.get(), i, 4000);
        ASSERT_EQ(together[i].values.size(), expected.values.size());
        for (size_t v = 0; v < expected.values.size(); ++v) {
          ASSERT_NEAR(together[i].values[v], expected.values[v], 2e-3f * (1 + std::fabs(expected.values[v]))) << v;
        }
      }
    }
  }
}

// A speaker's events, and the transform that was learned between utterances.
struct Learned {
  Events events;
  std::vector<float> transform;
};

Learned learn(asr_engine *engine, size_t speaker_number, size_t chunk) {
  const SpeakerPointer speaker = new_speaker(engine);
  asr_stream_config config = of(speaker);
  config.cmn = ASR_CMN_LIVE;
  config.endpoint = ASR_ENDPOINT_COMMAND;
  config.adaptation = ASR_ADAPTATION_BETWEEN_UTTERANCES;
  const std::vector<std::string> sentences = {"low mid high low", "high high mid", "mid low low high", "low mid"};
  std::vector<int16_t> samples;
  for (size_t i = 0; i < sentences.size(); ++i) {
    const std::vector<int16_t> said = speak(sentences[(i + speaker_number) % sentences.size()]);
    samples.insert(samples.end(), said.begin(), said.end());
    samples.insert(samples.end(), 16000, 0);
  }
  Learned learned;
  learned.events = recognize(engine, config, samples, chunk);
  learned.transform = transform_of(speaker);
  return learned;
}

// The device makes, transforms and returns rows of many speakers at once.
TEST(EveryDevice, LearnsAsTheCpuLearns) {
  const std::vector<std::string> devices = other_devices();
  if (devices.empty()) GTEST_SKIP() << "no device but the CPU";
  const EnginePointer cpu = load_engine();
  for (const std::string &id : devices) {
    const EnginePointer alone = load_engine(1, 32, "", id), shared = load_engine(4, 9, "", id);
    std::vector<Learned> together(4);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < together.size(); ++i) {
      threads.emplace_back([&, i] { together[i] = learn(shared.get(), i, 1000 * i + 160); });
    }
    for (std::thread &thread : threads) thread.join();
    for (size_t i = 0; i < together.size(); ++i) {
      SCOPED_TRACE(id + ": speaker " + std::to_string(i));
      const Learned by_itself = learn(alone.get(), i, 4000), by_cpu = learn(cpu.get(), i, 4000);
      EXPECT_EQ(together[i].events, by_itself.events);
      EXPECT_EQ(together[i].transform, by_itself.transform);
      EXPECT_EQ(without_costs(together[i].events), without_costs(by_cpu.events));
      ASSERT_EQ(together[i].transform.size(), by_cpu.transform.size());
      EXPECT_FALSE(by_cpu.transform.empty());
      for (size_t k = 0; k < by_cpu.transform.size(); ++k) {
        EXPECT_NEAR(together[i].transform[k], by_cpu.transform[k], 0.02) << "value " << k;
      }
    }
  }
}

// Collects lines of the log that tell of a search for warps by the CPU.
class WarpsOnTheCpu {
 public:
  WarpsOnTheCpu() {
    asr_set_log(
        [](asr_log_level, const char *message, void *self) {
          const std::string line = message;
          if (line.find("the CPU searches for warps") == std::string::npos) return;
          const std::lock_guard lock(static_cast<WarpsOnTheCpu *>(self)->mutex_);
          static_cast<WarpsOnTheCpu *>(self)->lines_.push_back(line);
        },
        ASR_LOG_INFO, this);
  }
  ~WarpsOnTheCpu() { asr_set_log(nullptr, ASR_LOG_WARNING, nullptr); }
  WarpsOnTheCpu(const WarpsOnTheCpu &) = delete;
  WarpsOnTheCpu &operator=(const WarpsOnTheCpu &) = delete;

  std::vector<std::string> lines() const {
    const std::lock_guard lock(mutex_);
    return lines_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> lines_;
};

float found_warp(asr_engine *engine, double factor, uint32_t n_warps) {
  const SpeakerPointer speaker = new_speaker(engine);
  EXPECT_OK(asr_speaker_set_methods(speaker.get(), ASR_SPEAKER_VTLN, n_warps));
  say_shifted(engine, speaker, factor);
  EXPECT_OK(asr_adapt(speaker.get()));
  return warp_of(speaker);
}

// The device makes the features of all warps and scores them; so it does for several speakers at once.
TEST(EveryDevice, ChoosesTheWarpsThatTheCpuChooses) {
  const std::vector<std::string> devices = other_devices();
  if (devices.empty()) GTEST_SKIP() << "no device but the CPU";
  const EnginePointer cpu = load_engine();
  const std::vector<double> factors = {1.2, 1.1, 1.0, 0.92, 0.85};
  for (const uint32_t n_warps : {11u, 21u}) {
    std::vector<float> expected;
    for (const double factor : factors) expected.push_back(found_warp(cpu.get(), factor, n_warps));
    EXPECT_LT(expected.front(), expected.back());
    for (const std::string &id : devices) {
      SCOPED_TRACE(id);
      const WarpsOnTheCpu on_cpu;
      const EnginePointer engine = load_engine(4, 32, "", id);
      std::vector<float> found(factors.size());
      std::vector<std::thread> threads;
      for (size_t i = 0; i < factors.size(); ++i) {
        threads.emplace_back([&, i] { found[i] = found_warp(engine.get(), factors[i], n_warps); });
      }
      for (std::thread &thread : threads) thread.join();
      EXPECT_EQ(found, expected);
      EXPECT_EQ(on_cpu.lines(), std::vector<std::string>());
    }
  }
}

}  // namespace
}  // namespace asr::test
