// SPDX-License-Identifier: Apache-2.0
// Compares the MFCC kernels for GPUs, which have the front end's numbers compiled in, with those that read them, which
// conformance checks on PoCL. It also compares the kernels with each other. The device is made to call itself a GPU.
#include "plugins/ocl/features/mfcc.h"

#include <gtest/gtest.h>

#include <cmath>

#include "core/base/error.h"
#include "core/feature/mfcc_tables.h"

namespace asr::gpu {
namespace {

constexpr Variant kInMemory = {"ocl_test", "nobody", 0, nullptr, nullptr, 4096},
                  kInRegisters = {"ocl_test", "nobody", 0, nullptr, nullptr, 4096, true};
constexpr uint32_t kFrames = 70;

Api g_real;

cl_int call_it_a_gpu_too(cl_device_id device, cl_device_info what, size_t n_bytes, void *value, size_t *n_written) {
  const cl_int status = g_real.GetDeviceInfo(device, what, n_bytes, value, n_written);
  if (what == CL_DEVICE_TYPE && value != nullptr) *static_cast<cl_device_type *>(value) |= CL_DEVICE_TYPE_GPU;
  return status;
}

std::vector<float> cepstra(const Variant &variant, const FrontEnd &front_end, bool as_gpu) {
  api().GetDeviceInfo = as_gpu ? call_it_a_gpu_too : g_real.GetDeviceInfo;
  asr_backend_options options{};
  options.size = sizeof options, options.max_lanes = 1, options.window_frames = 8, options.n_threads = 1;
  Device device(variant, 0, options);
  api() = g_real;
  const FeatureTables tables(front_end, {1});
  Mfcc mfcc(device, *tables.view());
  std::vector<float> samples, result(size_t{kFrames} * front_end.n_ceps);
  for (size_t i = 0; i < 1 + front_end.window_samples + kFrames * front_end.shift_samples; ++i) {
    const double noise = double(i * 2654435761u >> 20 & 127);
    samples.push_back(
        static_cast<float>(std::round(700 + 3000 * std::sin(0.07 * double(i)) + 900 * std::sin(0.9 * double(i)) + noise)));
  }
  const asr_extract_job job = {samples.data() + 1, 0, kFrames, 0, result.data()};
  mfcc.extract(&job, 1);
  return result;
}

class MfccAsOnGpus : public testing::Test {
 protected:
  void SetUp() override {
    try {
      g_real = api();
      if (list_devices(kInMemory).devices.empty()) GTEST_SKIP() << list_devices(kInMemory).reason;
    } catch (const Error &error) {
      GTEST_SKIP() << error.what();
    }
  }
  static void expect_same(const std::vector<float> &found, const std::vector<float> &expected) {
    ASSERT_EQ(found.size(), expected.size());
    for (size_t i = 0; i < expected.size(); ++i) ASSERT_NEAR(found[i], expected[i], 2e-4) << "value " << i;
    EXPECT_NE(expected[0], 0);
  }
};

TEST_F(MfccAsOnGpus, NumbersThatAreCompiledIn) {
  FrontEnd f = kaldi_front_end();
  f.n_mel = 23, f.n_ceps = 13;
  const std::vector<float> expected = cepstra(kInMemory, f, false);
  expect_same(cepstra(kInMemory, f, true), expected);
  expect_same(cepstra(kInRegisters, f, true), expected);
}

TEST_F(MfccAsOnGpus, RowsBeyondShortWindows) {
  FrontEnd f = kaldi_front_end();
  f.n_mel = 30, f.n_ceps = 30, f.use_energy = false;
  for (const uint32_t window : {257u, 391u, 512u}) {
    f.window_samples = window;
    expect_same(cepstra(kInRegisters, f, true), cepstra(kInMemory, f, false));
  }
}

}  // namespace
}  // namespace asr::gpu
