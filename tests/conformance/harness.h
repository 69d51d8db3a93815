// SPDX-License-Identifier: Apache-2.0
// Common code of the conformance cases. A case is written once with TEST_P on a fixture derived from BackendTest and runs on
// every usable device; SENONE_INSTANTIATE(Fixture) names the instances. An unusable back end is a skipped test with its reason.
//
//   class MfccTest : public BackendTest {};
//   TEST_P(MfccTest, OneFrame) { auto device = open(); ... check(api().extract(device.get(), ...)); }
//   SENONE_INSTANTIATE(MfccTest);
#pragma once

#include <gtest/gtest.h>

#include <cctype>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/asr_backend_bench.h"
#include "core/backend/registry.h"

namespace asr::test {

// An array between two guard bands, filled with a pattern that is a NaN as float or double. Unwritten elements and writes
// outside both show.
template <typename T>
class Guarded {
 public:
  explicit Guarded(size_t n) : n_(n), bytes_(2 * kBand + n * sizeof(T), kPattern) {}

  T *data() { return reinterpret_cast<T *>(bytes_.data() + kBand); }
  const T *data() const { return reinterpret_cast<const T *>(bytes_.data() + kBand); }
  size_t size() const { return n_; }
  T &operator[](size_t i) { return data()[i]; }
  const T &operator[](size_t i) const { return data()[i]; }

  bool bands_intact() const {
    for (size_t i = 0; i < kBand; ++i) {
      if (bytes_[i] != kPattern || bytes_[bytes_.size() - 1 - i] != kPattern) return false;
    }
    return true;
  }
  // Returns the number of elements that still hold the pattern.
  size_t n_unwritten() const {
    const std::vector<uint8_t> pattern(sizeof(T), kPattern);
    size_t n = 0;
    // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bytes are compared, not values
    for (size_t i = 0; i < n_; ++i) n += memcmp(data() + i, pattern.data(), sizeof(T)) == 0 ? 1 : 0;
    return n;
  }

 private:
  static constexpr size_t kBand = 256;  // bytes, so that data() keeps the alignment of the allocation
  static constexpr uint8_t kPattern = 0xff;
  size_t n_;
  std::vector<uint8_t> bytes_;
};

// A channel's best path, or lattice, as the bits of asr_search_wants say.
inline asr_path path_of(const Device &device, asr_backend_channel *channel, uint32_t wants) {
  asr_path path{};
  device.check(device.api()->best_paths(device.get(), &channel, 1, wants, &path));
  return path;
}
inline asr_raw_lattice lattice_of(const Device &device, asr_backend_channel *channel, uint32_t wants) {
  asr_raw_lattice raw{};
  device.check(device.api()->lattices(device.get(), &channel, 1, wants, &raw));
  return raw;
}

inline uint32_t final_if(bool use_final) { return use_final ? ASR_WANTS_FINAL : 0; }

inline asr_backend_graph *load_graph(const Device &device, const asr_graph_view &view, uint32_t *in_use) {
  asr_backend_graph *graph = nullptr;
  device.check(device.api()->load_graph(device.get(), &view, &graph, in_use));
  return graph;
}

inline asr_backend_options backend_options(uint32_t max_lanes = 8, uint32_t window_frames = 64, uint32_t n_threads = 1) {
  return {sizeof(asr_backend_options), max_lanes, window_frames, n_threads, 0, 0, 0, 0, 0, 0, 0};
}

// Returns every back end found, including unusable ones.
inline const std::vector<DeviceEntry> &all_devices() {
  static const std::vector<DeviceEntry> devices = list_devices();
  return devices;
}

// A fixture that runs once for each of all_devices().
class BackendTest : public testing::TestWithParam<size_t> {
 protected:
  void SetUp() override {
    if (!entry().reason.empty()) GTEST_SKIP() << entry().id << ": " << entry().reason;
  }
  const DeviceEntry &entry() const { return all_devices()[GetParam()]; }
  const asr_backend_api &api() const { return *entry().api; }
  // Skips the test on devices without a capability; `what` describes their behaviour instead.
  void require(asr_backend_capability capability, const char *what) const {
    if (!IsSkipped() && (entry().info.capabilities & capability) == 0) GTEST_SKIP() << entry().id << ": " << what;
  }
  // Skip the test on devices whose back end leaves this part to the CPU.
  void require_features() const {
    if (!IsSkipped() && !makes_features(api())) GTEST_SKIP() << entry().id << ": makes no features";
  }
  void require_search() const {
    if (!IsSkipped() && !searches(api())) GTEST_SKIP() << entry().id << ": does not search";
  }
  // The slots of the extension "bench"; NULL if the back end has none.
  const asr_backend_bench_api *bench() const { return extension_of<asr_backend_bench_api>(api(), ASR_BACKEND_BENCH); }
  std::unique_ptr<Device> open(const asr_backend_options &options = backend_options()) const {
    return std::make_unique<Device>(entry(), options);
  }
  // Fails the test with the back end's message.
  void check(asr_status status) const { ASSERT_EQ(status, ASR_OK) << entry().id << ": " << api().last_error(); }
};

inline std::string device_test_name(const testing::TestParamInfo<size_t> &info) {
  std::string name = all_devices()[info.param].id;
  for (char &c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  return std::to_string(info.index) + "_" + name;
}

}  // namespace asr::test

#define SENONE_INSTANTIATE(Fixture) \
  INSTANTIATE_TEST_SUITE_P(, Fixture, testing::Range(size_t{0}, asr::test::all_devices().size()), asr::test::device_test_name)
