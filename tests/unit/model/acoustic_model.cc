// SPDX-License-Identifier: Apache-2.0
// Tests AcousticModel: refusals of validate(), the view, and acoustic.bin.
#include "core/model/acoustic_model.h"

#include <gtest/gtest.h>

#include <functional>

#include "reference/gmm.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

using test::expect_error;
using test::Scratch;
using test::small_acoustic_model;

bool operator==(const asr_gmm_codebook &a, const asr_gmm_codebook &b) {
  return a.stream == b.stream && a.n_gaussians == b.n_gaussians && a.first_gaussian == b.first_gaussian &&
         a.first_mean == b.first_mean;
}

void expect_equal(const AcousticModel &a, const AcousticModel &b) {
  EXPECT_EQ(a.covariance, b.covariance);
  EXPECT_EQ(a.n_dims, b.n_dims);
  EXPECT_EQ(a.n_states, b.n_states);
  ASSERT_EQ(a.streams.size(), b.streams.size());
  for (size_t j = 0; j < a.streams.size(); ++j) EXPECT_EQ(a.streams[j].dims, b.streams[j].dims);
  EXPECT_TRUE(std::equal(a.codebooks.begin(), a.codebooks.end(), b.codebooks.begin(), b.codebooks.end(),
                         [](const auto &x, const auto &y) { return x == y; }));
  EXPECT_EQ(a.means, b.means);
  EXPECT_EQ(a.covariance_of, b.covariance_of);
  EXPECT_EQ(a.precision_at, b.precision_at);
  EXPECT_EQ(a.precisions, b.precisions);
  EXPECT_EQ(a.state_codebook, b.state_codebook);
  EXPECT_EQ(a.state_weight, b.state_weight);
  EXPECT_EQ(a.log_weights, b.log_weights);
}

TEST(AcousticModel, AcceptsTheSmallModels) {
  small_acoustic_model(ASR_COVARIANCE_DIAGONAL).validate("test");
  small_acoustic_model(ASR_COVARIANCE_FULL).validate("test");
}

// Breaks every rule of validate(), one at a time.
TEST(AcousticModel, RefusesWhatIsOutOfRange) {
  struct Case {
    const char *part;
    std::function<void(AcousticModel &)> damage;
  };
  const Case cases[] = {
      {"n_states", [](auto &m) { m.n_states = 0; }},
      {"n_dims", [](auto &m) { m.n_dims = 0; }},
      {"n_streams", [](auto &m) { m.streams.clear(); }},
      {"state_codebook", [](auto &m) { m.n_states = 3; }},
      {"state_weight", [](auto &m) { m.state_weight.pop_back(); }},
      {"has no dimensions", [](auto &m) { m.streams[0].dims.clear(); }},
      {"dimension 3 of 3", [](auto &m) { m.streams[1].dims[1] = 3; }},
      {"of stream 2", [](auto &m) { m.codebooks[2].stream = 2; }},
      {"has no Gaussians", [](auto &m) { m.codebooks[1].n_gaussians = 0; }},
      {"Gaussians beyond", [](auto &m) { m.codebooks[2].first_gaussian = 4; }},
      {"Gaussians beyond", [](auto &m) { m.codebooks[2].first_gaussian = ~uint64_t{0}; }},
      {"means beyond", [](auto &m) { m.codebooks[2].first_mean = 4; }},
      {"means beyond", [](auto &m) { m.codebooks[2].first_mean = ~uint64_t{0}; }},
      {"uses covariance 4", [](auto &m) { m.covariance_of[0] = 4; }},
      {"beyond the 6 precisions", [](auto &m) { m.precision_at[3] = 5; }},
      {"beyond the 6 precisions", [](auto &m) { m.precision_at[3] = ~uint64_t{0}; }},
      {"not positive", [](auto &m) { m.precisions[5] = 0; }},
      {"not positive", [](auto &m) { m.precisions[0] = NAN; }},
      {"precision is not finite", [](auto &m) { m.precisions[1] = INFINITY; }},
      {"mean is not finite", [](auto &m) { m.means[3] = NAN; }},
      {"log weight", [](auto &m) { m.log_weights[6] = NAN; }},
      {"log weight", [](auto &m) { m.log_weights[6] = INFINITY; }},
      {"codebook 3", [](auto &m) { m.state_codebook[0] = 3; }},
      {"not one of stream 0", [](auto &m) { m.state_codebook[0] = 2; }},
      {"log weights beyond", [](auto &m) { m.state_weight[3] = 6; }},
      {"log weights beyond", [](auto &m) { m.state_weight[3] = ~uint64_t{0}; }},
      {"all weights of state 0", [](auto &m) { m.log_weights[2] = -INFINITY; }},
  };
  for (const Case &c : cases) {
    AcousticModel model = small_acoustic_model();
    c.damage(model);
    expect_error([&] { model.validate("m.bin"); }, ASR_BAD_FILE, c.part);
    expect_error([&] { model.validate("m.bin"); }, ASR_BAD_FILE, "m.bin");
  }
}

