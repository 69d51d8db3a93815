// SPDX-License-Identifier: Apache-2.0
// Tests `score` of every back end with models trained by others, on features of a real recording: CMU Sphinx's models of
// Debian, and those of CMU Sphinx, HTK and Julius in SENONE_TEST_DATA.
#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <filesystem>

#include "builder/import/htk.h"
#include "builder/import/sphinx.h"
#include "core/base/file.h"
#include "reference/mfcc.h"
#include "tests/conformance/gmm_fixture.h"
#include "tests/sanitized.h"

namespace asr::test {
namespace {

const std::string kSphinx = "/usr/share/pocketsphinx";

class RealModelTest : public GmmTest {
 protected:
  // Returns every fortieth frame of "go forward ten meters", with features computed in double and rounded once.
  static std::vector<float> features_of(const FrontEnd &front_end) {
    const std::string raw = read_file(kSphinx + "/test/data/goforward.raw");
    std::vector<int16_t> samples(raw.size() / 2);
    std::memcpy(samples.data(), raw.data(), 2 * samples.size());
    const reference::Rows cepstra = reference::mfcc(front_end, {samples.begin(), samples.end()});
    const reference::Rows rows = reference::dynamic(front_end, reference::batch_normalised(front_end, cepstra));
    std::vector<float> features;
    for (size_t t = 0; t < rows.size(); t += 40) features.insert(features.end(), rows[t].begin(), rows[t].end());
    return features;
  }

  void expect_near_on_speech(const ImportedModel &model) const {
    std::vector<float> features = features_of(model.bundle.front_end);
    ASSERT_GT(features.size(), 5 * model.acoustic.n_dims);
    ASSERT_EQ(features.size() % model.acoustic.n_dims, 0u);
    if (kSanitized) features.resize(std::min(features.size(), size_t{50} * model.acoustic.n_dims));
    expect_near(model.acoustic, features);
  }
};

#define OR_SKIP(path) \
  if (!std::filesystem::exists(path)) GTEST_SKIP() << (path) << " does not exist"
// NOLINTBEGIN(bugprone-macro-parentheses): data is a name
#define TEST_DATA_OR_SKIP(data)                                       \
  const char *const data = getenv("SENONE_TEST_DATA");                \
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set"; \
  OR_SKIP(kSphinx + "/test/data/goforward.raw")
// NOLINTEND(bugprone-macro-parentheses)

TEST_P(RealModelTest, SphinxPhoneticallyTied) {
  OR_SKIP(kSphinx + "/model/en-us/en-us");
  OR_SKIP(kSphinx + "/test/data/goforward.raw");
  SphinxOptions options;
  options.model_dir = kSphinx + "/model/en-us/en-us";
  expect_near_on_speech(import_sphinx(options));
}

TEST_P(RealModelTest, SphinxContinuous) {
  TEST_DATA_OR_SKIP(data);
  SphinxOptions options;
  options.model_dir = data + std::string("/cmusphinx_an4_cont8");
  expect_near_on_speech(import_sphinx(options));
}

TEST_P(RealModelTest, HtkMonophones) {
  TEST_DATA_OR_SKIP(data);
  const std::string folder = std::string(data) + "/htk_prosodylab_eng/eng/";
  HtkOptions options;
  options.models = {folder + "macros", folder + "hmmdefs"};
  expect_near_on_speech(import_htk(options));
}

TEST_P(RealModelTest, JuliusMonophonesAndTiedTriphones) {
  TEST_DATA_OR_SKIP(data);
  const std::string folder = std::string(data) + "/julius_binhmm_ja/model/phone_m/";
  for (const char *name : {"hmmdefs_monof_mix16_gid.binhmm", "hmmdefs_ptm_gid.binhmm"}) {
    SCOPED_TRACE(name);
    HtkOptions options;
    options.models = {folder + name};
    if (name == std::string("hmmdefs_ptm_gid.binhmm")) options.hmm_list = folder + "logicalTri";
    options.energy_scale = 1;
    expect_near_on_speech(import_julius(options));
  }
}

SENONE_INSTANTIATE(RealModelTest);

}  // namespace
}  // namespace asr::test
