// SPDX-License-Identifier: Apache-2.0
// Checks the double reference of PLP against signals whose answer is known, and the tables of PLP against the reference.
#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/feature/mel.h"
#include "core/feature/mfcc_tables.h"
#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

const double kPi = std::acos(-1.0);

// Two poles at radius * exp(+-i angle): 1 - 2 radius cos(angle) z + radius^2 z^2.
struct Resonance {
  double radius, angle;
};

// Multiplies the polynomials of resonances: 1, alpha_1, alpha_2 ...
reference::Row denominator(const std::vector<Resonance> &resonances) {
  reference::Row product = {1};
  for (const Resonance &r : resonances) {
    const double factor[3] = {1, -2 * r.radius * std::cos(r.angle), r.radius * r.radius};
    reference::Row longer(product.size() + 2, 0.0);
    for (size_t i = 0; i < product.size(); ++i) {
      for (size_t j = 0; j < 3; ++j) longer[i + j] += product[i] * factor[j];
    }
    product = longer;
  }
  return product;
}

// Returns gain / |A|^2 at n + 1 frequencies from 0 to pi.
reference::Row all_pole_spectrum(const reference::Row &a, double gain, size_t n) {
  reference::Row spectrum;
  for (size_t j = 0; j <= n; ++j) {
    double re = 0, im = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      re += a[i] * std::cos(kPi * double(i * j) / double(n));
      im += a[i] * std::sin(kPi * double(i * j) / double(n));
    }
    spectrum.push_back(gain / (re * re + im * im));
  }
  return spectrum;
}

const std::vector<Resonance> kVowel = {{0.9, 0.5}, {0.85, 1.4}, {0.8, 2.4}};

TEST(Plp, FindsThePolesOfAnAllPoleSpectrum) {
  const reference::Row a = denominator(kVowel);
  const reference::Row r = reference::autocorrelations(all_pole_spectrum(a, 5, 4096), 8);
  const reference::Predictor p = reference::predictor(r);
  for (size_t i = 1; i <= 8; ++i) EXPECT_NEAR(p.alpha[i - 1], i < a.size() ? a[i] : 0, 1e-9) << i;
  EXPECT_NEAR(p.error, 5, 1e-9);
}

// The cepstrum of gain / |A|^2 is ln gain and, of each pole, radius^n 2 cos(n angle) / n.
TEST(Plp, CepstraAreThoseOfThePoles) {
  const reference::Row a = denominator(kVowel);
  const reference::Row c = reference::all_pole_cepstra({{a.begin() + 1, a.end()}, 5});
  EXPECT_NEAR(c[0], std::log(5.0), 1e-12);
  for (size_t n = 1; n < c.size(); ++n) {
    double want = 0;
    for (const Resonance &r : kVowel) want += 2 * std::pow(r.radius, double(n)) * std::cos(double(n) * r.angle) / double(n);
    EXPECT_NEAR(c[n], want, 1e-12) << n;
  }
}

// By hand: order 2 of r = 4, 2, 1 has k = 1/2, then 0; the error is 4 (1 - 1/4) = 3.
TEST(Plp, SmallPredictorByHand) {
  const reference::Predictor p = reference::predictor({4, 2, 1});
  EXPECT_DOUBLE_EQ(p.alpha[0], -0.5);
  EXPECT_DOUBLE_EQ(p.alpha[1], 0);
  EXPECT_DOUBLE_EQ(p.error, 3);
  const reference::Row c = reference::all_pole_cepstra(p);
  EXPECT_DOUBLE_EQ(c[0], std::log(3.0));
  EXPECT_DOUBLE_EQ(c[1], 0.5);
  EXPECT_DOUBLE_EQ(c[2], 0.125);  // a pole at 1/2: (1/2)^n / n
}

