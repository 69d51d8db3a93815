// SPDX-License-Identifier: Apache-2.0
// Tests the choice between scoring kernels by `senone bench gmm --tune`. It is measured, kept in the user's cache, used at the
// next load, and forgotten when the cache is damaged. Uses the AMD kernels, on any device, such as PoCL's.
#include "plugins/ocl/scores/gmm_tuning.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "reference/random_gmm.h"
#include "tests/unit/scratch.h"

namespace asr::gpu {

extern const KernelSource kernel_gmm_score;  // from plugins/ocl_amd

namespace {

// The first tuning wastes seven of eight lanes on states of up to four Gaussians.
std::vector<GmmTuning> tunings(const DeviceFacts &, bool) {
  return {{64, 8, 4, 1, {8}, 1, 64, false, 64, 4}, {64, 1, 4, 1, {8}, 1, 64, false, 64, 4}};
}

constexpr Variant kVariant = {"ocl_test", "nobody", 0, &kernel_gmm_score, tunings, 4096};
constexpr asr_backend_options kOptions = {sizeof(asr_backend_options), 1, 256, 2, 0, 0, 0, 0, 0, 0, 0};

// Uses a separate cache in $XDG_CACHE_HOME.
class GmmTuningTest : public testing::Test {
 protected:
  void SetUp() override {
    const char *const cache = std::getenv("XDG_CACHE_HOME");
    if (cache != nullptr) before_ = cache;
    setenv("XDG_CACHE_HOME", (scratch_ / "cache").c_str(), 1);
    if (list_devices(kVariant).devices.empty()) GTEST_SKIP() << "no OpenCL device";
    device_.emplace(kVariant, 0, kOptions);
  }
  void TearDown() override {
    if (before_) {
      setenv("XDG_CACHE_HOME", before_->c_str(), 1);
    } else {
      unsetenv("XDG_CACHE_HOME");
    }
  }

  uint32_t chosen_parts() const { return chosen_tuning(*device_, false).parts; }

  test::Scratch scratch_;
  std::optional<std::string> before_;
  std::optional<Device> device_;
};

TEST_F(GmmTuningTest, ChoiceIsKeptAndDamageForgotten) {
  EXPECT_EQ(chosen_parts(), 8u);  // the shipped default
  reference::RandomGmm options;
  options.n_states = 700;
  options.min_gaussians = options.max_gaussians = 4;
  const AcousticModel model = reference::random_gmm(options);
  const AcousticView view(model);
  const std::string report = tune(*device_, *view.get());
  EXPECT_NE(report.find("chosen: 64 lanes in 1 parts"), std::string::npos) << report;
  EXPECT_EQ(chosen_parts(), 1u);
  EXPECT_EQ(chosen_tuning(*device_, true).parts, 8u);  // models of the other kind have their own choice

  for (const auto &file : std::filesystem::directory_iterator(scratch_ / "cache/senone")) {
    const std::string bytes = test::slurp(file.path());
    test::spill(file.path(), bytes.substr(0, bytes.size() - 1));
  }
  EXPECT_EQ(chosen_parts(), 8u);
  tune(*device_, *view.get());
  EXPECT_EQ(chosen_parts(), 1u);
}

}  // namespace
}  // namespace asr::gpu