TEST(AcousticModel, RefusesAFullCovarianceWithABadDiagonal) {
  AcousticModel model = small_acoustic_model(ASR_COVARIANCE_FULL);
  model.precisions[4] = -1;  // the second diagonal element of a 2 x 2 triangle
  expect_error([&] { model.validate("m.bin"); }, ASR_BAD_FILE, "not positive");
  model = small_acoustic_model(ASR_COVARIANCE_FULL);
  model.precisions.pop_back();
  expect_error([&] { model.validate("m.bin"); }, ASR_BAD_FILE, "precisions");
}

// Compares the view's score with the definition computed by hand: state 0 of the small model at x = (1, 2, 3).
TEST(AcousticModel, ViewScoresByTheDefinition) {
  const AcousticModel model = small_acoustic_model();
  const AcousticView view(model);
  const float x[] = {1, 2, 3};
  const auto gaussian = [](double d, double precision) {
    return std::sqrt(precision / (2 * M_PI)) * std::exp(-0.5 * precision * d * d);
  };
  const double stream0 = std::exp(-0.5) * gaussian(2 - 0.5, 1) + std::exp(-1.0) * gaussian(2 + 0.5, 2);
  const double stream1 = std::exp(-2.0) * gaussian(3 - 1, 3) * gaussian(1 - 2, 4);  // its second weight is 0
  EXPECT_NEAR(reference::log_likelihood(*view.get(), 0, x), std::log(stream0) + std::log(stream1), 1e-9);
}

TEST(AcousticFile, RoundTrips) {
  const Scratch scratch;
  for (const asr_covariance covariance : {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL}) {
    const AcousticModel model = small_acoustic_model(covariance);
    write_acoustic_model(model, scratch / "acoustic.bin");
    expect_equal(read_acoustic_model(scratch / "acoustic.bin"), model);
  }
}

TEST(AcousticFile, WritesNothingInvalid) {
  const Scratch scratch;
  AcousticModel model = small_acoustic_model();
  model.precisions[0] = 0;
  expect_error([&] { write_acoustic_model(model, scratch / "acoustic.bin"); }, ASR_BAD_FILE, "acoustic.bin");
  EXPECT_EQ(scratch.n_entries(), 0u);
}

TEST(AcousticFile, RefusesAnUnknownKindOfCovariance) {
  const Scratch scratch;
  write_acoustic_model(small_acoustic_model(), scratch / "acoustic.bin");
  std::string bytes = test::slurp(scratch / "acoustic.bin");
  bytes[12] = 2;
  test::spill(scratch / "acoustic.bin", bytes);
  expect_error([&] { read_acoustic_model(scratch / "acoustic.bin"); }, ASR_BAD_FILE, "covariance 2");
}

TEST(AcousticFile, SurvivesDamage) {
  const Scratch scratch;
  const std::string path = scratch / "acoustic.bin";
  write_acoustic_model(small_acoustic_model(), path);
  const size_t size = std::filesystem::file_size(path);
  const size_t refused = test::count_refused_damages(path, [&] { read_acoustic_model(path).validate(path); });
  EXPECT_GT(refused, size);  // every truncation, and much of the rest; only the checksum detects a changed digit of a mean
  expect_error([&] { read_acoustic_model(scratch / "none"); }, ASR_NOT_FOUND, "none");
}

}  // namespace
}  // namespace asr
