// SPDX-License-Identifier: Apache-2.0
// Tests the choice of a device, with back ends made here.
#include "core/backend/registry.h"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <thread>

#include "core/backend/plugin_loader.h"
#include "core/base/error.h"

namespace asr {
namespace {

int n_slow_probes = 0;

// A back end with one device per score.
template <int32_t... kScores>
asr_status probe(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  const int32_t scores[] = {kScores...};
  *n_devices = sizeof...(kScores);
  for (size_t i = 0; i < capacity && i < *n_devices; ++i) {
    infos[i].score = scores[i];
    snprintf(infos[i].name, sizeof(infos[i].name), "device with score %d", scores[i]);
  }
  return ASR_OK;
}

asr_status probe_slow(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  ++n_slow_probes;
  return probe<500>(infos, capacity, n_devices);
}

std::atomic<int> n_probing{0}, max_probing{0};

asr_status probe_counting(asr_backend_device_info *infos, size_t capacity, size_t *n_devices) {
  const int n = ++n_probing;
  if (n > max_probing) max_probing = n;
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  --n_probing;
  return probe<500>(infos, capacity, n_devices);
}

asr_status probe_none(asr_backend_device_info *, size_t, size_t *) { return ASR_OK; }

asr_backend_api table(decltype(asr_backend_api::probe) probe) {
  asr_backend_api api{};
  api.probe = probe;
  api.last_error = []() -> const char * { return "no driver"; };
  return api;
}

const asr_backend_api kCpu = table(probe<10>), kGpu = table(probe<100, 300, 0, 300>), kOther = table(probe<300>),
                      kSlow = table(probe_slow), kCounting = table(probe_counting), kNone = table(probe_none);

const Backend cpu{"cpu", "", &kCpu, ""}, gpu{"gpu", "/p", &kGpu, ""}, other{"other", "/o", &kOther, ""},
    slow{"slow", "/s", &kSlow, ""}, counting{"counting", "/c", &kCounting, ""}, none{"none", "/n", &kNone, ""},
    broken{"broken", "/b", nullptr, "/b: broken file"};

std::string chosen(const std::vector<Backend> &backends, const std::string &wanted = "") {
  return choose_device(backends, wanted, "device").id;
}

std::string failure(const std::vector<Backend> &backends, const std::string &wanted) {
  try {
    return "chose " + chosen(backends, wanted);
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_NO_DEVICE);
    return error.what();
  }
}

// Engines may be loaded on several threads at once.
TEST(Choice, ProbesComeOneAfterTheOther) {
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) threads.emplace_back([] { EXPECT_EQ(chosen({counting}), "counting:0"); });
  for (std::thread &thread : threads) thread.join();
  EXPECT_EQ(max_probing, 1);
}

TEST(Choice, HighestScoreFirstOfEquals) {
  EXPECT_EQ(chosen({cpu}), "cpu:0");
  EXPECT_EQ(chosen({cpu, gpu}), "gpu:1");
  EXPECT_EQ(chosen({cpu, gpu, other}), "gpu:1");
  EXPECT_EQ(chosen({other, cpu, gpu}), "other:0");
  EXPECT_EQ(chosen({broken, none, cpu}), "cpu:0");
}

TEST(Choice, NamedBackEndMeansItsBestDevice) {
  EXPECT_EQ(chosen({cpu, gpu, other}, "gpu"), "gpu:1");
  EXPECT_EQ(chosen({cpu, gpu, other}, "cpu"), "cpu:0");
}

TEST(Choice, NamedDeviceIsTakenWhateverItsScore) {
  EXPECT_EQ(chosen({cpu, gpu}, "gpu:0"), "gpu:0");
  EXPECT_EQ(chosen({cpu, gpu}, "cpu:0"), "cpu:0");
}

