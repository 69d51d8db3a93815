// SPDX-License-Identifier: Apache-2.0
// Tests that small files of a bundle that would need a deep stack, seconds or gigabytes are refused at once.
#include "core/base/limits.h"

#include <gtest/gtest.h>

#include <ctime>

#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;
using test::Scratch;
using test::small_acoustic_model;
using test::small_hmm_set;

void expect_refused(const AcousticModel &model, const std::string &part) {
  expect_error([&] { model.validate("m.bin"); }, ASR_BAD_FILE, part);
}

TEST(Limits, JsonIsNotDeep) {
  const Scratch scratch;
  const std::string nested = std::string(100000, '[') + std::string(100000, ']');
  for (const std::string &front_end : {"{\"a\":" + nested + "}", nested}) {
    test::spill(scratch / "senone.json", R"({"senone_bundle":1,"name":"x","source":"x","front_end":)" + front_end + "}");
    expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "senone.json: its JSON is nested more than 32 deep");
  }
}

// One object of very many keys: a look-up must not take linear time.
TEST(Limits, JsonOfManyKeysIsReadOnce) {
  const Scratch scratch;
  std::string json = "{";
  for (int i = 0; i < 100000; ++i) json += "\"" + std::to_string(i) + "\":0,";
  test::spill(scratch / "senone.json", json + "\"senone_bundle\":2}");
  const std::clock_t begin = std::clock();
  expect_error([&] { read_bundle(scratch.path()); }, ASR_BAD_FILE, "version 2");
  EXPECT_LT(double(std::clock() - begin) / CLOCKS_PER_SEC, 3);
}

TEST(Limits, CodebooksHaveGaussiansOfTheirOwn) {
  AcousticModel model = small_acoustic_model();
  model.codebooks[1] = model.codebooks[0];
  expect_refused(model, "codebook 2 has Gaussians or means of another codebook");
  model = small_acoustic_model();
  model.means.resize(6);
  model.codebooks[2].first_mean = 2;  // also the mean of codebook 1
  expect_refused(model, "codebook 2 has Gaussians or means of another codebook");
}

TEST(Limits, StatesHaveWeightsOfTheirOwn) {
  AcousticModel model = small_acoustic_model();
  model.log_weights.resize(6);
  model.state_weight[3] = 2;  // the weights of state 0
  expect_refused(model, "state 1 has the log weights of another state");
}

// Gaussians that share a full covariance each get a copy when a back end packs them.
TEST(Limits, SharedCovariancesAreBounded) {
  const uint32_t d = kMaxFullDims, size = d * (d + 1) / 2;
  const auto n = static_cast<uint32_t>(kMaxSharedFloats / size + 1);
  AcousticModel model;
  model.covariance = ASR_COVARIANCE_FULL;
  model.n_dims = d;
  model.n_states = 1;
  model.streams.resize(1);
  for (uint32_t i = 0; i < d; ++i) model.streams[0].dims.push_back(i);
  model.codebooks = {{0, n, 0, 0}};
  model.means.resize(size_t{n} * d);
  model.covariance_of.resize(n);
  model.precision_at = {0};
  model.precisions.assign(size, 1);
  model.state_codebook = {0};
  model.state_weight = {0};
  model.log_weights.resize(n);
  expect_refused(model, "share covariances that come to more than 67108864 numbers");
}

TEST(Limits, RowsAreBounded) {
  AcousticModel model = small_acoustic_model();
  model.n_dims = kMaxDims + 1;
  expect_refused(model, "n_dims is 4097");
  model = small_acoustic_model();
  model.streams[0].dims.assign(kMaxDims + 1, 0);
  expect_refused(model, "stream 0 has 4097 dimensions");
  model = small_acoustic_model(ASR_COVARIANCE_FULL);
  model.streams[0].dims.assign(kMaxFullDims + 1, 0);
  expect_refused(model, "stream 0 has 513 dimensions");
}

// Code that collects the pdfs in use has a table of them.
TEST(Limits, PdfsAreBounded) {
  HmmSet set = small_hmm_set();
  set.n_pdfs = 0xffffffff;
  expect_error([&] { set.validate("hmms.bin"); }, ASR_BAD_FILE, "n_pdfs is 4294967295; up to 4194304");
}

// The graph builder has tables for the states of every topology.
TEST(Limits, TopologiesAreShort) {
  HmmSet set = small_hmm_set();
  set.topologies.push_back({kMaxHmmStates + 1, {{0, kMaxHmmStates + 1, 1}, {kEntry, 0, 0}}});
  expect_error([&] { set.validate("hmms.bin"); }, ASR_BAD_FILE, "topology 2 has 129 states; 1 to 128");
}

}  // namespace
}  // namespace asr
