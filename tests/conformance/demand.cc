// SPDX-License-Identifier: Apache-2.0
// Tests scores of all kinds of models that a back end may make for some states alone (demand_fixture.h).
#include <utility>

#include "tests/conformance/demand_fixture.h"

namespace asr::test {
namespace {

TEST_P(DemandTest, OwnCodebooks) {
  for (const uint32_t n_threads : {1u, 3u}) {
    const auto device = open(backend_options(4, 64, n_threads));
    expect_same_as_on_the_host(*device, model_of(1));
  }
}

// Small mixtures of one size, and mixtures of all sizes; of many features.
TEST_P(DemandTest, SizesOfMixtures) {
  const auto device = open(backend_options(4, 64));
  for (const auto &[least, most] : {std::pair{5u, 8u}, std::pair{9u, 16u}, std::pair{1u, 70u}}) {
    reference::RandomGmm options = model_of(10);
    options.min_gaussians = least, options.max_gaussians = most;
    options.stream_dims = {36};
    expect_same_as_on_the_host(*device, options);
  }
}

TEST_P(DemandTest, FullCovariances) {
  const auto device = open(backend_options(4, 64));
  reference::RandomGmm options = model_of(2);
  options.covariance = ASR_COVARIANCE_FULL;
  options.max_gaussians = 3;
  expect_same_as_on_the_host(*device, options);
}

TEST_P(DemandTest, SharedCodebooks) {
  const auto device = open(backend_options(4, 64));
  reference::RandomGmm options = model_of(3);
  options.n_codebooks = 5;
  options.min_gaussians = options.max_gaussians = 37;
  options.zero_weights = 0.2;
  expect_same_as_on_the_host(*device, options);
}

// Streams may group the states differently.
TEST_P(DemandTest, Streams) {
  for (const uint32_t n_codebooks : {0u, 1u, 4u}) {
    const auto device = open(backend_options(4, 64));
    reference::RandomGmm options = model_of(4);
    options.stream_dims = {13, 2, 7};
    options.n_codebooks = n_codebooks;
    expect_same_as_on_the_host(*device, options);
  }
}

TEST_P(DemandTest, SixteenBits) {
  for (const auto covariance : {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL}) {
    asr_backend_options backend = backend_options(4, 64);
    backend.model_bits = 16;
    const auto device = open(backend);
    reference::RandomGmm options = model_of(5);
    options.covariance = covariance;
    options.max_gaussians = 3;
    expect_same_as_on_the_host(*device, options);
  }
}

TEST_P(DemandTest, TheBestGaussiansAlone) {
  require(ASR_BACKEND_SELECTION, "it mixes all Gaussians");
  if (IsSkipped()) return;
  asr_backend_options backend = backend_options(4, 64);
  backend.n_best_gaussians = 4;
  const auto device = open(backend);
  reference::RandomGmm options = model_of(6);
  options.n_codebooks = 3;
  options.min_gaussians = options.max_gaussians = 40;
  expect_same_as_on_the_host(*device, options);
}

TEST_P(DemandTest, TheNearestClustersOfStates) {
  require(ASR_BACKEND_CLUSTERS, "it scores all states");
  if (IsSkipped()) return;
  asr_backend_options backend = backend_options(4, 64);
  backend.cluster_share = 0.3f;
  for (const std::vector<uint32_t> &stream_dims : {std::vector<uint32_t>{13}, std::vector<uint32_t>{7, 2}}) {
    const auto device = open(backend);
    reference::RandomGmm options = model_of(10);
    options.stream_dims = stream_dims;
    options.min_gaussians = options.max_gaussians = 4;
    expect_same_as_on_the_host(*device, options);
  }
}

// A row beyond all Gaussians has none that could be chosen.
TEST_P(DemandTest, TheBestGaussiansOfExtremeRows) {
  require(ASR_BACKEND_SELECTION, "it mixes all Gaussians");
  if (IsSkipped()) return;
  reference::RandomGmm options = model_of(6);
  options.n_codebooks = 3;
  options.min_gaussians = options.max_gaussians = 6;
  const AcousticModel model = reference::random_gmm(options);
  const AcousticView view(model);
  std::vector<std::vector<float>> scores;
  for (const uint32_t n_best : {0u, 4u}) {
    asr_backend_options backend = backend_options(4, 64);
    backend.n_best_gaussians = n_best;
    const auto device = open(backend);
    asr_backend_acoustic *acoustic = nullptr;
    device->check(api().load_acoustic(device->get(), view.get(), &acoustic));
    const std::vector<float> features(size_t{5} * view.get()->n_dims, 3e38f);
    scores.emplace_back(size_t{5} * kStates);
    const asr_score_job job{acoustic, features.data(), 5, 0, scores.back().data()};
    device->check(api().score(device->get(), &job, 1));
    device->check(api().wait(device->get(), 0));
    api().free_acoustic(acoustic);
  }
  EXPECT_EQ(scores[0], scores[1]);
}

SENONE_INSTANTIATE(DemandTest);

}  // namespace
}  // namespace asr::test
