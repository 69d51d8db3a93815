// SPDX-License-Identifier: Apache-2.0
// Tests the extension "fusion": rows that `score` left on the device, fused there, against the double reference (G5 to G7).
#include "core/backend/asr_backend_fusion.h"

#include "core/base/fused_rows.h"
#include "reference/fusion.h"
#include "tests/conformance/gmm_fixture.h"

namespace asr::test {
namespace {

class FusionTest : public GmmTest {
 protected:
  void SetUp() override {
    GmmTest::SetUp();
    if (IsSkipped()) return;
    fusion_ = extension_of<asr_backend_fusion_api>(api(), ASR_BACKEND_FUSION);
    if (fusion_ == nullptr) GTEST_SKIP() << entry().id << ": the host fuses the scores of this back end";
  }

  // A model on the device, whose rows have been scored into both buffers.
  struct Model {
    Model(const Device &device, uint32_t n_states, uint32_t seed, uint32_t rows) : api(*device.api()), n_rows(rows) {
      reference::RandomGmm options;
      options.stream_dims = {13 + seed % 7};
      options.n_states = n_states;
      options.max_gaussians = 1 + seed % 5;
      options.seed = seed;
      const AcousticModel model = reference::random_gmm(options);
      const AcousticView view(model);
      device.check(api.load_acoustic(device.get(), view.get(), &acoustic));
      const std::vector<float> features = reference::random_features(options, n_rows);
      scores.resize(size_t{n_rows} * n_states);
      for (const uint32_t buffer : {0u, 1u}) {
        const asr_score_job job{acoustic, features.data(), n_rows, buffer, scores.data()};
        device.check(api.score(device.get(), &job, 1));
        device.check(api.wait(device.get(), 0));
      }
    }
    ~Model() { api.free_acoustic(acoustic); }
    Model(const Model &) = delete;
    Model &operator=(const Model &) = delete;

    const asr_backend_api &api;
    const uint32_t n_rows;
    asr_backend_acoustic *acoustic = nullptr;
    std::vector<float> scores;
  };
  using Models = std::vector<std::unique_ptr<Model>>;

  static Models models_of(const Device &device, size_t n, uint32_t n_states, uint32_t n_rows) {
    Models models;
    for (uint32_t m = 0; m < n; ++m) models.push_back(std::make_unique<Model>(device, n_states, 3 * m + n_states, n_rows));
    return models;
  }

  // The rows of a job as the reference finds them.
  static std::vector<double> expected(const Models &models, uint32_t n_states, const asr_fuse_job &job) {
    reference::FusionProblem problem;
    problem.rule = static_cast<reference::Fusion>(job.rule);
    problem.n_frames = job.n_rows, problem.n_states = n_states;
    for (uint32_t m = 0; m < job.n_terms; ++m) {
      const asr_fuse_term &term = job.terms[m];
      const auto model =
          std::find_if(models.begin(), models.end(), [&](const auto &x) { return x->acoustic == term.acoustic; });
      const auto first = (*model)->scores.begin() + static_cast<ptrdiff_t>(term.first_row) * n_states;
      problem.loglikes.emplace_back(first, first + static_cast<ptrdiff_t>(job.n_rows) * n_states);
      problem.weights.push_back(static_cast<double>(term.weight));
    }
    return reference::fuse(problem);
  }

  // Rows of a job among all rows of a buffer.
  static void expect_rows(const std::vector<double> &expected, const Guarded<float> &all, uint32_t n_states,
                          const asr_fuse_job &job) {
    for (size_t i = 0; i < expected.size(); ++i) {
      const double found = static_cast<double>(all[size_t{job.first_row} * n_states + i]), wanted = expected[i];
      ASSERT_NEAR(found, wanted, 2e-6 * std::abs(wanted) + 1e-5) << "rule " << job.rule << " value " << i;
    }
  }

