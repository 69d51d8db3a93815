// SPDX-License-Identifier: Apache-2.0
// Tests `extract` of PLP (F11) against the double reference, as mfcc.cc tests MFCC. A frame's bits may depend on its
// samples and its warp alone.
#include "core/base/error.h"
#include "tests/conformance/mfcc_fixture.h"

namespace asr::test {
namespace {

class PlpTest : public MfccTest {
 protected:
  void SetUp() override {
    MfccTest::SetUp();
    require(ASR_BACKEND_PLP, "it computes MFCC only");
  }
};

FrontEnd ordered(FrontEnd f, uint32_t order, uint32_t n_ceps) {
  f.lpc_order = order, f.n_ceps = n_ceps, f.dynamic = DynamicKind::kNone;
  return f;
}

TEST_P(PlpTest, ConventionsOfKaldiAndHtk) {
  FrontEnd kaldi = kaldi_plp_front_end(), htk = htk_plp_front_end();
  compare(kaldi, 35, 1);
  compare(htk, 35, 1);
  kaldi.use_energy = false, kaldi.cepstral_scale = 10;
  compare(kaldi, 35, 1);
  kaldi.c0_last = true;
  compare(kaldi, 5, 1);
  htk.magnitude = false, htk.n_mel = 26, htk.cepstral_scale = 10;
  compare(htk, 35, 1);
}

TEST_P(PlpTest, EnergyBesideC0) {
  FrontEnd f = htk_plp_front_end();
  f.use_energy = f.energy_beside_c0 = true, f.n_ceps = 14;
  compare(f, 9, 1);
  f.dc_removal = ASR_DC_BEFORE_PREEMPHASIS, f.energy_windowed = true;
  compare(f, 9, 0.9);
}

TEST_P(PlpTest, WarpedFilterBanks) {
  for (double warp : {0.8, 0.93, 1.07, 1.25}) {
    compare(kaldi_plp_front_end(), 5, warp);
    compare(htk_plp_front_end(), 5, warp);
  }
}

TEST_P(PlpTest, AwkwardShapes) {
  FrontEnd f = htk_plp_front_end();
  f.cmn = CmnKind::kNone;
  compare(ordered(sized(f, 64, 20, 64, 7, 5), 6, 7), 9, 1);
  compare(ordered(sized(f, 2, 1, 64, 2, 2), 1, 2), 9, 1);
  compare(ordered(sized(f, 127, 31, 128, 11, 1), 3, 1), 9, 1);
  compare(ordered(sized(f, 251, 80, 256, 23, 13), 22, 23), 9, 1);
  compare(ordered(sized(f, 513, 513, 1024, 40, 1), 1, 2), 3, 1);
  compare(ordered(sized(f, 1999, 500, 2048, 64, 20), 33, 30), 3, 1);
  compare(ordered(sized(f, 8191, 2000, 8192, 101, 65), 64, 65), 2, 1);
}

TEST_P(PlpTest, Compressions) {
  FrontEnd f = kaldi_plp_front_end();
  for (double compression : {0.1, 0.2, 0.4}) {
    f.compression = compression;
    compare(f, 9, 1);
  }
}

// The bands of a pure tone differ most, so that rounding errors of the recursion are largest.
TEST_P(PlpTest, PureTonesAreFinite) {
  for (FrontEnd f : {kaldi_plp_front_end(), htk_plp_front_end()}) {
    f.use_energy = false, f.n_mel = 80, f.compression = f.max_compression();
    for (uint32_t order : {1u, 12u, 40u, 64u}) {
      const FrontEnd g = ordered(f, order, std::min(order + 1, 13u));
      const FeatureTables tables(g, {1});
      const auto device = open();
      const Loaded loaded(api(), *device, tables);
      for (double hz : {50, 100, 1000, 7900, 8000}) {
        std::vector<float> tone;
        for (int i = 0; i < 2000; ++i) tone.push_back(static_cast<float>(32767 * std::cos(2 * std::acos(-1) * hz * i / 16000)));
        Job job(g, tone, 0, 8, 0);
        extract(*device, loaded, {&job});
        for (size_t i = 0; i < job.cepstra.size(); ++i) {
          EXPECT_LT(std::abs(job.cepstra[i]), 100) << hz << " Hz, order " << order;
        }
      }
    }
  }
}

// Silence has the floor's energy in each band, so that its spectrum is that of the loudness. Nothing is NaN.
TEST_P(PlpTest, SilenceIsFinite) {
  for (FrontEnd f : {kaldi_plp_front_end(), htk_plp_front_end()}) {
    f.use_energy = false;
    const FeatureTables tables(f, {1});
    const auto device = open();
    const Loaded loaded(api(), *device, tables);
    Job job(f, std::vector<float>(2000, 0), 0, 4, 0);
    extract(*device, loaded, {&job});
    const reference::Row want = reference::plp(f, reference::Row(f.n_mel, std::log(f.log_floor)), 0, 1);
    for (uint32_t t = 0; t < 4; ++t) {
      for (uint32_t i = 0; i < f.n_ceps; ++i) EXPECT_NEAR(job.cepstra[t * f.n_ceps + i], want[i], kTolerance) << i;
    }
  }
}

TEST_P(PlpTest, BitsDoNotDependOnTheJob) {
  FrontEnd f = htk_plp_front_end();
  f.use_energy = f.energy_beside_c0 = true, f.n_ceps = 14;
  const FeatureTables tables(f, {1});
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  const uint32_t n_whole = 101;
  const std::vector<float> signal = make_signal(1 + n_whole * f.shift_samples + f.window_samples, 9);
  Job whole(f, signal, 0, n_whole, 0);
  extract(*device, loaded, {&whole});
  for (uint32_t n : {0u, 1u, 2u, 7u, 8u, 9u, 16u, 31u, 67u}) {
    const uint32_t first = n_whole - n - n % 5;
    Job part(f, signal, first, n, 0);
    extract(*device, loaded, {&part});
    for (size_t i = 0; i < part.cepstra.size(); ++i) {
      ASSERT_EQ(part.cepstra[i], whole.cepstra[size_t{first} * f.n_ceps + i]) << n << " frames, value " << i;
    }
  }
  check(api().extract(device->get(), loaded.features, nullptr, 0));
}

// Streams with different numbers of frames and filter banks in one call, some of the same samples.
TEST_P(PlpTest, JobsOfSeveralStreamsAndWarps) {
  const FrontEnd f = kaldi_plp_front_end();
  const FeatureTables tables(f, {1, 0.9, 1.1, 1.2});
  const auto device = open(backend_options(8, 64, 3));
  const Loaded loaded(api(), *device, tables);
  std::vector<std::unique_ptr<Job>> together, alone;
  std::vector<Job *> list;
  std::mt19937 random(3);
  for (uint32_t i = 0; i < 23; ++i) {
    const uint32_t n = i % 6 == 5 ? 0 : 1 + random() % 20, n_warps = i % 3 == 0 ? 4 : 1;
    const std::vector<float> signal = make_signal(1 + (n + 4) * f.shift_samples + f.window_samples, i);
    for (uint32_t k = 0; k < n_warps; ++k) {
      together.push_back(std::make_unique<Job>(f, signal, 3, n, (i + k) % 4));
      if (k > 0) together.back()->job.samples = list.back()->job.samples;
      alone.push_back(std::make_unique<Job>(f, signal, 3, n, (i + k) % 4));
      list.push_back(together.back().get());
    }
  }
  extract(*device, loaded, list);
  for (size_t i = 0; i < alone.size(); ++i) {
    extract(*device, loaded, {alone[i].get()});
    for (size_t k = 0; k < alone[i]->cepstra.size(); ++k)
      ASSERT_EQ(together[i]->cepstra[k], alone[i]->cepstra[k]) << "job " << i;
  }
  EXPECT_NE(together[0]->cepstra[1], together[1]->cepstra[1]);
}

TEST_P(PlpTest, BadOrdersAreRefused) {
  const FeatureTables tables(kaldi_plp_front_end(), {1});
  const auto device = open();
  asr_backend_features *features = nullptr;
  asr_features_view view = *tables.view();
  view.lpc_order = view.n_mel;
  EXPECT_EQ(api().load_features(device->get(), &view, &features), ASR_INVALID_ARGUMENT);
  EXPECT_STRNE(api().last_error(), "");
  EXPECT_EQ(features, nullptr);
}

SENONE_INSTANTIATE(PlpTest);

// Devices without the capability are not asked: the core refuses with one message.
using NoPlpTest = MfccTest;
TEST_P(NoPlpTest, TheCoreRefuses) {
  if ((entry().info.capabilities & ASR_BACKEND_PLP) != 0) GTEST_SKIP() << entry().id << ": it computes PLP";
  const FeatureTables tables(kaldi_plp_front_end(), {1});
  const auto device = open();
  try {
    device->load_features(*tables.view());
    FAIL();
  } catch (const Error &error) {
    EXPECT_EQ(error.code(), ASR_UNSUPPORTED);
    EXPECT_EQ(std::string(error.what()), entry().id +
                                             ": does not compute PLP, which the model's features are; choose "
                                             "another device, such as cpu");
  }
}
SENONE_INSTANTIATE(NoPlpTest);

}  // namespace
}  // namespace asr::test
