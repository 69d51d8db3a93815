// SPDX-License-Identifier: Apache-2.0
// Tests Julius' binary HMMs: a small tied and an untied set made here, damaged ones, and the real ones of SENONE_TEST_DATA.
#include <cmath>
#include <cstdlib>
#include <cstring>

#include "builder/import/htk.h"
#include "builder/import/htk_model.h"
#include "tests/unit/import/htk_writer.h"
#include "tests/unit/scratch.h"

namespace asr::htk {
namespace {

using test::Scratch;

class BinHmm : public ::testing::TestWithParam<bool> {
 protected:
  Scratch scratch_;
  std::string path_ = scratch_ / "binhmm";
  void SetUp() override { test::spill(path_, test::small_binhmm(GetParam())); }
};
INSTANTIATE_TEST_SUITE_P(Julius, BinHmm, ::testing::Values(false, true));

TEST_P(BinHmm, SmallSet) {
  const ModelSet set = read_binhmm(path_);
  EXPECT_EQ(set.kind, kMfcc);
  const AcousticModel a = make_acoustic_model(set, path_);
  EXPECT_EQ(a.codebooks.size(), GetParam() ? 1u : 2u);
  EXPECT_EQ(a.means[0], GetParam() ? -1 : 1);
  EXPECT_EQ(a.precisions, (std::vector<float>{0.25f, 2}));
  EXPECT_EQ(a.covariance_of[0], GetParam() ? 0u : 1u);
  EXPECT_EQ(a.log_weights[1], std::log(0.75f));
  EXPECT_EQ(a.log_weights[3], -INFINITY);
  const HmmSet hmms = make_hmm_set(set, {}, path_);
  EXPECT_EQ(hmms.silence, 1u);
  ASSERT_EQ(hmms.topologies[0].arcs.size(), 3u);
  EXPECT_NEAR(hmms.topologies[0].arcs[0].cost, -std::log(0.75), 1e-6);
}

TEST_P(BinHmm, NoDamageCrashes) {
  const size_t refused = test::count_refused_damages(path_, [&] {
    const ModelSet set = read_binhmm(path_);
    make_acoustic_model(set, path_);
    make_hmm_set(set, {}, path_);
  });
  EXPECT_GE(refused, test::slurp(path_).size());
}

TEST_P(BinHmm, OtherVersions) {
  test::spill(path_, "JBINHMMV2" + std::string(1, '\0'));
  test::expect_error([&] { read_binhmm(path_); }, ASR_UNSUPPORTED, "version 1");
  test::spill(path_, "something else" + std::string(1, '\0'));
  test::expect_error([&] { read_binhmm(path_); }, ASR_BAD_FILE, "not a binary HMM file");
}

// The expected content of the files is unknown, but probabilities sum to 1 if all are read from the right offsets.
void expect_probabilities(const ModelSet &set) {
  for (const TransitionMatrix &matrix : set.transitions) {
    for (uint32_t row = 0; row + 1 < matrix.n; ++row) {
      double sum = 0;
      for (uint32_t to = 0; to < matrix.n; ++to) sum += matrix.probs[size_t{row} * matrix.n + to];
      EXPECT_NEAR(sum, 1, 1e-4);
    }
  }
  for (const State &state : set.states) {
    double sum = 0;
    for (const float weight : state.streams[0].log_weights) sum += std::exp(double{weight});
    EXPECT_NEAR(sum, 1, 2e-3);  // training dropped the smallest ones
  }
}

TEST(JuliusData, MonophonesAndTiedTriphones) {
  const char *data = getenv("SENONE_TEST_DATA");
  if (!data) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string folder = std::string(data) + "/julius_binhmm_ja/model/phone_m/";
  const ModelSet mono = read_binhmm(folder + "hmmdefs_monof_mix16_gid.binhmm");
  EXPECT_EQ(mono.hmms.size(), 43u);
  EXPECT_EQ(mono.kind, kMfcc | kEnergy | kNoAbsoluteEnergy | kDelta | kZeroMean);
  expect_probabilities(mono);
  const ModelSet tied = read_binhmm(folder + "hmmdefs_ptm_gid.binhmm");
  expect_probabilities(tied);
  EXPECT_EQ(tied.stream_dims, (std::vector<uint32_t>{25}));

  HtkOptions options;
  options.models = {folder + "hmmdefs_ptm_gid.binhmm"};
  options.hmm_list = folder + "logicalTri";
  options.energy_scale = 1;
  const ImportedModel model = import_julius(options);
  EXPECT_EQ(model.acoustic.codebooks.size(), tied.codebooks.size());
  EXPECT_EQ(model.bundle.front_end.n_dims(), 25u);
  EXPECT_EQ(model.hmms.phones.size(), 43u);
  EXPECT_GT(model.hmms.contexts.size(), 20000u);
}

}  // namespace
}  // namespace asr::htk
