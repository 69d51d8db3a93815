// SPDX-License-Identifier: Apache-2.0
// Tests `score` of every back end against the double reference, with awkward shapes, model kinds and counts. Some
// variations must not change a bit of a row.
#include <functional>

#include "plugins/cpu/state_clusters.h"
#include "tests/conformance/gmm_fixture.h"
#include "tests/sanitized.h"

namespace asr::test {
namespace {

using reference::random_features;
using reference::random_gmm;
using reference::RandomGmm;

RandomGmm full(RandomGmm options = {}) {
  options.covariance = ASR_COVARIANCE_FULL;
  return options;
}

RandomGmm tied(uint32_t n_codebooks, uint32_t n_gaussians) {
  RandomGmm options;
  options.n_states = 45;
  options.n_codebooks = n_codebooks;
  options.min_gaussians = options.max_gaussians = n_gaussians;
  return options;
}

TEST_P(GmmTest, DiagonalShapes) {
  for (uint32_t n_dims : {1u, 2u, 3u, 31u, 36u, 39u}) {
    for (uint32_t n_states : {1u, 7u, 33u}) {
      RandomGmm options;
      options.stream_dims = {n_dims};
      options.n_states = n_states;
      options.seed = n_dims * 100 + n_states;
      expect_near(options);
    }
  }
}

TEST_P(GmmTest, FullShapes) {
  for (uint32_t n_dims : {1u, 2u, 3u, 4u, 13u, 31u, 36u}) {
    RandomGmm options = full();
    options.stream_dims = {n_dims};
    options.n_states = 11;
    options.seed = n_dims;
    expect_near(options);
  }
}

TEST_P(GmmTest, RowCounts) {
  RandomGmm options;
  for (uint32_t n_rows : {1u, 2u, 3u, 5u, 8u, 11u, 12u, 13u, 95u, 96u, 97u, 256u}) {
    expect_near(options, n_rows);
    expect_near(full(options), n_rows);
  }
}

TEST_P(GmmTest, OneGaussian) {
  RandomGmm options;
  options.max_gaussians = 1;
  expect_near(options);
  expect_near(full(options));
  options.n_states = options.stream_dims[0] = 1;
  expect_near(options);
  expect_near(full(options));
}

TEST_P(GmmTest, MixtureSizesOfAllKinds) {
  RandomGmm options;
  options.n_states = 203;
  options.max_gaussians = 37;
  expect_near(options);
  options.n_states = 50;
  expect_near(full(options));
}

// Enough states of one or two tiles of a tensor core that every way through a stretch of the model is taken, for windows that
// kernels serve in ways of their own. Of more than half the most Gaussians, states lie by fours.
TEST_P(GmmTest, SmallMixturesOfManyStates) {
  RandomGmm options;
  options.n_states = kSanitized ? 503 : 5003;
  options.stream_dims = {36};
  const std::pair<uint32_t, uint32_t> sizes[] = {{1, 16}, {9, 16}, {5, 8}};
  for (const auto &[min_gaussians, max_gaussians] : sizes) {
    options.min_gaussians = min_gaussians, options.max_gaussians = max_gaussians;
    expect_near(options, 33);
    const Scorer scorer(*this, random_gmm(options));
    const std::vector<float> features = random_features(options, 150);
    const std::vector<float> whole = scorer.score(features);
    for (const uint32_t window : {8u, 31u, 49u, 64u, 128u}) expect_same_bits(whole, scorer.score(features, window));
  }
}

TEST_P(GmmTest, ThreeStreams) {
  RandomGmm options;
  options.stream_dims = {12, 5, 1};
  expect_near(options);
  expect_near(full(options));
  options.n_codebooks = 2;
  expect_near(options);
}

TEST_P(GmmTest, TiedCodebooks) {
  for (uint32_t n_gaussians : {1u, 7u, 8u, 61u, 256u}) {
    expect_near(tied(1, n_gaussians));
    expect_near(tied(9, n_gaussians));
  }
  expect_near(full(tied(3, 17)));
}

TEST_P(GmmTest, SomeStatesShareAndSomeDoNot) {
  RandomGmm options = tied(30, 5);  // most codebooks have one state, some two or more
  options.min_gaussians = 1;
  for (options.seed = 1; options.seed < 5; ++options.seed) expect_near(options);
}

TEST_P(GmmTest, SharedCovariances) {
  RandomGmm options;
  options.n_covariances = 3;
  expect_near(options);
  expect_near(full(options));
}

TEST_P(GmmTest, ZeroWeights) {
  RandomGmm options;
  options.zero_weights = 0.5;
  expect_near(options);
  expect_near(full(options));
  RandomGmm shared = tied(3, 64);
  shared.zero_weights = 0.9;
  expect_near(shared);
}

// A state's only Gaussian is far away, while others of its codebook are near: linear weights and relative scores underflow.
TEST_P(GmmTest, TiedWeightsThatUnderflow) {
  RandomGmm options = tied(2, 33);
  options.stream_dims = {39};
  AcousticModel model = random_gmm(options);
  for (uint32_t s = 0; s < model.n_states; ++s) {
    const uint32_t n = model.codebooks[model.state_codebook[s]].n_gaussians;
    for (uint32_t k = 0; k < n; ++k) model.log_weights[model.state_weight[s] + k] = k == s % n ? -1.0f : -INFINITY;
    model.log_weights[model.state_weight[s] + (s + 1) % n] = -200;
  }
  expect_near(model, random_features(options, 20));
}

TEST_P(GmmTest, FeaturesFarFromZero) {  // deviations of 1e-2 about 50, and of 1e4 about 1e6
  RandomGmm options;
  options.stream_dims = {36};
  options.mean_offset = 100;
  for (double scale : {1e-2, 1.0, 1e4}) {
    options.scale = scale;
    expect_near(options);
    expect_near(full(options));
  }
}

TEST_P(GmmTest, FeaturesFarFromTheModel) {
  RandomGmm options;
  for (double far : {30.0, 1e3, 1e6}) {
    expect_near(random_gmm(options), random_features(options, 13, far), 1e-6);
    expect_near(random_gmm(full(options)), random_features(options, 13, far), 1e-6);
    expect_near(random_gmm(tied(2, 40)), random_features(options, 13, far), 1e-6);
  }
}

TEST_P(GmmTest, RowsDoNotDependOnTheirWindow) {
  RandomGmm shared = tied(2, 40);
  shared.zero_weights = 0.5;
  RandomGmm own;
  own.n_states = 20;
  for (const RandomGmm &options : {own, full(own), shared}) {
    const Scorer scorer(*this, random_gmm(options));
    const std::vector<float> features = random_features(options, 256, 3);
    const std::vector<float> whole = scorer.score(features);
    for (uint32_t window : {1u, 2u, 7u, 8u, 12u, 31u, 64u, 100u}) expect_same_bits(whole, scorer.score(features, window));
  }
}

TEST_P(GmmTest, ScoresDoNotDependOnThreads) {
  RandomGmm options;
  options.n_states = 300;
  options.stream_dims = {12, 7};
  const std::vector<float> features = random_features(options, 200);
  const std::vector<float> expected = Scorer(*this, random_gmm(options)).score(features);
  for (uint32_t n_threads : {2u, 5u}) {
    expect_same_bits(expected, Scorer(*this, random_gmm(options), backend_options(1, 256, n_threads)).score(features));
  }
}

// The loss by halving stays small. It shows in some bits. A back end need not halve models; Senone's
// own do.
TEST_P(GmmTest, ModelsOf16Bits) {
  asr_backend_options halved = backend_options(1, 256);
  halved.model_bits = 16;
  const std::string name = api().name;
  const bool halves = name == "cpu" || name == "cuda" || name.rfind("ocl_", 0) == 0;
  RandomGmm sparse = tied(2, 64);
  sparse.zero_weights = 0.9;
  for (RandomGmm options : {RandomGmm(), full(), tied(3, 40), full(tied(3, 17)), sparse}) {
    for (uint32_t n_dims : {13u, 36u, 39u}) {
      options.stream_dims = {n_dims};
      const AcousticModel model = random_gmm(options);
      const Scorer scorer(*this, model, halved);
      const std::vector<float> features = random_features(options, 30);
      const std::vector<float> scores = scorer.score(features);
      expect_same_bits(scores, scorer.score(features, 8));
      if (halves) {
        EXPECT_NE(scores, Scorer(*this, model).score(features)) << n_dims << " features";
      }
      for (size_t i = 0; i < scores.size(); ++i) {
        const size_t t = i / options.n_states;
        const double expected = reference::log_likelihood(scorer.view(), uint32_t(i % options.n_states), &features[t * n_dims]);
        ASSERT_NEAR(scores[i], expected, 0.02 + 1e-3 * std::abs(expected)) << n_dims << " features, row " << t;
      }
    }
  }
}

// Deviations of 1e-6 or 1e5 and far means need numbers that halves do not have: such models stay as they are.
TEST_P(GmmTest, ModelsThatDoNotFit16Bits) {
  asr_backend_options halved = backend_options(1, 256);
  halved.model_bits = 16;
  const auto expect_near = [&](const AcousticModel &model, const std::vector<float> &features) {
    const Scorer scorer(*this, model, halved);
    const std::vector<float> scores = scorer.score(features);
    for (size_t i = 0; i < scores.size(); ++i) {
      const size_t t = i / model.n_states;
      const double expected =
          reference::log_likelihood(scorer.view(), uint32_t(i % model.n_states), &features[t * model.n_dims]);
      ASSERT_NEAR(scores[i], expected, 0.02 + 1e-3 * std::abs(expected)) << "row " << t;
    }
  };
  for (const double scale : {1e-6, 1e5, 1e9}) {
    for (RandomGmm options : {RandomGmm(), full()}) {
      options.scale = scale;
      expect_near(random_gmm(options), random_features(options, 10));
    }
  }
  for (const RandomGmm &options : {RandomGmm(), tied(2, 20)}) {
    AcousticModel model = random_gmm(options);
    for (size_t i = 0; i < model.means.size() / 2; ++i) model.means[i] += 400;
    expect_near(model, random_features(options, 10));
  }
}

// G10: of a codebook that states share, the likeliest Gaussians of a frame alone count; of others, all.
TEST_P(GmmTest, TheBestGaussiansAlone) {
  require(ASR_BACKEND_SELECTION, "it mixes all Gaussians");
  if (IsSkipped()) return;
  RandomGmm some = tied(30, 40);  // some codebooks have one state
  RandomGmm sparse = tied(2, 64);
  sparse.zero_weights = 0.9;
  RandomGmm streams = tied(3, 33);
  streams.stream_dims = {12, 5, 1};
  for (const RandomGmm &kind : {tied(1, 256), full(tied(3, 17)), some, sparse, streams}) {
    const AcousticModel model = random_gmm(kind);
    const std::vector<float> features = random_features(kind, 30);
    for (uint32_t n_best : {1u, 2u, 8u, 31u, 300u}) {
      asr_backend_options options = backend_options(1, 256);
      options.n_best_gaussians = n_best;
      const Scorer scorer(*this, model, options);
      const std::vector<float> scores = scorer.score(features);
      expect_same_bits(scores, scorer.score(features, 7));
      if (n_best == 300) expect_same_bits(scores, Scorer(*this, model).score(features));
      const size_t n_dims = features.size() / 30;
      for (size_t i = 0; i < scores.size(); ++i) {
        const double expected = reference::log_likelihood(scorer.view(), uint32_t(i % kind.n_states),
                                                          &features[i / kind.n_states * n_dims], n_best);
        ASSERT_NEAR(scores[i], expected, 2e-3) << n_best << " Gaussians, value " << i;
      }
    }
  }
}

// The states of feature stream j that share no codebook.
std::vector<uint32_t> own_states(const asr_acoustic_view &view, uint32_t j) {
  std::vector<uint32_t> n_users(view.n_codebooks, 0), own;
  for (uint32_t s = 0; s < view.n_states; ++s) ++n_users[view.state_codebook[s * view.n_streams + j]];
  for (uint32_t s = 0; s < view.n_states; ++s) {
    if (n_users[view.state_codebook[s * view.n_streams + j]] == 1) own.push_back(s);
  }
  return own;
}

// G11 of one row: what each state may get. Two clusters whose nearness differs by less than the tolerance may change places.
std::vector<std::vector<double>> expected_of_clusters(const asr_acoustic_view &view, const float *features, double share) {
  std::vector<std::vector<double>> expected(view.n_states, {0.0});
  for (uint32_t j = 0; j < view.n_streams; ++j) {
    const std::vector<uint32_t> own = own_states(view, j);
    const auto clusters = own.empty() ? std::vector<std::vector<uint32_t>>() : cluster_states(view, j, own);
    std::vector<double> nearness, sorted;
    std::vector<size_t> cluster_of(view.n_states, clusters.size());
    for (const std::vector<uint32_t> &cluster : clusters) {
      double nearest = -INFINITY;
      for (const uint32_t s : cluster) {
        nearest = std::max(nearest, reference::log_single_gaussian(view, s, j, features));
        cluster_of[s] = nearness.size();
      }
      nearness.push_back(nearest);
    }
    sorted = nearness;
    std::sort(sorted.begin(), sorted.end(), std::greater<>());
    const auto n_chosen = std::max<size_t>(1, size_t(std::ceil(std::round(share * 1e6) * double(clusters.size()) / 1e6)));
    const double least = clusters.empty() ? 0 : sorted[n_chosen - 1];
    for (uint32_t s = 0; s < view.n_states; ++s) {
      const double distance = cluster_of[s] < clusters.size() ? nearness[cluster_of[s]] - least : INFINITY;
      std::vector<double> terms, sums;
      if (distance > -4e-3) terms.push_back(reference::log_mixture(view, s, j, features));
      if (distance < 4e-3) terms.push_back(reference::log_single_gaussian(view, s, j, features));
      for (const double sum : expected[s]) {
        for (const double term : terms) sums.push_back(sum + term);
      }
      expected[s] = sums;
    }
  }
  return expected;
}

bool is_one_of(const std::vector<double> &values, float score) {
  return std::any_of(values.begin(), values.end(),
                     [&](double value) { return std::abs(score - value) < 2e-3 + 1e-6 * std::abs(value); });
}

// G11: states of the clusters that are nearest to a row are scored, the others have the score of their single Gaussian.
TEST_P(GmmTest, TheNearestClustersOfStates) {
  require(ASR_BACKEND_CLUSTERS, "it scores all states");
  if (IsSkipped()) return;
  RandomGmm diagonal, streams, some = tied(30, 40), sizes, sparse;
  diagonal.n_states = 160;  // ten clusters
  sizes.n_states = 203;
  diagonal.stream_dims = {24};
  diagonal.min_gaussians = diagonal.max_gaussians = 4;
  sizes.max_gaussians = 21;
  sparse.n_states = 70;
  sparse.zero_weights = 0.5;
  streams.n_states = 50;
  streams.stream_dims = {12, 5, 1};
  RandomGmm covariances = full(sparse);
  covariances.stream_dims = {9};
  for (const RandomGmm &kind : {diagonal, covariances, sizes, sparse, streams, some}) {
    const AcousticModel model = random_gmm(kind);
    const std::vector<float> features = random_features(kind, 30, 1.5);
    const size_t n_dims = features.size() / 30;
    for (const float share : {0.01f, 0.1f, 0.3f, 0.9f}) {
      asr_backend_options options = backend_options(1, 256);
      options.cluster_share = share;
      const Scorer scorer(*this, model, options);
      const std::vector<float> scores = scorer.score(features);
      expect_same_bits(scores, scorer.score(features, 7));
      for (size_t t = 0; t < 30; t += 7) {
        const auto expected = expected_of_clusters(scorer.view(), &features[t * n_dims], double{share});
        for (uint32_t s = 0; s < kind.n_states; ++s) {
          EXPECT_TRUE(is_one_of(expected[s], scores[t * kind.n_states + s]))
              << "share " << share << ", row " << t << ", state " << s << ": " << scores[t * kind.n_states + s];
        }
      }
    }
  }
}

// Rows beyond all Gaussians choose the first clusters; states have the same bits as where all are scored. So has a model of one
// cluster.
TEST_P(GmmTest, ClustersOfExtremeRows) {
  require(ASR_BACKEND_CLUSTERS, "it scores all states");
  if (IsSkipped()) return;
  asr_backend_options options = backend_options(1, 256);
  options.cluster_share = 0.3f;
  RandomGmm kind;
  kind.n_states = 100;
  for (const RandomGmm &of : {kind, full(kind)}) {
    const AcousticModel model = random_gmm(of);
    const std::vector<float> features(size_t{50} * model.n_dims, 3e38f);
    for (const float score : Scorer(*this, model, options).score(features)) EXPECT_LT(score, -1e30f);
  }
  kind.n_states = 16;
  const std::vector<float> features = random_features(kind, 300);
  const AcousticModel model = random_gmm(kind);
  expect_same_bits(Scorer(*this, model, options).score(features), Scorer(*this, model).score(features));
}

// A state's Gaussians may lie far apart: then the covariance of its mixture is nearly singular.
TEST_P(GmmTest, ClustersOfMixturesSpreadWide) {
  require(ASR_BACKEND_CLUSTERS, "it scores all states");
  if (IsSkipped()) return;
  asr_backend_options options = backend_options(1, 256);
  options.cluster_share = 0.01f;
  RandomGmm kind = full();
  kind.n_states = 50;
  kind.min_gaussians = 2;
  AcousticModel model = random_gmm(kind);
  for (uint32_t s = 0; s < 3; ++s) model.means[model.codebooks[s].first_mean] += s == 2 ? 3e4f : 500.0f;
  const std::vector<float> features = random_features(kind, 3);
  const Scorer scorer(*this, model, options);
  const std::vector<float> scores = scorer.score(features);
  for (uint32_t t = 0; t < 3; ++t) {
    const auto expected = expected_of_clusters(scorer.view(), &features[size_t{t} * model.n_dims], 0.01);
    for (uint32_t s = 0; s < kind.n_states; ++s) {
      EXPECT_TRUE(is_one_of(expected[s], scores[t * kind.n_states + s])) << "row " << t << ", state " << s;
    }
  }
}

TEST_P(GmmTest, PrecisionThatIsNotPositiveDefinite) {
  AcousticModel model = random_gmm(full());
  model.precisions[2] = -1;
  const AcousticView view(model);
  const auto device = open();
  asr_backend_acoustic *acoustic = nullptr;
  EXPECT_LT(api().load_acoustic(device->get(), view.get(), &acoustic), 0);
  EXPECT_NE(std::string(api().last_error()).find("positive definite"), std::string::npos) << api().last_error();
}

SENONE_INSTANTIATE(GmmTest);

}  // namespace
}  // namespace asr::test
