// SPDX-License-Identifier: Apache-2.0
// Tests real models of CMU Sphinx: those of Debian's pocketsphinx packages, and those of SENONE_TEST_DATA if it is set. Their
// sizes are known, the lookup must find every triphone, and scores must equal a plain evaluation of the files.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "builder/import/sphinx.h"
#include "builder/import/sphinx_mdef.h"
#include "builder/import/sphinx_s3.h"
#include "reference/gmm.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

constexpr char kDebian[] = "/usr/share/pocketsphinx/";

struct Sizes {
  size_t phones, contexts, pdfs, gaussians, dims;
  double sample_rate_hz;
};

void expect_sizes(const ImportedModel &model, const Sizes &sizes) {
  EXPECT_EQ(model.hmms.phones.size(), sizes.phones);
  EXPECT_EQ(model.hmms.contexts.size(), sizes.contexts);
  EXPECT_EQ(model.acoustic.n_states, sizes.pdfs);
  EXPECT_EQ(model.acoustic.n_gaussians(), sizes.gaussians);
  EXPECT_EQ(model.acoustic.n_dims, sizes.dims);
  EXPECT_EQ(model.bundle.front_end.sample_rate_hz, sizes.sample_rate_hz);
}

void expect_every_context_found(const HmmSet &set) {
  const ContextTable table(set);
  size_t n_missed = 0;
  for (const ContextPhone &c : set.contexts) {
    n_missed += table.find(c.base, c.left, c.right, static_cast<WordPosition>(c.position)) != c.hmm;
  }
  EXPECT_EQ(n_missed, 0u);
}

// Compares scores of some states, at the mean of one of their Gaussians and away from it, with sums over the files' own values.
// The weights are the imported model's: their reader has its own tests.
void expect_scores(const ImportedModel &model, const std::string &dir, const std::string &mdef_path) {
  const auto means = sphinx::read_gaussians(dir + "/means"), variances = sphinx::read_gaussians(dir + "/variances");
  const sphinx::Mdef mdef = sphinx::read_mdef(mdef_path);
  const AcousticModel &acoustic = model.acoustic;
  const AcousticView view(acoustic);
  size_t values_a_codebook = 0;
  for (const uint32_t dims : means.stream_dims) values_a_codebook += size_t{means.n_densities} * dims;

  for (uint32_t i = 0; i < mdef.phones.size(); i += static_cast<uint32_t>(mdef.phones.size() / 20 + 1)) {
    const sphinx::MdefPhone &phone = mdef.phones[i];
    const uint32_t s = mdef.senones[size_t{phone.sequence} * mdef.n_emitting];
    const uint32_t codebook = means.n_codebooks == 1 ? 0 : means.n_codebooks == mdef.n_base() ? phone.base : s;
    std::vector<float> x(acoustic.n_dims);
    double expected = 0;
    size_t at = codebook * values_a_codebook;
    for (size_t j = 0; j < means.stream_dims.size(); ++j) {
      const uint32_t d = means.stream_dims[j];
      for (uint32_t k = 0; k < d; ++k) x[acoustic.streams[j].dims[k]] = means.values[at + k] + 0.3f * static_cast<float>(k % 3);
      double best = -INFINITY;
      std::vector<double> terms;
      for (uint32_t k = 0; k < means.n_densities; ++k, at += d) {
        const size_t n_streams = means.stream_dims.size();
        double term = acoustic.log_weights[(s * n_streams + j) * means.n_densities + k];
        for (uint32_t n = 0; n < d; ++n) {
          const double variance = std::max(double(variances.values[at + n]), 1e-4);
          const double difference = x[acoustic.streams[j].dims[n]] - double(means.values[at + n]);
          term -= 0.5 * (std::log(2 * M_PI * variance) + difference * difference / variance);
        }
        terms.push_back(term);
        best = std::max(best, term);
      }
      double sum = 0;
      for (const double term : terms) sum += std::exp(term - best);
      expected += best + std::log(sum);
    }
    EXPECT_NEAR(reference::log_likelihood(*view.get(), s, x.data()), expected, 2e-3) << "senone " << s;
  }
}

void check(const SphinxOptions &options, const Sizes &sizes) {
  const ImportedModel model = import_sphinx(options);
  expect_sizes(model, sizes);
  expect_every_context_found(model.hmms);
  expect_scores(model, options.model_dir, options.mdef.empty() ? options.model_dir + "/mdef" : options.mdef);
  const test::Scratch scratch;
  write_imported_model(model, scratch / "bundle");
  const Bundle bundle = read_bundle(scratch / "bundle");
  EXPECT_EQ(read_acoustic_model(bundle.file("acoustic.bin")).log_weights, model.acoustic.log_weights);
  EXPECT_EQ(read_hmm_set(bundle.file("hmms.bin")).contexts.size(), sizes.contexts);
}

TEST(RealModel, DebianEnUs) {
  const std::string dir = std::string(kDebian) + "model/en-us/en-us";
  ASSERT_TRUE(std::filesystem::exists(dir)) << "install pocketsphinx-en-us";
  check({dir, "", "", "", 0}, {42, 137053, 5126, 16128, 39, 16000});
  const ImportedModel model = import_sphinx({dir, "", "", "", 0});
  EXPECT_EQ(model.bundle.filler_words.size(), 5u);
  EXPECT_EQ(model.bundle.front_end.cmn_prior[0], 41.0f);
  size_t n_floored = 0;
  for (const float precision : model.acoustic.precisions) n_floored += precision >= 9999;
  EXPECT_GE(n_floored, 222u);  // variances of 0 in the file
}

TEST(RealModel, DebianAn4ContextIndependent) {
  const std::string dir = std::string(kDebian) + "test/data/an4_ci_cont";
  ASSERT_TRUE(std::filesystem::exists(dir)) << "install pocketsphinx-testdata";
  check({dir, "", "", "", 0}, {34, 0, 102, 102, 39, 16000});
}

TEST(RealModel, DebianTidigits) {
  const std::string dir = std::string(kDebian) + "test/data/tidigits/hmm";
  ASSERT_TRUE(std::filesystem::exists(dir)) << "install pocketsphinx-testdata";
  check({dir, "", "", "", 0}, {34, 396, 670, 1024, 51, 8000});
}

// Returns the folder of the test data, or skips the test.
// NOLINTBEGIN(bugprone-macro-parentheses): a name
#define TEST_DATA_OR_SKIP(data)                        \
  const char *const data = getenv("SENONE_TEST_DATA"); \
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set"
// NOLINTEND(bugprone-macro-parentheses)

TEST(RealModel, An4Continuous) {
  TEST_DATA_OR_SKIP(data);
  check({std::string(data) + "/cmusphinx_an4_cont8", "", "", "", 0}, {34, 6372, 302, 2416, 39, 16000});
}

TEST(RealModel, Rm1Continuous) {
  TEST_DATA_OR_SKIP(data);
  const std::string dir = std::string(data) + "/cmusphinx_rm1_cont8";
  check({dir + "/cd_continuous_8gau", dir + "/etc/RM1_clean_13dCep_16k_40mel_130Hz_6800Hz.1800.mdef",
         dir + "/feat.params.inferred", dir + "/dict/fillerdict", 0},
        {45, 30080, 1935, 15480, 39, 16000});
}

TEST(RealModel, Hub4SemiContinuous) {
  TEST_DATA_OR_SKIP(data);
  check({std::string(data) + "/cmusphinx_hub4wsj_sc_8k/model/hmm/en_US/hub4wsj_sc_8k", "", "", "", 0},
        {50, 143047, 5150, 768, 39, 8000});
}

}  // namespace
}  // namespace asr
