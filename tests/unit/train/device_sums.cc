// SPDX-License-Identifier: Apache-2.0
// Tests that rounds whose statistics a device sums give the very model of rounds on the host. Skipped without a device
// that sums.
#include "builder/train/device_sums.h"

#include <gtest/gtest.h>

#include "builder/train/forced_aligner.h"
#include "core/base/error.h"
#include "reference/random_gmm.h"
#include "tests/unit/train/drawn_rows.h"
#include "tests/unit/train/failing_sums.h"

namespace asr::train {
namespace {

using test::DrawnRows;
using test::FailingSums;

// Opens every device that sums statistics.
std::vector<std::unique_ptr<Device>> devices() {
  std::vector<std::unique_ptr<Device>> all;
  for (const DeviceEntry &entry : list_devices()) {
    if (!entry.reason.empty()) continue;
    auto device = std::make_unique<Device>(entry, ForcedAligner::options(2));
    if (DeviceSums::of(*device)) all.push_back(std::move(device));
  }
  return all;
}

void expect_equal(const MixtureModel &found, const MixtureModel &expected) {
  ASSERT_EQ(found.mixtures.size(), expected.mixtures.size());
  for (size_t i = 0; i < found.mixtures.size(); ++i) {
    EXPECT_EQ(found.mixtures[i].means, expected.mixtures[i].means);
    EXPECT_EQ(found.mixtures[i].covariances, expected.mixtures[i].covariances);
    EXPECT_EQ(found.mixtures[i].weights, expected.mixtures[i].weights);
    EXPECT_EQ(found.mixtures[i].occupancies, expected.mixtures[i].occupancies);
  }
}

std::vector<reference::RandomGmm> shapes() {
  std::vector<reference::RandomGmm> all(3);
  for (reference::RandomGmm &shape : all) {
    shape.n_states = 6, shape.stream_dims = {13}, shape.min_gaussians = 1, shape.max_gaussians = 6;
  }
  all[1].stream_dims = {5, 3};
  all[2].n_codebooks = 2;
  for (size_t i = 0; i < 3; ++i) {
    all.push_back(all[i]);
    all.back().covariance = ASR_COVARIANCE_FULL;
  }
  return all;
}

class DeviceSumsTest : public testing::Test {
 protected:
  void SetUp() override {
    if (devices_.empty()) GTEST_SKIP() << "no device here sums statistics";
  }
  // Runs three rounds, with shares of two states in every fifth row if so wanted.
  void run(const AcousticModel &start, bool shared, uint64_t chunk_bytes) {
    DrawnRows drawn;
    test::draw_rows(start, 20000, 9, &drawn);
    for (size_t i = 0; i < 12000; ++i) drawn.rows.states[i] = 2;  // several pieces
    for (size_t i = 500; i < 700; ++i) drawn.rows.states[i] = kNoState;
    for (uint64_t row = 0; shared && row < 20000; ++row) {
      const uint32_t state = drawn.rows.states[row];
      if (state == kNoState) continue;
      drawn.rows.shares.push_back({row, state, row % 5 == 0 ? 0.7f : 1});
      if (row % 5 == 0) drawn.rows.shares.push_back({row, (state + 1) % start.n_states, row % 10 == 0 ? 0.3f : 0});
    }
    const std::vector<double> expected = train(start, &drawn, nullptr);
    const MixtureModel model = model_;
    for (const auto &device : devices_) {
      const std::unique_ptr<DeviceSums> sums = DeviceSums::of(*device, chunk_bytes);
      EXPECT_EQ(train(start, &drawn, sums.get()), expected) << device->entry().id;
      EXPECT_EQ(sums->failure(), "");
      EXPECT_TRUE(sums->has_summed());
      expect_equal(model_, model);
    }
  }
  std::vector<double> train(const AcousticModel &start, DrawnRows *drawn, DeviceSums *sums) {
    drawn->rows.device = sums;
    model_ = to_mixtures(start);
    std::vector<double> log_likelihoods;
    for (int round = 0; round < 3; ++round) {
      log_likelihoods.push_back(em_round(drawn->rows, test::loose_options(start.n_dims), &pool_, &model_));
    }
    return log_likelihoods;
  }

  const std::vector<std::unique_ptr<Device>> devices_ = devices();
  ThreadPool pool_{2};
  MixtureModel model_;
};

TEST_F(DeviceSumsTest, RoundsHaveTheHostsBits) {
  for (const reference::RandomGmm &shape : shapes()) {
    const AcousticModel start = random_gmm(shape);
    for (const bool shared : {false, true}) run(start, shared, DeviceSums::kChunkBytes);
  }
}

TEST_F(DeviceSumsTest, ChunksChangeNoBit) { run(random_gmm(shapes()[0]), true, 100000); }

// Diagonal covariances with moments of all pairs, as semi-tied covariances need them.
TEST_F(DeviceSumsTest, FullMomentsOfDiagonalCovariances) {
  const AcousticModel start = random_gmm(shapes()[0]);
  DrawnRows drawn;
  test::draw_rows(start, 3000, 9, &drawn);
  const MixtureModel model = to_mixtures(start);
  std::vector<std::vector<double>> expected(model.mixtures.size());
  sum_statistics(drawn.rows, model, true, &pool_,
                 [&](size_t mixture, const Statistics &statistics) { expected[mixture] = statistics.second; });
  for (const auto &device : devices_) {
    const std::unique_ptr<DeviceSums> sums = DeviceSums::of(*device);
    drawn.rows.device = sums.get();
    sum_statistics(drawn.rows, model, true, &pool_, [&](size_t mixture, const Statistics &statistics) {
      EXPECT_EQ(statistics.second, expected[mixture]) << device->entry().id;
    });
  }
}

TEST(DeviceSums, TheHostTakesOverFromADeviceThatFails) {
  const Device device(FailingSums::entry(), ForcedAligner::options(1));
  const AcousticModel start = random_gmm(shapes()[0]);
  DrawnRows drawn;
  test::draw_rows(start, 2000, 9, &drawn);
  ThreadPool pool(2);
  MixtureModel expected = to_mixtures(start);
  const double log_likelihood = em_round(drawn.rows, test::loose_options(start.n_dims), &pool, &expected);
  for (const char *slot : {"load_rows", "sums_begin", "add", "read"}) {
    FailingSums::fails_in = slot, FailingSums::n_begun = 0;
    const std::unique_ptr<DeviceSums> sums = DeviceSums::of(device);
    ASSERT_NE(sums, nullptr);
    drawn.rows.device = sums.get();
    MixtureModel model = to_mixtures(start);
    EXPECT_EQ(em_round(drawn.rows, test::loose_options(start.n_dims), &pool, &model), log_likelihood) << slot;
    expect_equal(model, expected);
    EXPECT_NE(sums->failure().find("cpu:0"), std::string::npos) << sums->failure();
    EXPECT_FALSE(sums->has_summed());
    em_round(drawn.rows, test::loose_options(start.n_dims), &pool, &model);
    EXPECT_EQ(FailingSums::n_begun, 1) << "it is not asked again";
  }
}

}  // namespace
}  // namespace asr::train
