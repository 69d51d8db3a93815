// SPDX-License-Identifier: Apache-2.0
// Tests the kernels for tensor and matrix cores, with products in plain OpenCL C, against the double reference. The lanes'
// contents, the packing and the distribution of work are those of the real kernels. Needs a device, such as PoCL's.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>
#include <optional>

#include "core/base/error.h"
#include "plugins/common/halves.h"
#include "plugins/common/packing.h"
#include "plugins/ocl/scores/gmm.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"

namespace asr::gpu {
namespace {

constexpr Variant kVariant = {"ocl_test", "nobody", 0, nullptr, nullptr, 4096};
constexpr asr_backend_options kOptions = {sizeof(asr_backend_options), 1, 256, 2, 0, 0, 0, 0, 0, 0, 0};

asr_backend_options halved_options() {
  asr_backend_options options = kOptions;
  options.model_bits = 16;
  return options;
}

// A model whose states are all on tensor cores.
class TensorModel {
 public:
  TensorModel(Device &device, TensorKind kind, const reference::RandomGmm &options)
      : device_(device), model_(reference::random_gmm(options)), view_(model_), centre_(feature_centre(view())) {
    const TensorPacker packer(view(), centre_, device.pool());
    StreamStates states = states_of_stream(view(), 0);
    const std::vector<TensorDim> dims = packer.dims_of(0);
    choose_tensor_states(packer, 0, dims, device.halves_models(), &states);
    EXPECT_TRUE(states.direct.empty());
    EXPECT_EQ(states.halves_tensor, device.halves_models());
    tensor_.emplace(device, TensorTarget{kind, 1}, view(), packer, 0, states, dims);
  }

  const asr_acoustic_view &view() const { return *view_.get(); }
  std::vector<float> score(const float *features, uint32_t n_rows) {
    Rows rows(*this, features, n_rows);
    GmmTensor::score(device_, {rows.job()});
    return rows.scores();
  }

  // Rows of a model on the device.
  class Rows {
   public:
    Rows(TensorModel &model, const float *features, uint32_t n_rows)
        : model_(model),
          n_rows_(n_rows),
          features_(model.device_.context(), std::vector<float>(features, features + size_t{n_rows} * model.view().n_dims)),
          scores_(model.device_.context(), std::vector<float>(size_t{n_rows} * model.view().n_states, NAN)) {}
    GmmTensor::Job job() {
      return {&*model_.tensor_, &features_, n_rows_, model_.view().n_dims, &scores_, model_.view().n_states, 0};
    }
    std::vector<float> scores() {
      std::vector<float> scores(scores_.size());
      model_.device_.compute().read(scores_, 0, scores.data(), scores.size());
      model_.device_.compute().finish();
      return scores;
    }

   private:
    TensorModel &model_;
    const uint32_t n_rows_;
    const Array<float> features_, scores_;
  };

 private:
  Device &device_;
  const AcousticModel model_;
  const AcousticView view_;
  const std::vector<float> centre_;
  std::optional<GmmTensor> tensor_;
};

class GmmTensorTest : public testing::Test {
 protected:
  void SetUp() override {
    if (list_devices(kVariant).devices.empty()) GTEST_SKIP() << "no OpenCL device";
    device_.emplace(kVariant, 0, kOptions);
  }

  // Expects scores within the tolerance, and the same bits one row at a time.
  void expect_near(TensorKind kind, const reference::RandomGmm &options, uint32_t n_rows) {
    TensorModel model(*device_, kind, options);
    const std::vector<float> features = reference::random_features(options, n_rows),
                             scores = model.score(features.data(), n_rows);
    const size_t n_dims = model.view().n_dims, n_states = model.view().n_states;
    for (uint32_t t = 0; t < n_rows; ++t) {
      for (uint32_t s = 0; s < n_states; ++s) {
        const double expected = reference::log_likelihood(model.view(), s, &features[t * n_dims]);
        const double tolerance = device_->halves_models() ? 0.02 + 1e-3 * std::abs(expected) : 2e-3;
        ASSERT_NEAR(scores[t * n_states + s], expected, tolerance) << "row " << t << " state " << s;
      }
    }
    const std::vector<float> last = model.score(&features[(n_rows - 1) * n_dims], 1);
    EXPECT_EQ(std::memcmp(last.data(), &scores[(n_rows - 1) * n_states], n_states * sizeof(float)), 0);
  }

  // Scores models of unlike sizes and rows one by one and together, and expects the same bits.
  void expect_together_as_alone() {
    std::vector<std::unique_ptr<TensorModel>> models;
    std::vector<std::unique_ptr<TensorModel::Rows>> rows;
    std::vector<std::vector<float>> alone;
    std::vector<GmmTensor::Job> jobs;
    for (uint32_t i = 0; i < 4; ++i) {
      reference::RandomGmm options;
      options.n_states = 1 + 4 * i;
      options.max_gaussians = 20 - 6 * i;
      options.stream_dims = {i == 3 ? 12u : 33u};
      options.seed = i;
      const uint32_t n_rows = 1 + 9 * i;
      const std::vector<float> features = reference::random_features(options, n_rows);
      models.push_back(std::make_unique<TensorModel>(*device_, TensorKind::kPlainMma, options));
      alone.push_back(models.back()->score(features.data(), n_rows));
      rows.push_back(std::make_unique<TensorModel::Rows>(*models.back(), features.data(), n_rows));
      jobs.push_back(rows.back()->job());
    }
    GmmTensor::score(*device_, jobs);
    for (size_t i = 0; i < jobs.size(); ++i) {
      const std::vector<float> together = rows[i]->scores();
      ASSERT_EQ(std::memcmp(together.data(), alone[i].data(), together.size() * sizeof(float)), 0) << "model " << i;
    }
  }

