// SPDX-License-Identifier: Apache-2.0
// Tests filter banks as differences of running sums: the tables, walked as the kernels do, against the double reference.
#include "plugins/gpu/features/mfcc_sums.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <random>

#include "core/feature/mfcc_tables.h"
#include "reference/mfcc.h"

namespace asr {
namespace {

// Running sums S and T below each bin.
struct Sums {
  Sums(const MfccSums &tables, const std::vector<double> &spectrum) {
    double s = 0, t = 0;
    for (size_t k = 0; k < tables.positions.size(); ++k) {
      below.push_back({s, t});
      const double power = k < tables.first_bin ? 0 : spectrum[k];
      s += power, t += tables.positions[k] * power;
    }
    below.push_back({s, t});
  }
  double at(double edge) const {
    uint64_t bits;
    std::memcpy(&bits, &edge, sizeof bits);
    const auto &[s, t] = below.at((bits & ((1u << kSumsOffsetBits) - 1)) / kSumsFrames);
    return edge * s - t;
  }
  std::vector<std::pair<double, double>> below;
};

// Walks the quarters of a bank.
std::vector<double> bands(const MfccSums &tables, const std::vector<double> &spectrum, uint32_t warp) {
  const Sums sums(tables, spectrum);
  std::vector<double> energies;
  for (uint32_t quarter = 0; quarter < kSumsQuarters; ++quarter) {
    const auto edge = [&](uint32_t r) { return tables.edges[size_t{warp} * tables.n_edges + r].edge[quarter]; };
    double g = sums.at(edge(1).at), slope = (g - sums.at(edge(0).at)) * edge(1).inverse;
    for (uint32_t i = 0; i < tables.n_bands; ++i) {
      const double g_now = sums.at(edge(i + 2).at), slope_now = (g_now - g) * edge(i + 2).inverse;
      const size_t at = (size_t{warp} * tables.n_bands + i) * kSumsQuarters + quarter;
      energies.push_back((slope_now - slope) * (tables.gains.empty() ? 1 : tables.gains[at]));
      g = g_now, slope = slope_now;
    }
  }
  return energies;
}

void compare(const FrontEnd &f, const std::vector<double> &warps) {
  FeatureTables features(f, warps);
  const std::optional<MfccSums> tables = make_mfcc_sums(*features.for_many_banks().view());
  ASSERT_TRUE(tables.has_value());
  std::mt19937 random(3);
  std::uniform_real_distribution<double> exponent(-3, 3);  // of 10
  std::vector<double> spectrum;
  for (uint32_t k = 0; k <= f.fft_samples / 2; ++k) spectrum.push_back(std::pow(10, exponent(random)));
  spectrum[0] = 1e9;  // no band counts it
  for (uint32_t warp = 0; warp < warps.size(); ++warp) {
    const std::vector<double> have = bands(*tables, spectrum, warp), want = reference::mel(f, spectrum, warps[warp]);
    ASSERT_GE(have.size(), want.size());
    for (size_t m = 0; m < want.size(); ++m)
      ASSERT_NEAR(have[m], want[m], 1e-6 * want[m]) << "band " << m << " of " << f.n_mel << ", warp " << warps[warp];
  }
}

TEST(MfccSums, BandsOfAllWarps) {
  for (const FrontEnd &f : {sphinx_front_end(), kaldi_front_end(), htk_front_end()}) compare(f, standard_warps(f));
  FrontEnd f = kaldi_front_end();
  for (const uint32_t n_mel : {1u, 2u, 7u, 23u, 24u, 25u, 39u, 40u}) {
    f.n_mel = n_mel, f.n_ceps = 1;
    compare(f, {1, 0.9, 1.1});
  }
}

// A band without a bin is 0 whatever lies below it.
TEST(MfccSums, BandsWithoutABin) {
  FrontEnd f = kaldi_front_end();
  f.n_mel = 40, f.high_hz = 600, f.vtln_high_hz = 500;
  compare(f, {1, 0.95});
}

TEST(MfccSums, FrontEndsWithoutTables) {
  const auto has_tables = [](const FrontEnd &f) {
    FeatureTables features(f, {1, 0.95});
    return make_mfcc_sums(*features.for_many_banks().view()).has_value();
  };
  FrontEnd f = kaldi_front_end();
  f.cmn_prior.clear();
  EXPECT_TRUE(has_tables(f));
  f.n_mel = 40, f.n_ceps = 16;
  EXPECT_TRUE(has_tables(f));
  f.n_ceps = 17;
  EXPECT_FALSE(has_tables(f));
  f.n_mel = 41, f.n_ceps = 13;
  EXPECT_FALSE(has_tables(f));
  EXPECT_FALSE(has_tables(kaldi_plp_front_end()));
  f = sphinx_front_end();  // edges that are rounded to the same bin
  f.low_hz = 20, f.high_hz = 1200, f.vtln_high_hz = 1000, f.n_mel = 40;
  EXPECT_FALSE(has_tables(f));

  FeatureTables features(kaldi_front_end(), {1});
  EXPECT_FALSE(make_mfcc_sums(*features.view()).has_value());  // not for many banks
  asr_features_view view = *features.for_many_banks().view();
  EXPECT_TRUE(make_mfcc_sums(view).has_value());
  view.size = offsetof(asr_features_view, triangles);
  EXPECT_FALSE(make_mfcc_sums(view).has_value());  // of an older core
}

}  // namespace
}  // namespace asr