  // Rows with the bits of the host's, which has the same operations in the same order (core/base/fused_rows.h). OpenCL's
  // division, of which log-sum has one, is not exact.
  void expect_host_bits(const Models &models, const Guarded<float> &all, uint32_t n_states, const asr_fuse_job &job) const {
    if (job.rule == ASR_FUSE_LOG_SUM && entry().id.rfind("ocl", 0) == 0) return;
    std::vector<float> weights, offsets, scratch(n_states), expected(n_states);
    for (uint32_t m = 0; m < job.n_terms; ++m) weights.push_back(job.terms[m].weight);
    const double largest = static_cast<double>(*std::max_element(weights.begin(), weights.end()));
    for (const float weight : weights) offsets.push_back(static_cast<float>(std::log(static_cast<double>(weight) / largest)));
    for (uint32_t t = 0; t < job.n_rows; ++t) {
      std::vector<const float *> rows;
      for (uint32_t m = 0; m < job.n_terms; ++m) {
        const asr_fuse_term &term = job.terms[m];
        const auto model =
            std::find_if(models.begin(), models.end(), [&](const auto &x) { return x->acoustic == term.acoustic; });
        rows.push_back((*model)->scores.data() + size_t{term.first_row + t} * n_states);
      }
      if (job.rule == ASR_FUSE_SUM) fuse_sum(rows.data(), weights.data(), rows.size(), n_states, expected.data());
      if (job.rule == ASR_FUSE_MAX) fuse_max(rows.data(), offsets.data(), rows.size(), n_states, expected.data());
      if (job.rule == ASR_FUSE_LOG_SUM) {
        fuse_log_sum(rows.data(), weights.data(), offsets.data(), rows.size(), n_states, scratch.data(), expected.data());
      }
      ASSERT_EQ(memcmp(expected.data(), all.data() + size_t{job.first_row + t} * n_states, n_states * sizeof(float)), 0)
          << "rule " << job.rule << " of " << job.n_terms << ", row " << t;
    }
  }

  // A job for each row, in one call, finds what one job has found: devices may serve few jobs in a way of their own.
  void expect_bits_of_many_jobs(const Device &device, asr_backend_acoustic *to, const asr_fuse_job &job,
                                const Guarded<float> &all) const {
    std::vector<std::vector<asr_fuse_term>> terms;
    std::vector<asr_fuse_job> jobs;
    for (uint32_t t = 0; t < job.n_rows; ++t) {
      terms.emplace_back(job.terms, job.terms + job.n_terms);
      for (asr_fuse_term &term : terms.back()) term.first_row += t;
      jobs.push_back({terms.back().data(), job.n_terms, job.rule, job.first_row + t, 1});
    }
    Guarded<float> many(all.size());
    device.check(fusion_->fuse(device.get(), to, jobs.data(), jobs.size(), 1, many.data()));
    device.check(api().wait(device.get(), 0));
    ASSERT_EQ(memcmp(many.data(), all.data(), all.size() * sizeof(float)), 0) << "rule " << job.rule;
  }

