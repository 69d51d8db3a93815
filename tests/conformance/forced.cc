// SPDX-License-Identifier: Apache-2.0
// Tests the extension "forced": log-likelihoods of rows in one state each, against the double reference (G1 to G4).
#include "core/backend/asr_backend_forced.h"

#include <cmath>
#include <random>

#include "reference/gmm.h"
#include "reference/random_gmm.h"
#include "tests/conformance/harness.h"

namespace asr::test {
namespace {

using reference::RandomGmm;

class ForcedTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    if (IsSkipped()) return;
    api_ = extension_of<asr_backend_forced_api>(api(), ASR_BACKEND_FORCED);
    if (api_ == nullptr) GTEST_SKIP() << entry().id << ": the CPU scores forced states";
  }

  // Scorer holds a model on the device and scores rows into poisoned memory.
  class Scorer {
   public:
    Scorer(const ForcedTest &test, const AcousticModel &model)
        : test_(test), view_(model), device_(test.open(backend_options(1, 32, 3))) {
      test_.check(test_.api_->load(device_->get(), view_.get(), &forced_));
    }
    ~Scorer() { test_.api_->free(forced_); }
    Scorer(const Scorer &) = delete;
    Scorer &operator=(const Scorer &) = delete;

    std::vector<float> score(const std::vector<float> &rows, const std::vector<uint32_t> &states) const {
      Guarded<float> loglikes(states.size());
      test_.check(test_.api_->score(device_->get(), forced_, rows.data(), states.data(), states.size(), loglikes.data()));
      EXPECT_TRUE(loglikes.bands_intact());
      EXPECT_EQ(loglikes.n_unwritten(), 0u);
      return {loglikes.data(), loglikes.data() + loglikes.size()};
    }
    asr_status try_score(const float *rows, const uint32_t *states, size_t n, float *loglikes) const {
      return test_.api_->score(device_->get(), forced_, rows, states, n, loglikes);
    }
    const asr_acoustic_view &view() const { return *view_.get(); }

   private:
    const ForcedTest &test_;
    AcousticView view_;
    std::unique_ptr<Device> device_;
    asr_backend_forced *forced_ = nullptr;
  };

  // Returns a path through the states: each for some rows, as in an alignment, and some again later.
  static std::vector<uint32_t> draw_states(uint32_t n_states, uint32_t n_rows) {
    std::mt19937 random(11);
    std::vector<uint32_t> states;
    while (states.size() < n_rows) states.insert(states.end(), 1 + random() % 7, random() % n_states);
    states.resize(n_rows);
    return states;
  }

  void expect_near(const RandomGmm &options, uint32_t n_rows = 157, double far = 1) const {
    const AcousticModel model = reference::random_gmm(options);
    const Scorer scorer(*this, model);
    const std::vector<float> rows = reference::random_features(options, n_rows, far);
    const std::vector<uint32_t> states = draw_states(model.n_states, n_rows);
    const std::vector<float> scores = scorer.score(rows, states);
    for (size_t i = 0; i < n_rows; ++i) {
      const double expected = reference::log_likelihood(scorer.view(), states[i], rows.data() + i * model.n_dims);
      ASSERT_NEAR(scores[i], expected, 2e-3 + 1e-6 * std::abs(expected)) << "row " << i << ", state " << states[i];
    }
  }

  const asr_backend_forced_api *api_ = nullptr;
};

RandomGmm gmm(uint32_t n_states, std::vector<uint32_t> stream_dims, uint32_t min_gaussians, uint32_t max_gaussians) {
  RandomGmm options;
  options.n_states = n_states, options.stream_dims = std::move(stream_dims);
  options.min_gaussians = min_gaussians, options.max_gaussians = max_gaussians;
  return options;
}

TEST_P(ForcedTest, OwnCodebooks) {
  expect_near(gmm(1, {1}, 1, 1), 1);
  expect_near(gmm(1, {39}, 3, 3), 49);
  expect_near(gmm(37, {39}, 1, 70));
  expect_near(gmm(300, {13}, 31, 33), 700);
}

