// SPDX-License-Identifier: Apache-2.0
// Tests parts of acoustic models, which score the states of graphs alone: their scores have the bits of the whole model, and no
// others are written. A model without memory for a part stays whole. Needs a device, such as PoCL's.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <optional>

#include "plugins/gpu/scores/acoustic.h"
#include "reference/gmm.h"
#include "reference/random_gmm.h"

namespace asr::gpu {

extern const KernelSource kernel_gmm_score;  // from plugins/ocl_amd

namespace {

using reference::RandomGmm;

constexpr float kUnwritten = 12345.0f;
constexpr asr_backend_options kOptions = {sizeof(asr_backend_options), 1, 64, 2, 0, 0, 0, 0, 0, 0, 0};

GmmTuning tuning_of(bool full, uint32_t parts) { return {64, parts, 4, full ? 2u : 1u, {8}, 1, 64, false, 64, 4}; }
std::vector<GmmTuning> tunings(const DeviceFacts &, bool full) { return {tuning_of(full, 4)}; }
constexpr Variant kVariant = {"ocl_test", "nobody", 0, &kernel_gmm_score, tunings, 4096};

uint32_t bits_of(float value) {
  uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  return bits;
}

StateSet every(uint32_t n_states, uint32_t step) {
  StateSet states(n_states);
  for (uint32_t s = 0; s < n_states; s += step) states.add(s);
  return states;
}

class GmmPartTest : public testing::Test {
 protected:
  void SetUp() override {
    if (list_devices(kVariant).devices.empty()) GTEST_SKIP() << "no OpenCL device";
    device_.emplace(kVariant, 0, kOptions);
  }

  std::vector<float> score(Gmm &gmm, const std::vector<float> &features) {
    const auto n_rows = static_cast<uint32_t>(features.size() / gmm.n_dims());
    std::vector<float> scores(size_t{n_rows} * gmm.n_states(), kUnwritten);
    const Array<float> rows(device_->context(), features), out(device_->context(), scores);
    Gmm::score(*device_, {{&gmm, &rows, n_rows, &out}});
    device_->compute().read(out, 0, scores.data(), scores.size());
    device_->compute().finish();
    return scores;
  }

  // Compares the scores of near rows, of far ones, and of some beyond all Gaussians.
  void expect_same_bits(const RandomGmm &options, std::optional<TensorKind> tensor = std::nullopt, uint32_t parts = 4) {
    const AcousticModel model = reference::random_gmm(options);
    const AcousticView view(model);
    const bool full = options.covariance == ASR_COVARIANCE_FULL;
    const auto target = tensor ? std::optional(TensorTarget{*tensor, 1}) : std::nullopt;
    Gmm whole(*device_, *view.get(), tuning_of(full, parts), target);
    std::vector<float> features;
    for (const double far : {1.0, 50.0, 1e19}) {
      if (tensor && far > 1e3) continue;  // their sums of absent Gaussians may depend on the tiles beside them
      const std::vector<float> more = reference::random_features(options, 7, far);
      features.insert(features.end(), more.begin(), more.end());
    }
    const std::vector<float> want = score(whole, features);
    for (const uint32_t step : {2u, 3u, 7u, options.n_states}) {
      const StateSet states = every(options.n_states, step);
      Gmm part(whole, *view.get(), states);
      const std::vector<float> got = score(part, features);
      for (size_t i = 0; i < got.size(); ++i) {
        const auto state = static_cast<uint32_t>(i % options.n_states);
        const float expected = states.contains(state) ? want[i] : kUnwritten;
        ASSERT_EQ(bits_of(got[i]), bits_of(expected))
            << "row " << i / options.n_states << " state " << state << ": " << got[i] << ", not " << expected;
      }
    }
  }

