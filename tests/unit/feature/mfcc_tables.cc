// SPDX-License-Identifier: Apache-2.0
// Compares the tables with the double reference: each mel band on each single bin, each warp; window and transform row by row.
#include "core/feature/mfcc_tables.h"

#include "core/base/error.h"
#include "core/feature/mel.h"
#include "tests/unit/feature/signals.h"

namespace asr {
namespace {

FrontEnd eight_khz() {
  FrontEnd f = kaldi_front_end();
  f.sample_rate_hz = 8000, f.high_hz = 4000, f.vtln_high_hz = 3500;
  f.window_samples = 200, f.shift_samples = 80, f.fft_samples = 256;
  return f;
}

const FrontEnd kFrontEnds[] = {sphinx_front_end(), test::en_us_front_end(), kaldi_front_end(), htk_front_end(), eight_khz()};

double weight(const asr_features_view &view, uint32_t warp, uint32_t band, uint32_t bin) {
  const asr_mel_band &b = view.mel_bands[warp * view.n_mel + band];
  return bin >= b.first_bin && bin < b.first_bin + b.n_bins ? view.mel_weights[b.first_weight + bin - b.first_bin] : 0;
}

TEST(FeatureTables, MelBandsOfEveryWarp) {
  for (FrontEnd f : kFrontEnds) {
    const std::vector<double> warps = {1, 0.8, 0.97, 1.25};
    const FeatureTables tables(f, warps);
    ASSERT_EQ(tables.view()->n_warps, warps.size());
    for (uint32_t w = 0; w < warps.size(); ++w) {
      for (uint32_t bin = 0; bin <= f.fft_samples / 2; ++bin) {
        reference::Row one_bin(f.fft_samples / 2 + 1, 0.0);
        one_bin[bin] = 1;
        const reference::Row energies = reference::mel(f, one_bin, warps[w]);
        for (uint32_t m = 0; m < f.n_mel; ++m) {
          const double want = energies[m];
          ASSERT_NEAR(weight(*tables.view(), w, m, bin), want, 2e-7 + 1e-5 * want)
              << "warp " << w << " band " << m << " bin " << bin;
        }
      }
    }
  }
}

TEST(FeatureTables, WindowAndTransform) {
  for (FrontEnd f : kFrontEnds) {
    const FeatureTables tables(f, {1});
    const asr_features_view &view = *tables.view();
    f.preemphasis = 0, f.dc_removal = ASR_DC_KEEP;
    double energy = 0;
    const reference::Row window = reference::windowed(f, reference::Row(f.window_samples + 1, 1.0), &energy);
    for (uint32_t n = 0; n < f.window_samples; ++n) ASSERT_NEAR(view.window[n], window[n], 1e-7);
    for (uint32_t j = 0; j < f.n_mel; ++j) {
      reference::Row one_band(f.n_mel, 0.0);
      one_band[j] = 1;
      f.use_energy = false;
      const reference::Row column = reference::cepstra(f, one_band, 0);
      for (uint32_t i = 0; i < f.n_ceps; ++i)
        ASSERT_NEAR(view.dct[i * f.n_mel + j], column[i], 1e-6 + 1e-6 * std::abs(column[i]));
    }
  }
}

// Points of the Kaldi warp computed by hand: factor 1.1 bends at 110 Hz and 7500 Hz, factor 0.9 at 100 Hz and 6750 Hz.
TEST(FeatureTables, WarpIsPiecewiseLinear) {
  const FrontEnd f = kaldi_front_end();
  EXPECT_EQ(warp_hz(f, 1100, 1), 1100);
  EXPECT_DOUBLE_EQ(warp_hz(f, 1100, 1.1), 1000);
  EXPECT_DOUBLE_EQ(warp_hz(f, 110, 1.1), 100);
  EXPECT_DOUBLE_EQ(warp_hz(f, 65, 1.1), 60);
  EXPECT_DOUBLE_EQ(warp_hz(f, 900, 0.9), 1000);
  EXPECT_DOUBLE_EQ(warp_hz(f, 7375, 0.9), 7750);
  EXPECT_DOUBLE_EQ(warp_hz(f, 8000, 0.9), 8000);
  EXPECT_DOUBLE_EQ(warp_hz(f, 20, 1.2), 20);
}

// By hand: factor 1.25 moves HTK's bends by 10/9, to 400 Hz and 6000 Hz, and these to 320 Hz and 4800 Hz.
TEST(FeatureTables, WarpWithHtkBends) {
  FrontEnd f = htk_front_end();
  f.vtln_low_hz = 360, f.vtln_high_hz = 5400, f.vtln_htk_bends = true;
  EXPECT_NEAR(warp_hz(f, 400, 1.25), 320, 1e-9);
  EXPECT_NEAR(warp_hz(f, 200, 1.25), 160, 1e-9);
  EXPECT_NEAR(warp_hz(f, 1000, 1.25), 800, 1e-9);
  EXPECT_NEAR(warp_hz(f, 6000, 1.25), 4800, 1e-9);
  EXPECT_NEAR(warp_hz(f, 7000, 1.25), 6400, 1e-9);
  for (const double warp : {0.8, 0.9, 1.1, 1.25}) {
    for (double hz = 50; hz < 8000; hz += 111) EXPECT_NEAR(warp_hz(f, hz, warp), reference::warped_hz(f, hz, warp), 1e-9) << hz;
  }
}

TEST(FeatureTables, StandardWarpsAndNearest) {
  const FeatureTables tables(sphinx_front_end());
  EXPECT_EQ(tables.warp_index(1), 0u);
  EXPECT_EQ(tables.view()->n_warps, 47u);
  EXPECT_EQ(tables.warp_index(0.8), 1u);
  EXPECT_EQ(tables.warp_index(1.2512), 46u);
  EXPECT_THROW(tables.warp_index(1.3), Error);
  EXPECT_THROW(tables.warp_index(std::nan("")), Error);

  FrontEnd narrow = sphinx_front_end();
  narrow.low_hz = 1000, narrow.high_hz = 1500, narrow.n_mel = 13;
  const FeatureTables unwarped(narrow);
  EXPECT_EQ(unwarped.view()->n_warps, 1u);
  EXPECT_THROW(unwarped.warp_index(0.9), Error);
  EXPECT_THROW(FeatureTables(narrow, {0.9}), Error);
}

TEST(FeatureTables, EnergyTakesThePlaceOfC0) {
  FrontEnd f = kaldi_front_end();
  EXPECT_EQ(FeatureTables(f, {1}).view()->energy_row, 0);
  f.c0_last = true;
  EXPECT_EQ(FeatureTables(f, {1}).view()->energy_row, 12);
  f.use_energy = false;
  EXPECT_EQ(FeatureTables(f, {1}).view()->energy_row, -1);
}

}  // namespace
}  // namespace asr