// A flat spectrum has nothing to predict: c0 alone remains. A constant is predicted by its past: 10^-5 of the error is left.
TEST(Plp, FlatSpectraAndConstants) {
  const reference::Predictor flat = reference::predictor(reference::autocorrelations(reference::Row(25, 6.0), 5));
  for (double alpha : flat.alpha) EXPECT_NEAR(alpha, 0, 1e-12);
  EXPECT_NEAR(flat.error, 6, 1e-12);
  reference::Row constant(25, 0.0);
  constant[0] = 1;
  const reference::Predictor one = reference::predictor(reference::autocorrelations(constant, 3));
  EXPECT_NEAR(one.alpha[0], -1, 1e-12);
  EXPECT_NEAR(one.error, 1e-5 / 48, 1e-12);
  for (double alpha : one.alpha) EXPECT_TRUE(std::isfinite(alpha));
}

// The equal-loudness curve by hand at 1000 Hz, and its rise.
TEST(Plp, EqualLoudness) {
  FrontEnd f = htk_plp_front_end();
  f.low_hz = 500, f.high_hz = mel_to_hz(2 * hz_to_mel(1000) - hz_to_mel(500)), f.n_mel = 1;
  EXPECT_NEAR(equal_loudness(f, 0, 1), std::pow(1e6 / 1.16e6, 2) * 2.44e6 / 10.61e6, 1e-12);
  const FrontEnd kaldi = kaldi_plp_front_end();
  for (uint32_t m = 1; m < kaldi.n_mel; ++m) EXPECT_GT(equal_loudness(kaldi, m, 1), equal_loudness(kaldi, m - 1, 1));
  EXPECT_LT(equal_loudness(kaldi, 8, 1.2), equal_loudness(kaldi, 8, 1));  // the warp lowers the centre
}

// One neper more energy in all bands raises c0 by the exponent and leaves the other cepstra.
TEST(Plp, LevelMovesC0Only) {
  FrontEnd f = kaldi_plp_front_end();
  f.use_energy = false, f.cepstral_scale = 10;
  reference::Row log_mel;
  for (uint32_t m = 0; m < f.n_mel; ++m) log_mel.push_back(12 + 3 * std::sin(0.7 * m));
  const reference::Row before = reference::plp(f, log_mel, 0, 1);
  for (double &level : log_mel) level += 1;
  const reference::Row after = reference::plp(f, log_mel, 0, 1);
  EXPECT_NEAR(after[0] - before[0], 10 * f.compression, 1e-9);
  for (uint32_t i = 1; i < f.n_ceps; ++i) EXPECT_NEAR(after[i], before[i], 1e-9) << i;
}

TEST(Plp, OrderOfTheValues) {
  FrontEnd f = htk_plp_front_end();
  f.use_energy = f.energy_beside_c0 = true, f.n_ceps = 14, f.lifter = 0;
  const reference::Row log_mel = {9, 8, 7, 9, 12, 13, 12, 9, 8, 10, 11, 10, 8, 7, 6, 5, 6, 7, 5, 4};
  const reference::Row c = reference::all_pole_cepstra(
      reference::predictor(reference::autocorrelations(reference::auditory_spectrum(f, log_mel, 1), 12)));
  const reference::Row row = reference::plp(f, log_mel, 21, 1);
  ASSERT_EQ(row.size(), 14u);
  for (uint32_t i = 0; i < 12; ++i) EXPECT_EQ(row[i], c[i + 1]);
  EXPECT_EQ(row[12], c[0]);
  EXPECT_EQ(row[13], 21);
}