TEST(Choice, OnlyTheNamedBackEndIsProbed) {
  n_slow_probes = 0;
  EXPECT_EQ(chosen({cpu, slow}, "cpu"), "cpu:0");
  EXPECT_EQ(n_slow_probes, 0);
  EXPECT_EQ(chosen({cpu, slow}), "slow:0");
  EXPECT_EQ(n_slow_probes, 1);
}

TEST(Choice, NoFallbackFromANamedDevice) {
  EXPECT_EQ(failure({cpu, none}, "none"), "device \"none\": none: no driver; usable here: cpu:0 (device with score 10)");
  EXPECT_EQ(failure({cpu, broken}, "broken:0"),
            "device \"broken:0\": /b: broken file; usable here: cpu:0 (device with score 10)");
  EXPECT_EQ(failure({cpu}, "cuda:1"),
            "device \"cuda:1\": no back end \"cuda\" was found; usable here: cpu:0 (device with score 10)");
  EXPECT_EQ(failure({cpu}, "cpu:1"),
            "device \"cpu:1\": back end cpu has no such device; usable here: cpu:0 (device with score 10)");
  EXPECT_NE(failure({gpu}, "gpu:2").find("gpu:2: the back end cannot use this device"), std::string::npos);
}

TEST(Choice, NothingUsable) {
  EXPECT_EQ(failure({none, broken}, ""), "no device is usable: none: no driver; /b: broken file");
  EXPECT_EQ(failure({}, ""), "no device is usable: no back end was found");
  EXPECT_EQ(failure({}, "cpu"), "device \"cpu\": no back end \"cpu\" was found; no device is usable here");
}

TEST(Choice, VariableNamesTheDevice) {
  setenv("SENONE_DEVICE", "cuda:7", 1);
  try {
    choose_device("");
    ADD_FAILURE() << "chose a device";
  } catch (const Error &error) {
    EXPECT_EQ(std::string(error.what()).rfind("SENONE_DEVICE \"cuda:7\": ", 0), 0u) << error.what();
  }
  EXPECT_EQ(choose_device("cpu").id, "cpu:0");  // the configuration has precedence
  unsetenv("SENONE_DEVICE");
}

TEST(Devices, OneThatCannotBeOpenedGivesWayToTheNext) {
  asr_backend_api failing = kGpu, opening = kCpu;
  failing.open = [](uint32_t, const asr_backend_options *, asr_backend_device **) { return ASR_UNSUPPORTED; };
  opening.open = [](uint32_t index, const asr_backend_options *, asr_backend_device **device) {
    *device = reinterpret_cast<asr_backend_device *>(uintptr_t{index} + 1);  // NOLINT(performance-no-int-to-ptr): a handle
    return ASR_OK;
  };
  failing.close = opening.close = [](asr_backend_device *) {};
  const asr_backend_options options{};
  const std::vector<DeviceEntry> both = list_devices({Backend{"gpu", "/p", &failing, ""}, Backend{"cpu", "", &opening, ""}});
  EXPECT_EQ(Device(std::vector<DeviceEntry>{both[0], both[3]}, options).entry().id, "cpu:0");
  try {
    const Device device(std::vector<DeviceEntry>{both[0], both[1]}, options);
    ADD_FAILURE() << "opened";
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_UNSUPPORTED);
    EXPECT_EQ(std::string(error.what()), both[1].id + ": no driver");
  }
}

TEST(Devices, UsableOnesFirstThenRejectedOnesWithReasons) {
  std::vector<std::string> ids;
  for (const DeviceEntry &entry : list_devices({broken, cpu, none, gpu})) {
    ids.push_back(entry.id);
    EXPECT_EQ(entry.reason.empty(), entry.api != nullptr) << entry.id;
    EXPECT_EQ(entry.reason.empty(), entry.info.score > 0) << entry.id;
  }
  EXPECT_EQ(ids, (std::vector<std::string>{"gpu:1", "gpu:3", "gpu:0", "cpu:0", "broken", "none", "gpu:2"}));
}

}  // namespace
}  // namespace asr