  std::optional<Device> device_;
};

RandomGmm model_of(uint32_t n_states, uint32_t min_gaussians, uint32_t max_gaussians) {
  RandomGmm options;
  options.n_states = n_states;
  options.min_gaussians = min_gaussians, options.max_gaussians = max_gaussians;
  return options;
}

TEST_F(GmmPartTest, MixturesOfAllSizes) {
  for (const uint32_t parts : {1u, 4u}) {
    expect_same_bits(model_of(90, 1, 70), std::nullopt, parts);
    expect_same_bits(model_of(90, 1, 8), std::nullopt, parts);
  }
}

TEST_F(GmmPartTest, FullCovariances) {
  RandomGmm options = model_of(40, 1, 30);
  options.covariance = ASR_COVARIANCE_FULL;
  options.stream_dims = {7};
  expect_same_bits(options);
}

// Each codebook is shared in the whole model, and has one state, or none, in some of the parts.
TEST_F(GmmPartTest, SharedCodebooks) {
  RandomGmm options = model_of(30, 17, 17);
  options.n_codebooks = 7;
  options.zero_weights = 0.2;
  expect_same_bits(options);
}

TEST_F(GmmPartTest, Streams) {
  for (const uint32_t n_codebooks : {0u, 3u}) {
    RandomGmm options = model_of(40, 1, 20);
    options.stream_dims = {13, 2, 7};
    options.n_codebooks = n_codebooks;
    expect_same_bits(options);
  }
}

TEST_F(GmmPartTest, SixteenBits) {
  asr_backend_options options = kOptions;
  options.model_bits = 16;
  device_.emplace(kVariant, 0, options);
  expect_same_bits(model_of(50, 1, 30));
  expect_same_bits(model_of(5, 1, 12), TensorKind::kPlainMma);
}

// A part of few Gaussians, many of which lose something in halves, is halved with the whole model.
TEST_F(GmmPartTest, FewGaussiansThatLoseInHalves) {
  asr_backend_options options = kOptions;
  options.model_bits = 16;
  device_.emplace(kVariant, 0, options);
  RandomGmm of_many = model_of(300, 1, 1);
  AcousticModel model = reference::random_gmm(of_many);
  for (uint32_t d = 0; d < model.n_dims; ++d) {  // of the first state alone
    model.means[d] += 40;
    model.precisions[d] = 1e4f;
  }
  const AcousticView view(model);
  Gmm whole(*device_, *view.get(), tuning_of(false, 4), std::nullopt);
  Gmm part(whole, *view.get(), every(300, 300));
  const std::vector<float> features = reference::random_features(of_many, 5), want = score(whole, features),
                           got = score(part, features);
  for (size_t i = 0; i < got.size(); i += 300) EXPECT_EQ(got[i], want[i]);
}

TEST_F(GmmPartTest, TensorCores) {
  expect_same_bits(model_of(9, 1, 20), TensorKind::kPlainMma);
  RandomGmm options = model_of(9, 1, 20);
  options.covariance = ASR_COVARIANCE_FULL;
  options.stream_dims = {7};
  expect_same_bits(options, TensorKind::kPlainMma);
  expect_same_bits(options, TensorKind::kPlainMfma);
}

// A copy has the likelihoods of a model that is gone.
TEST(AcousticCopy, OutlivesTheModel) {
  for (const auto covariance : {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL}) {
    for (const uint32_t n_codebooks : {0u, 3u}) {
      RandomGmm options = model_of(20, 3, 9);
      options.covariance = covariance;
      options.stream_dims = {5, 2};
      options.n_codebooks = n_codebooks;
      options.n_covariances = n_codebooks;
      const AcousticModel model = reference::random_gmm(options);
      std::optional<AcousticCopy> copy;
      {
        const AcousticModel other = model;
        copy.emplace(*AcousticView(other).get());
      }
      const AcousticView view(model);
      const std::vector<float> features = reference::random_features(options, 1);
      for (uint32_t s = 0; s < model.n_states; ++s) {
        EXPECT_EQ(reference::log_likelihood(copy->view(), s, features.data()),
                  reference::log_likelihood(*view.get(), s, features.data()));
      }
    }
  }
}

Api g_real;
int g_n_left = -1;  // allocations that succeed; negative: all
cl_mem failing_buffer(cl_context context, cl_mem_flags flags, size_t n_bytes, void *data, cl_int *status) {
  if (g_n_left == 0) {
    *status = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    return nullptr;
  }
  if (g_n_left > 0) --g_n_left;
  return g_real.CreateBuffer(context, flags, n_bytes, data, status);
}

class FailingBuffers {
 public:
  FailingBuffers() {
    g_real = api();
    api().CreateBuffer = failing_buffer;
  }
  ~FailingBuffers() {
    api() = g_real;
    g_n_left = -1;
  }
  FailingBuffers(const FailingBuffers &) = delete;
  FailingBuffers &operator=(const FailingBuffers &) = delete;
};

class AcousticPartTest : public GmmPartTest {
 protected:
  AcousticPartTest() {
    options_ = model_of(60, 3, 12);
    options_.n_codebooks = 0;
  }
  void start(Acoustic *acoustic, uint32_t buffer, uint32_t n_rows, float *loglikes = nullptr) {
    const std::vector<float> features = reference::random_features(options_, n_rows);
    Acoustic::score(*device_, {{acoustic, features.data(), n_rows, buffer, loglikes}});
    acoustic->finish();
    device_->compute().finish();
  }
  RandomGmm options_;
};

TEST_F(AcousticPartTest, FollowsTheGraphs) {
  const AcousticModel model = reference::random_gmm(options_);
  const AcousticView view(model);
  Acoustic acoustic(*device_, *view.get());
  const StateSet few = every(60, 20), some = every(60, 3), half = every(60, 2);
  start(&acoustic, 0, 5);
  EXPECT_TRUE(acoustic.is_scored_whole(0));  // nothing is known yet
  EXPECT_FALSE(acoustic.lacks_scores(0, few));
  EXPECT_EQ(acoustic.part_bytes(), 0u);
  start(&acoustic, 0, 5);
  EXPECT_FALSE(acoustic.is_scored_whole(0));
  EXPECT_FALSE(acoustic.lacks_scores(0, few));
  const uint64_t few_bytes = acoustic.part_bytes();
  EXPECT_GT(few_bytes, 0u);
  EXPECT_TRUE(acoustic.lacks_scores(0, some));
  acoustic.score_whole(0);
  EXPECT_FALSE(acoustic.lacks_scores(0, some));
  std::vector<float> rows(size_t{5} * 60, kUnwritten);
  start(&acoustic, 1, 5, rows.data());  // the host wants all
  EXPECT_TRUE(acoustic.is_scored_whole(1));
  EXPECT_EQ(std::count(rows.begin(), rows.end(), kUnwritten), 0);
  start(&acoustic, 1, 5);
  EXPECT_FALSE(acoustic.lacks_scores(1, some));
  EXPECT_GT(acoustic.part_bytes(), few_bytes);
  EXPECT_TRUE(acoustic.lacks_scores(1, half));
  start(&acoustic, 1, 5);
  EXPECT_TRUE(acoustic.is_scored_whole(1));
  EXPECT_EQ(acoustic.part_bytes(), 0u);
}

// Graphs that come one after the other make so many packings that their states come to twice the model.
TEST_F(AcousticPartTest, PacksForALimitedTime) {
  const AcousticModel model = reference::random_gmm(options_);
  const AcousticView view(model);
  Acoustic acoustic(*device_, *view.get());
  start(&acoustic, 0, 1);
  uint32_t n_parts = 0;
  for (uint32_t s = 0; s < 29; ++s) {
    StateSet one(60);
    one.add(s);
    acoustic.lacks_scores(0, one);
    start(&acoustic, 0, 1);
    n_parts += acoustic.is_scored_whole(0) ? 0 : 1;
  }
  EXPECT_EQ(n_parts, 15u);  // 1 + 2 + ... + 15 = 120
  EXPECT_EQ(acoustic.part_bytes(), 0u);
}

// Whichever allocation fails, for the part or for its first rows, scores are made for all states.
TEST_F(AcousticPartTest, WithoutMemoryAModelStaysWhole) {
  options_.n_codebooks = 3;
  options_.min_gaussians = options_.max_gaussians = 9;
  const AcousticModel model = reference::random_gmm(options_);
  const AcousticView view(model);
  bool was_part = false;
  for (int n = 0; n < 100 && !was_part; ++n) {
    Acoustic acoustic(*device_, *view.get());
    start(&acoustic, 0, 40);
    acoustic.lacks_scores(0, every(60, 20));
    {
      const FailingBuffers failing;
      g_n_left = n;
      start(&acoustic, 0, 40);
    }
    was_part = !acoustic.is_scored_whole(0);
    EXPECT_EQ(acoustic.part_bytes() > 0, was_part) << n;
    std::vector<float> rows(size_t{40} * 60, kUnwritten);
    start(&acoustic, 1, 40, rows.data());
    EXPECT_EQ(std::count(rows.begin(), rows.end(), kUnwritten), 0);
    start(&acoustic, 1, 40);
    EXPECT_EQ(acoustic.is_scored_whole(1), !was_part);
    EXPECT_FALSE(n == 0 && was_part);
  }
  EXPECT_TRUE(was_part);
}

}  // namespace
}  // namespace asr::gpu