// The view's tables applied in double give the reference's cepstra.
TEST(Plp, TablesAreThoseOfTheReference) {
  FrontEnd odd = htk_plp_front_end();
  odd.n_mel = 31, odd.lpc_order = 20, odd.n_ceps = 17, odd.compression = 0.4, odd.cepstral_scale = 10;
  odd.use_energy = odd.energy_beside_c0 = true;
  for (const FrontEnd &f : {kaldi_plp_front_end(), htk_plp_front_end(), odd}) {
    const std::vector<double> warps = {1, 0.9, 1.15};
    const FeatureTables tables(f, warps);
    const asr_features_view &view = *tables.view();
    ASSERT_EQ(view.lpc_order, f.lpc_order);
    for (uint32_t w = 0; w < warps.size(); ++w) {
      reference::Row log_mel, spectrum;
      for (uint32_t m = 0; m < f.n_mel; ++m) {
        log_mel.push_back(10 + 4 * std::sin(0.9 * m) + w);
        spectrum.push_back(std::exp(double{view.compression} * log_mel[m] + double{view.loudness[w * f.n_mel + m]}));
      }
      reference::Row r;
      for (uint32_t i = 0; i <= f.lpc_order; ++i) {
        r.push_back(0);
        for (uint32_t m = 0; m < f.n_mel; ++m) r[i] += double{view.autocorrelation[i * f.n_mel + m]} * spectrum[m];
      }
      reference::Row c = reference::all_pole_cepstra(reference::predictor(r));
      c[0] = std::max(c[0], double{view.log_gain_floor});
      const reference::Row want = reference::plp(f, log_mel, 7, warps[w]);
      for (uint32_t row = 0; row < f.n_ceps; ++row) {
        double sum = 0;
        for (uint32_t i = 0; i <= f.lpc_order; ++i) sum += double{view.dct[row * (f.lpc_order + 1) + i]} * c[i];
        if (static_cast<int32_t>(row) == view.energy_row) sum = 7;
        ASSERT_NEAR(sum, want[row], 2e-4) << "warp " << w << " row " << row;
      }
    }
  }
}

TEST(Plp, TablesOfMfccAreAsBefore) {
  const FeatureTables tables(kaldi_front_end(), {1});
  EXPECT_EQ(tables.view()->lpc_order, 0u);
  EXPECT_EQ(front_end_to_json(kaldi_front_end()).find("lpc_order"), std::string::npos);
}

TEST(Plp, JsonKeepsEveryField) {
  FrontEnd f = htk_plp_front_end();
  f.lpc_order = 14, f.n_ceps = 13, f.compression = 0.25, f.floor_gain = true, f.cepstral_scale = 10;
  f.use_energy = f.energy_beside_c0 = true;
  const FrontEnd read = front_end_from_json(front_end_to_json(f), "test");
  EXPECT_EQ(read.lpc_order, 14u);
  EXPECT_EQ(read.compression, 0.25);
  EXPECT_TRUE(read.floor_gain);
  EXPECT_EQ(read.cepstral_scale, 10);
  EXPECT_TRUE(read.energy_beside_c0);
}

std::string refusal(const FrontEnd &f) {
  try {
    f.validate("test");
  } catch (const Error &error) {
    return error.what();
  }
  return "";
}

TEST(Plp, BadValuesGetAMessage) {
  const auto with = [](auto change) {
    FrontEnd f = htk_plp_front_end();
    change(f);
    return refusal(f);
  };
  EXPECT_EQ(refusal(htk_plp_front_end()), "");
  EXPECT_EQ(refusal(kaldi_plp_front_end()), "");
  EXPECT_EQ(with([](FrontEnd &f) { f.lpc_order = 20; }),
            "test: front_end.lpc_order is 20 but must be 1 to 19; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.n_mel = 100, f.lpc_order = kMaxLpcOrder + 1; }),
            "test: front_end.lpc_order is 65 but must be 1 to 64; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.n_mel = 1, f.n_ceps = 1, f.lpc_order = 1; }),
            "test: front_end.n_mel must be 2 or more with lpc_order; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.lpc_order = 11; }),
            "test: front_end.n_ceps is 13 but must be 1 to 12; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.compression = 0; }),
            "test: front_end.compression is 0 but must be 0.01 to 0.8; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.lifter = 1e-310; }),
            "test: front_end.lifter must be 0 or at least 0.001; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.noise_removal = true; }),
            "test: front_end.noise_removal does not go with lpc_order; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.cepstral_scale = 0; }),
            "test: front_end.cepstral_scale is 0 but must be 0.001 to 1000; import the model again");
  EXPECT_EQ(with([](FrontEnd &f) { f.energy_beside_c0 = true; }),
            "test: front_end.energy_beside_c0 needs use_energy, c0_last and n_ceps of 2 or more; import the model again");
}

}  // namespace
}  // namespace asr