  const asr_backend_fusion_api *fusion_ = nullptr;
};

TEST_P(FusionTest, RulesOfManyModels) {
  for (const uint32_t n_states : {1u, 67u, 515u}) {
    const auto device = open(backend_options(1, 64));
    const Models models = models_of(*device, ASR_FUSE_MOST_TERMS, n_states, 11);
    for (const uint32_t n_terms : {1u, 2u, 3u, 10u, 13u, ASR_FUSE_MOST_TERMS}) {
      for (const asr_fuse_rule rule : {ASR_FUSE_SUM, ASR_FUSE_LOG_SUM, ASR_FUSE_MAX}) {
        std::vector<asr_fuse_term> terms;
        float sum = 0;
        for (uint32_t m = 0; m < n_terms; ++m) {
          terms.push_back({models[m]->acoustic, 2 + m % 3, 0.25f + static_cast<float>(m * m % 7)});
          sum += terms.back().weight;
        }
        for (asr_fuse_term &term : terms) term.weight /= sum;
        const Model to(*device, n_states, 1000, 9);
        const asr_fuse_job job{terms.data(), n_terms, rule, 1, 6};
        Guarded<float> all(to.scores.size());
        device->check(fusion_->fuse(device->get(), to.acoustic, &job, 1, 1, all.data()));
        device->check(api().wait(device->get(), 0));
        ASSERT_TRUE(all.bands_intact());
        ASSERT_EQ(all.n_unwritten(), 0u);
        expect_rows(expected(models, n_states, job), all, n_states, job);
        expect_host_bits(models, all, n_states, job);
        expect_bits_of_many_jobs(*device, to.acoustic, job, all);
        for (const uint32_t row : {0u, 7u, 8u}) {
          const size_t at = size_t{row} * n_states;
          EXPECT_EQ(memcmp(all.data() + at, to.scores.data() + at, n_states * sizeof(float)), 0) << row;
        }
      }
    }
  }
}

// Results in place of a term, jobs of different lengths and rules, and a call while the scores of the last are on their way.
TEST_P(FusionTest, JobsInPlace) {
  constexpr uint32_t kStates = 130;
  const auto device = open(backend_options(4, 64));
  const Models models = models_of(*device, 3, kStates, 60);
  asr_backend_acoustic *const own = models[0]->acoustic;
  std::vector<std::vector<asr_fuse_term>> terms = {
      {{own, 0, 0.5f}, {models[1]->acoustic, 5, 0.5f}}, {{models[2]->acoustic, 0, 0.75f}, {own, 20, 0.25f}}, {{own, 30, 1.0f}}};
  const asr_fuse_job jobs[] = {{terms[0].data(), 2, ASR_FUSE_LOG_SUM, 0, 20},
                               {terms[1].data(), 2, ASR_FUSE_MAX, 20, 1},
                               {terms[2].data(), 1, ASR_FUSE_LOG_SUM, 30, 30}};
  Guarded<float> first(models[0]->scores.size()), second(models[0]->scores.size());
  device->check(fusion_->fuse(device->get(), own, jobs, 3, 0, first.data()));
  device->check(fusion_->fuse(device->get(), own, nullptr, 0, 0, second.data()));
  device->check(api().wait(device->get(), 0));
  for (const asr_fuse_job &job : jobs) expect_rows(expected(models, kStates, job), first, kStates, job);
  EXPECT_EQ(memcmp(first.data(), second.data(), first.size() * sizeof(float)), 0);
  // NOLINTNEXTLINE(bugprone-suspicious-memory-comparison): bit for bit
  EXPECT_EQ(memcmp(first.data() + size_t{30} * kStates, models[0]->scores.data() + size_t{30} * kStates,
                   size_t{30} * kStates * sizeof(float)),
            0)
      << "one model is itself";
}

// A model fused with itself, in halves, is that model bit for bit.
TEST_P(FusionTest, AModelWithItself) {
  constexpr uint32_t kStates = 40;
  const auto device = open(backend_options(1, 64));
  const Models models = models_of(*device, 1, kStates, 8);
  asr_backend_acoustic *const own = models[0]->acoustic;
  for (const asr_fuse_rule rule : {ASR_FUSE_LOG_SUM, ASR_FUSE_MAX}) {
    const asr_fuse_term terms[] = {{own, 0, 0.5f}, {own, 0, 0.5f}};
    const asr_fuse_job job{terms, 2, rule, 0, 8};
    Guarded<float> all(models[0]->scores.size());
    device->check(fusion_->fuse(device->get(), own, &job, 1, 0, all.data()));
    device->check(api().wait(device->get(), 0));
    EXPECT_EQ(memcmp(all.data(), models[0]->scores.data(), all.size() * sizeof(float)), 0) << "rule " << rule;
  }
}

TEST_P(FusionTest, WrongCalls) {
  const auto device = open(backend_options(1, 64));
  const Models models = models_of(*device, 1, 12, 8);
  const Model other(*device, 13, 5, 8);
  asr_backend_acoustic *const own = models[0]->acoustic;
  const auto refused = [&](const asr_fuse_term &term, asr_fuse_job job, uint32_t buffer, const char *why) {
    job.terms = &term;
    EXPECT_EQ(fusion_->fuse(device->get(), own, &job, 1, buffer, nullptr), ASR_INVALID_ARGUMENT) << why;
    EXPECT_NE(std::string(api().last_error()).find(why), std::string::npos) << api().last_error();
  };
  const asr_fuse_term good{own, 0, 1.0f};
  const asr_fuse_job job{nullptr, 1, ASR_FUSE_MAX, 0, 8};
  refused(good, {nullptr, 0, ASR_FUSE_MAX, 0, 8}, 0, "terms");
  refused(good, {nullptr, 33, ASR_FUSE_MAX, 0, 8}, 0, "terms");
  refused(good, {nullptr, 1, static_cast<asr_fuse_rule>(3), 0, 8}, 0, "rule");
  refused(good, {nullptr, 1, ASR_FUSE_MAX, 1, 8}, 0, "rows 1 to 9");
  refused({own, 7, 1.0f}, job, 0, "rows 7 to 15");
  refused({own, 0, 0.0f}, job, 0, "weight");
  refused({own, 0, INFINITY}, job, 0, "weight");
  refused({other.acoustic, 0, 1.0f}, job, 0, "states");
  refused(good, job, 2, "buffer 2");
}

SENONE_INSTANTIATE(FusionTest);

}  // namespace
}  // namespace asr::test