TEST_P(ForcedTest, SharedCodebooksAndStreams) {
  RandomGmm options = gmm(41, {13, 13, 13}, 128, 128);
  options.n_codebooks = 5;
  expect_near(options);
  options = gmm(23, {12, 1, 5}, 7, 40);
  options.n_codebooks = 1, options.n_covariances = 3;
  expect_near(options, 31);
}

// Streams whose states have mixtures of different sizes.
TEST_P(ForcedTest, StreamsOfOwnCodebooks) { expect_near(gmm(29, {9, 4}, 1, 20)); }

TEST_P(ForcedTest, WeightsOfZero) {
  RandomGmm options = gmm(19, {7}, 4, 40);
  options.zero_weights = 0.4;
  expect_near(options);
}

// Rows beyond all Gaussians, where their terms are far apart.
TEST_P(ForcedTest, FarRows) { expect_near(gmm(11, {24}, 8, 16), 40, 30); }

TEST_P(ForcedTest, MeansFarFromZero) {
  RandomGmm options = gmm(11, {24}, 8, 16);
  options.mean_offset = 30;
  expect_near(options, 40);
}

// The bits of a row do not depend on the rows beside it or on their number.
TEST_P(ForcedTest, BitsDoNotDependOnTheCall) {
  RandomGmm shared = gmm(41, {13, 13}, 40, 40);
  shared.n_codebooks = 3;
  for (const RandomGmm &options : {gmm(37, {39}, 1, 70), shared}) {
    const AcousticModel model = reference::random_gmm(options);
    const Scorer scorer(*this, model);
    const uint32_t n_rows = 2100;
    const std::vector<float> rows = reference::random_features(options, n_rows);
    const std::vector<uint32_t> states = draw_states(model.n_states, n_rows);
    const std::vector<float> scores = scorer.score(rows, states);
    std::mt19937 random(5);
    for (const uint32_t n : {1u, 2u, 47u, 300u}) {
      const uint32_t first = random() % (n_rows - n);
      const auto row = rows.begin() + std::ptrdiff_t{first} * model.n_dims;
      const std::vector<float> part =
          scorer.score({row, row + std::ptrdiff_t{n} * model.n_dims}, {states.begin() + first, states.begin() + first + n});
      for (uint32_t i = 0; i < n; ++i) ASSERT_EQ(part[i], scores[first + i]) << "row " << first + i << " of " << n;
    }
  }
}

TEST_P(ForcedTest, NoRows) {
  const AcousticModel model = reference::random_gmm(gmm(3, {5}, 2, 2));
  const Scorer scorer(*this, model);
  EXPECT_TRUE(scorer.score({}, {}).empty());
}

TEST_P(ForcedTest, StatesThatTheModelLacks) {
  const AcousticModel model = reference::random_gmm(gmm(3, {5}, 2, 2));
  const Scorer scorer(*this, model);
  const std::vector<float> rows(10);
  const uint32_t states[] = {2, 3};
  float loglikes[2] = {7, 7};
  EXPECT_EQ(scorer.try_score(rows.data(), states, 2, loglikes), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(loglikes[0], 7);
  EXPECT_EQ(scorer.try_score(rows.data(), states, 1, loglikes), ASR_OK);
}

// A back end may refuse full covariances, but not score them wrongly.
TEST_P(ForcedTest, FullCovariances) {
  RandomGmm options = gmm(17, {13}, 2, 9);
  options.covariance = ASR_COVARIANCE_FULL;
  const AcousticModel model = reference::random_gmm(options);
  const auto device = open();
  asr_backend_forced *forced = nullptr;
  const asr_status status = api_->load(device->get(), AcousticView(model).get(), &forced);
  if (status == ASR_UNSUPPORTED) return;
  check(status);
  api_->free(forced);
  expect_near(options);
}

SENONE_INSTANTIATE(ForcedTest);

}  // namespace
}  // namespace asr::test
