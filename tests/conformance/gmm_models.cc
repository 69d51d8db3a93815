// SPDX-License-Identifier: Apache-2.0
// Tests `score` of many models in one call: the same bits as one model after the other.
#include "tests/conformance/gmm_fixture.h"

namespace asr::test {
namespace {

using reference::RandomGmm;

class GmmModelsTest : public GmmTest {
 protected:
  // A model on a shared device, with rows for it.
  struct Model {
    Model(const Device &device, const RandomGmm &options, uint32_t n_rows)
        : api(*device.api()),
          model(reference::random_gmm(options)),
          view(model),
          n_rows(n_rows),
          features(reference::random_features(options, std::max(1u, n_rows))) {
      device.check(api.load_acoustic(device.get(), view.get(), &acoustic));
    }
    ~Model() { api.free_acoustic(acoustic); }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;
    size_t n_scores() const { return size_t{n_rows} * model.n_states; }

    const asr_backend_api &api;
    const AcousticModel model;
    const AcousticView view;
    const uint32_t n_rows;
    const std::vector<float> features;
    asr_backend_acoustic *acoustic = nullptr;
  };
  using Models = std::vector<std::unique_ptr<Model>>;

  static RandomGmm random(std::vector<uint32_t> stream_dims, uint32_t n_states, uint32_t n_gaussians) {
    RandomGmm options;
    options.stream_dims = std::move(stream_dims);
    options.n_states = n_states;
    options.max_gaussians = n_gaussians;
    options.seed = n_states + n_gaussians;
    return options;
  }

  static void expect_scores_of_each(const Device &device, const Models &models, uint32_t buffer) {
    std::vector<std::unique_ptr<Guarded<float>>> together;
    std::vector<asr_score_job> jobs;
    for (const auto &m : models) {
      together.push_back(std::make_unique<Guarded<float>>(m->n_scores()));
      jobs.push_back({m->acoustic, m->features.data(), m->n_rows, buffer, together.back()->data()});
    }
    device.check(device.api()->score(device.get(), jobs.data(), jobs.size()));
    device.check(device.api()->wait(device.get(), 0));
    for (size_t i = 0; i < models.size(); ++i) {
      const Model &m = *models[i];
      EXPECT_TRUE(together[i]->bands_intact());
      EXPECT_EQ(together[i]->n_unwritten(), 0u);
      std::vector<float> alone(m.n_scores());
      const asr_score_job job{m.acoustic, m.features.data(), m.n_rows, 1 - buffer, alone.data()};
      device.check(device.api()->score(device.get(), &job, 1));
      device.check(device.api()->wait(device.get(), 0));
      ASSERT_TRUE(alone.empty() || memcmp(alone.data(), together[i]->data(), alone.size() * sizeof(float)) == 0)
          << "model " << i;
    }
  }
};

TEST_P(GmmModelsTest, ModelsThatDifferInEverything) {
  const auto device = open(backend_options(1, 256));
  RandomGmm full = random({13}, 20, 5), tied = random({39}, 45, 40);
  full.covariance = ASR_COVARIANCE_FULL;
  tied.n_codebooks = 3;
  tied.min_gaussians = 40;
  Models models;
  const auto add = [&](const RandomGmm &options, uint32_t n_rows) {
    models.push_back(std::make_unique<Model>(*device, options, n_rows));
  };
  add(random({36}, 203, 37), 8);
  add(random({13}, 7, 1), 200);
  add(full, 31);
  add(random({39}, 500, 16), 70);
  add(random({12, 5, 1}, 33, 8), 3);
  add(tied, 12);
  add(random({36}, 11, 300), 0);
  expect_scores_of_each(*device, models, 0);
  expect_scores_of_each(*device, models, 1);
}

TEST_P(GmmModelsTest, ManyOfOneKind) {
  const auto device = open(backend_options(1, 256));
  Models models;
  for (uint32_t i = 0; i < 19; ++i) {
    models.push_back(std::make_unique<Model>(*device, random({36}, 5 + 13 * i, 1 + i % 9), 1 + 13 * i % 256));
  }
  expect_scores_of_each(*device, models, 0);
  EXPECT_EQ(device->api()->score(device->get(), nullptr, 0), ASR_OK);
}

// A launch that several models share is cut by their sizes: here one of three states lies beside one of many.
TEST_P(GmmModelsTest, TwoOfUnlikeSizes) {
  const auto device = open(backend_options(1, 256));
  for (const uint32_t n_rows : {1u, 16u, 33u, 65u, 129u, 256u}) {
    Models models;
    models.push_back(std::make_unique<Model>(*device, random({36}, 3, 2), n_rows));
    models.push_back(std::make_unique<Model>(*device, random({36}, 1501, 40), 257 - n_rows));
    expect_scores_of_each(*device, models, 0);
  }
}

// 32 models: diagonal ones of all sizes that kernels are compiled for, full and tied ones and several streams among them.
TEST_P(GmmModelsTest, AsManyAsAnEngineHolds) {
  const auto device = open(backend_options(1, 256));
  Models models;
  for (uint32_t i = 0; i < 32; ++i) {
    RandomGmm options = random({std::vector<uint32_t>{36, 13, 39, 40}[i % 4]}, 9 + 37 * i % 300, 1 + 7 * i % 40);
    if (i % 11 == 5) options = random({12, 5, 1}, 40, 20);
    if (i % 11 == 7) options.n_codebooks = 5, options.min_gaussians = options.max_gaussians;
    if (i % 11 == 9) options = random({13}, 30, 6), options.covariance = ASR_COVARIANCE_FULL;
    models.push_back(std::make_unique<Model>(*device, options, 1 + 29 * i % 256));
  }
  expect_scores_of_each(*device, models, 1);
}

TEST_P(GmmModelsTest, ModelsOf16Bits) {
  asr_backend_options halved = backend_options(1, 256);
  halved.model_bits = 16;
  const auto device = open(halved);
  Models models;
  for (uint32_t i = 0; i < 5; ++i) {
    models.push_back(
        std::make_unique<Model>(*device, random({std::vector<uint32_t>{36, 39, 13}[i % 3]}, 70 + 100 * i, 17), 8 << i));
  }
  expect_scores_of_each(*device, models, 0);
}

SENONE_INSTANTIATE(GmmModelsTest);

}  // namespace
}  // namespace asr::test