  std::optional<Device> device_;
};

TEST_F(GmmTensorTest, Diagonal) {
  reference::RandomGmm options;
  options.n_states = 3;
  options.max_gaussians = 12;
  options.stream_dims = {33};
  expect_near(TensorKind::kPlainMma, options, 21);
}

// Models of unlike sizes and rows in one launch have the bits that they have alone.
TEST_F(GmmTensorTest, SeveralDiagonalModels) { expect_together_as_alone(); }

Api g_real;
int g_n_refused = 0;
std::vector<std::string> g_logged;
cl_int refuse_many_models(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                          void(CL_CALLBACK *done)(cl_program, void *), void *data) {
  if (std::strstr(options, "-DMODELS=12") != nullptr) {
    ++g_n_refused;
    return CL_BUILD_PROGRAM_FAILURE;
  }
  return g_real.BuildProgram(program, n, devices, options, done, data);
}
cl_program no_binary(cl_context, cl_uint, const cl_device_id *, const size_t *, const unsigned char **, cl_int *,
                     cl_int *status) {
  *status = CL_INVALID_BINARY;
  return nullptr;
}

// A driver that does not compile the kernel of several models; it is asked once.
TEST_F(GmmTensorTest, DriversMayRefuseTheKernelOfSeveralModels) {
  constexpr asr_host_api kHost = {sizeof kHost, [](asr_log_level, const char *message) { g_logged.emplace_back(message); },
                                  nullptr};
  device_.emplace(kVariant, 0, kOptions, &kHost);
  g_real = api();
  api().BuildProgram = refuse_many_models, api().CreateProgramWithBinary = no_binary;
  expect_together_as_alone();
  expect_together_as_alone();
  api() = g_real;
  EXPECT_EQ(g_n_refused, 1);
  ASSERT_EQ(g_logged.size(), 1u);
  EXPECT_EQ(g_logged[0].rfind("ocl_test: each model is scored by a launch of its own: OpenCL: ", 0), 0u) << g_logged[0];
}

TEST(ShareBlocks, GivesEachModelItsPart) {
  EXPECT_EQ(share_blocks({7}, 132), (std::vector<uint32_t>{132}));
  EXPECT_EQ(share_blocks({10, 10, 10, 10}, 10), (std::vector<uint32_t>{3, 3, 2, 2}));
  EXPECT_EQ(share_blocks({1000, 1, 1}, 10), (std::vector<uint32_t>{8, 1, 1}));
  EXPECT_EQ(share_blocks({5, 5, 5}, 2), (std::vector<uint32_t>{1, 1, 1}));
  EXPECT_EQ(state_begins({0, 2, 3, 6}), (std::vector<uint32_t>{0, 0, 2, 3, 3, 3, 6}));
}

TEST_F(GmmTensorTest, Full) {
  reference::RandomGmm options;
  options.n_states = 6;
  options.max_gaussians = 12;
  options.covariance = ASR_COVARIANCE_FULL;
  options.stream_dims = {7};
  expect_near(TensorKind::kPlainMma, options, 18);
  expect_near(TensorKind::kPlainMfma, options, 18);
}

// Models without lo, of an odd and an even number of steps.
TEST_F(GmmTensorTest, Halved) {
  device_.emplace(kVariant, 0, halved_options());
  reference::RandomGmm options;
  options.n_states = 3;
  options.max_gaussians = 12;
  for (const uint32_t n_dims : {33u, 39u}) {
    options.stream_dims = {n_dims};
    expect_near(TensorKind::kPlainMma, options, 21);
  }
  options.covariance = ASR_COVARIANCE_FULL;
  options.stream_dims = {7};
  expect_near(TensorKind::kPlainMma, options, 18);
  expect_near(TensorKind::kPlainMfma, options, 18);
}

TEST_F(GmmTensorTest, MfmaIsAsExpected) { EXPECT_TRUE(mfma_is_as_expected(*device_, {TensorKind::kPlainMfma, 1})); }

TEST(Halves, AreTheNearest) {
  for (uint32_t bits = 0; bits < 0x7c00; ++bits) {
    const auto at = static_cast<uint16_t>(bits);
    const float value = half_value(at), next = bits + 1 < 0x7c00 ? half_value(static_cast<uint16_t>(bits + 1)) : 65536.0f;
    ASSERT_LT(value, next);
    ASSERT_EQ(half_bits(value), bits);
    ASSERT_EQ(half_bits(-value), bits | 0x8000);
    const float middle = (value + next) / 2;
    ASSERT_EQ(half_bits(middle), bits % 2 == 0 ? bits : bits + 1);
    ASSERT_EQ(half_bits(std::nextafter(middle, 0.0f)), bits);
    ASSERT_EQ(half_bits(std::nextafter(middle, next)), bits + 1);
  }
  EXPECT_TRUE(std::isinf(half_value(half_bits(HUGE_VALF))));
  EXPECT_TRUE(std::isnan(half_value(half_bits(NAN))));
}

}  // namespace
}  // namespace asr::gpu
