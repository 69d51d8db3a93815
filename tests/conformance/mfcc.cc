// SPDX-License-Identifier: Apache-2.0
// Tests `extract` against the double reference (reference/mfcc.h) and against itself. A frame's bits must not depend on
// its job, on its neighbours or on other jobs.
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/file.h"
#include "core/feature/feature_pipeline.h"
#include "tests/conformance/mfcc_fixture.h"

namespace asr::test {
namespace {

TEST_P(MfccTest, ConventionsOfSphinxKaldiAndHtk) {
  compare(sphinx_front_end(), 19, 1);
  compare(kaldi_front_end(), 19, 1);
  compare(htk_front_end(), 19, 1);
}

TEST_P(MfccTest, EveryStep) {
  for (const FrontEnd &f : front_ends_of_every_step()) compare(f, 5, 1);
}

// HTK's _E_0: a row of the transform for c0, and one of the energy's own.
TEST_P(MfccTest, EnergyBesideC0) {
  FrontEnd f = htk_front_end();
  f.use_energy = f.energy_beside_c0 = true, f.cepstral_scale = 2, f.n_ceps = 14;
  compare(f, 5, 1);
  f.energy_windowed = true, f.n_ceps = 2;
  compare(f, 5, 1);
}

TEST_P(MfccTest, WarpedFilterBanks) {
  for (double warp : {0.8, 0.93, 1.07, 1.25}) {
    compare(sphinx_front_end(), 3, warp);
    compare(kaldi_front_end(), 3, warp);
  }
}

TEST_P(MfccTest, AwkwardShapes) {
  FrontEnd f = sphinx_front_end();
  f.low_hz = 0, f.high_hz = 8000, f.round_edges_to_bins = false;
  f.dynamic = DynamicKind::kNone;
  compare(sized(f, 64, 20, 64, 7, 5), 9, 1);
  compare(sized(f, 2, 1, 64, 3, 2), 9, 1);
  compare(sized(f, 127, 31, 128, 11, 11), 9, 1);
  compare(sized(f, 251, 80, 256, 23, 13), 9, 1);
  compare(sized(f, 513, 513, 1024, 1, 1), 3, 1);
  compare(sized(f, 1999, 500, 2048, 64, 20), 3, 1);
  compare(sized(f, 4096, 1000, 4096, 80, 40), 2, 1);
  compare(sized(f, 8191, 2000, 8192, 101, 101), 2, 1);
}

TEST_P(MfccTest, BitsDoNotDependOnTheJob) {
  const FrontEnd f = kaldi_front_end();
  const FeatureTables tables(f, {1});
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  const uint32_t n_whole = 101;
  const std::vector<float> signal = make_signal(1 + n_whole * f.shift_samples + f.window_samples, 9);
  Job whole(f, signal, 0, n_whole, 0);
  extract(*device, loaded, {&whole});
  for (uint32_t n : {0u, 1u, 2u, 3u, 7u, 8u, 9u, 15u, 16u, 17u, 31u, 67u}) {
    const uint32_t first = n_whole - n - n % 5;
    Job part(f, signal, first, n, 0);
    extract(*device, loaded, {&part});
    for (size_t i = 0; i < part.cepstra.size(); ++i) {
      ASSERT_EQ(part.cepstra[i], whole.cepstra[size_t{first} * f.n_ceps + i]) << n << " frames, value " << i;
    }
  }
  check(api().extract(device->get(), loaded.features, nullptr, 0));
}

TEST_P(MfccTest, JobsOfSeveralStreamsAndWarps) {
  const FrontEnd f = sphinx_front_end();
  const FeatureTables tables(f, {1, 0.9, 1.1, 1.2});
  const auto device = open(backend_options(8, 64, 3));
  const Loaded loaded(api(), *device, tables);
  std::vector<std::unique_ptr<Job>> together, alone;
  std::vector<Job *> list;
  std::mt19937 random(3);
  for (uint32_t i = 0; i < 23; ++i) {
    const uint32_t n = i % 6 == 5 ? 0 : 1 + random() % 20, warp = i % 4;
    const std::vector<float> signal = make_signal(1 + (n + 4) * f.shift_samples + f.window_samples, i);
    together.push_back(std::make_unique<Job>(f, signal, 3, n, warp));
    alone.push_back(std::make_unique<Job>(f, signal, 3, n, warp));
    list.push_back(together.back().get());
  }
  extract(*device, loaded, list);
  for (size_t i = 0; i < alone.size(); ++i) {
    extract(*device, loaded, {alone[i].get()});
    for (size_t k = 0; k < alone[i]->cepstra.size(); ++k)
      ASSERT_EQ(together[i]->cepstra[k], alone[i]->cepstra[k]) << "job " << i;
  }
}

// Searching a speaker's warp: all filter banks on the same samples.
TEST_P(MfccTest, AllWarpsOfOneSignal) {
  const FrontEnd f = kaldi_front_end();
  const FeatureTables tables(f);
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  const uint32_t n = 11;
  const std::vector<float> signal = make_signal(1 + (n + 1) * f.shift_samples + f.window_samples, 5);
  Job first(f, signal, 0, n, 0);
  std::vector<std::unique_ptr<Job>> shared, apart;
  std::vector<Job *> list;
  for (uint32_t warp = 0; warp < tables.view()->n_warps; ++warp) {
    shared.push_back(std::make_unique<Job>(f, signal, 0, n, warp));
    shared.back()->job.samples = first.job.samples;
    apart.push_back(std::make_unique<Job>(f, signal, 0, n, warp));
    list.push_back(shared.back().get());
  }
  extract(*device, loaded, list);
  for (size_t i = 0; i < list.size(); ++i) {
    extract(*device, loaded, {apart[i].get()});
    for (size_t k = 0; k < apart[i]->cepstra.size(); ++k)
      ASSERT_EQ(shared[i]->cepstra[k], apart[i]->cepstra[k]) << "warp " << i;
  }
  EXPECT_NE(shared[1]->cepstra[1], shared[0]->cepstra[1]);
}

// More frames than a device takes at once, with recurring filter banks, and another signal after them.
TEST_P(MfccTest, ManyFramesUnderSeveralWarps) {
  const FrontEnd f = kaldi_front_end();
  const FeatureTables tables(f, {1, 0.9});
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  const uint32_t n = 17500, n_last = 70;
  const std::vector<float> signal = make_signal(1 + n * f.shift_samples + f.window_samples, 5);
  Job first(f, signal, 0, n, 0), second(f, signal, 0, n, 1), third(f, signal, 0, n, 1), other(f, signal, 7, 20, 0);
  second.job.samples = third.job.samples = first.job.samples;
  extract(*device, loaded, {&first, &second, &third, &other});
  Job last(f, signal, n - n_last, n_last, 0), last_warped(f, signal, n - n_last, n_last, 1);
  extract(*device, loaded, {&last, &last_warped});
  for (size_t i = 0; i < last.cepstra.size(); ++i) {
    const size_t at = size_t{n - n_last} * f.n_ceps + i;
    ASSERT_EQ(first.cepstra[at], last.cepstra[i]) << "value " << i;
    ASSERT_EQ(second.cepstra[at], last_warped.cepstra[i]) << "value " << i;
  }
  for (size_t i = 0; i < first.cepstra.size(); ++i) ASSERT_EQ(third.cepstra[i], second.cepstra[i]) << "value " << i;
  for (size_t i = 0; i < other.cepstra.size(); ++i)
    ASSERT_EQ(other.cepstra[i], first.cepstra[size_t{7} * f.n_ceps + i]) << "value " << i;
}

// Frames under all filter banks beside frames with the banks in another order or only some. Each has the bits that it has
// alone.
TEST_P(MfccTest, WarpsInAnyOrder) {
  const FrontEnd f = kaldi_front_end();
  const FeatureTables tables(f);
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  const uint32_t n_warps = tables.view()->n_warps;
  ASSERT_GE(n_warps, 11u);
  std::vector<std::unique_ptr<Job>> jobs;
  std::vector<Job *> list;
  const auto add = [&](const std::vector<float> &signal, uint32_t n, const std::vector<uint32_t> &warps) {
    const Job *first = nullptr;
    for (const uint32_t warp : warps) {
      jobs.push_back(std::make_unique<Job>(f, signal, 0, n, warp));
      if (first == nullptr) first = jobs.back().get();
      jobs.back()->job.samples = first->job.samples;
      list.push_back(jobs.back().get());
    }
  };
  const uint32_t n = 300, n_few = 37;
  const std::vector<float> signal = make_signal(1 + n * f.shift_samples + f.window_samples, 5),
                           other = make_signal(1 + n_few * f.shift_samples + f.window_samples, 6);
  std::vector<uint32_t> all(n_warps);
  std::iota(all.begin(), all.end(), 0);
  add(other, n_few, {3, 3, 7});
  add(signal, n, all);
  std::reverse(all.begin(), all.end());
  add(other, n_few, all);
  add(other, 1, {5});
  add(other, n_few, {5, 1, 2});
  extract(*device, loaded, list);
  for (const Job *job : list) {
    const uint32_t n_part = std::min(50u, job->job.n_frames), begin = job->job.n_frames - n_part;
    for (const uint32_t first : {0u, begin}) {
      Job part(f, job->job.n_frames == n ? signal : other, first, n_part, job->job.warp);
      extract(*device, loaded, {&part});
      for (size_t i = 0; i < part.cepstra.size(); ++i) {
        ASSERT_EQ(job->cepstra[size_t{first} * f.n_ceps + i], part.cepstra[i])
            << "warp " << job->job.warp << " of " << job->job.n_frames << " frames, value " << i << " from frame " << first;
      }
    }
  }
}

TEST_P(MfccTest, SilenceGivesTheFloor) {
  FrontEnd f = kaldi_front_end();
  const FeatureTables tables(f, {1});
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  Job job(f, std::vector<float>(2000, 0), 0, 4, 0);
  extract(*device, loaded, {&job});
  for (uint32_t t = 0; t < 4; ++t) {
    EXPECT_NEAR(job.cepstra[size_t{t} * 13], std::log(f.log_floor), 1e-4);
    for (uint32_t i = 1; i < 13; ++i) EXPECT_NEAR(job.cepstra[t * 13 + i], 0, 1e-3);
  }
  f.use_energy = false;
  compare(f, std::vector<float>(2000, 0), FeatureTables(f, {1}));
}

TEST_P(MfccTest, DitherIsNoiseThatRepeats) {
  FrontEnd f = kaldi_front_end();
  f.dither = 1, f.dc_removal = ASR_DC_KEEP;
  const FeatureTables tables(f, {1});
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  const uint32_t n = 50;
  const std::vector<float> silence(1 + n * f.shift_samples + f.window_samples, 0);
  Job whole(f, silence, 0, n, 0), part(f, silence, 20, 13, 0);
  extract(*device, loaded, {&whole});
  extract(*device, loaded, {&part});
  for (size_t i = 0; i < part.cepstra.size(); ++i) ASSERT_EQ(part.cepstra[i], whole.cepstra[size_t{20} * 13 + i]);
  double power = 0;
  for (uint32_t t = 0; t < n; ++t) power += std::exp(whole.cepstra[size_t{t} * 13]) / f.window_samples / n;
  EXPECT_NEAR(power, 1, 0.05);
  EXPECT_NE(whole.cepstra[0], whole.cepstra[13]);
}

// A recording of Debian's pocketsphinx-testdata and its cepstra made by CMU Sphinx.
TEST_P(MfccTest, CepstraOfCmuSphinx) {
  const std::string stem = "/usr/share/pocketsphinx/test/data/goforward";
  if (access((stem + ".mfc").c_str(), R_OK) != 0) GTEST_SKIP() << "Debian's pocketsphinx-testdata is not installed";
  const std::string raw = read_file(stem + ".raw"), mfc = read_file(stem + ".mfc");
  std::vector<int16_t> samples(raw.size() / sizeof(int16_t));
  std::memcpy(samples.data(), raw.data(), raw.size());
  std::vector<float> want(mfc.size() / sizeof(float) - 1);
  std::memcpy(want.data(), mfc.data() + sizeof(float), want.size() * sizeof(float));

  FrontEnd f = sphinx_front_end();
  f.low_hz = 130, f.high_hz = 6800, f.n_mel = 25;
  f.dct = DctKind::kOrthonormal, f.lifter = 22;
  f.noise_removal = true, f.dynamic = DynamicKind::kNone;
  const FeatureTables tables(f);
  const auto device = open();
  const Loaded loaded(api(), *device, tables);
  FeaturePipeline pipeline(tables, CmnKind::kNone, 0);
  const std::vector<float> signal(samples.begin(), samples.end());
  pipeline.add_samples(signal.data(), signal.size());
  asr_extract_job job;
  while (pipeline.next_extract(&job, 64)) {
    check(api().extract(device->get(), loaded.features, &job, 1));
    pipeline.extracted();
  }
  ASSERT_GE(pipeline.ready_rows() * f.n_ceps, want.size());
  for (size_t i = 0; i < want.size(); ++i) ASSERT_NEAR(pipeline.rows()[i], want[i], kTolerance) << i;
}

TEST_P(MfccTest, BadTablesAreRefused) {
  const FeatureTables tables(kaldi_front_end(), {1});
  const auto device = open();
  asr_backend_features *features = nullptr;
  asr_features_view view = *tables.view();
  view.fft_samples = 500;
  EXPECT_EQ(api().load_features(device->get(), &view, &features), ASR_INVALID_ARGUMENT);
  EXPECT_STRNE(api().last_error(), "");
  view = *tables.view();
  view.fft_samples = 256;
  EXPECT_EQ(api().load_features(device->get(), &view, &features), ASR_INVALID_ARGUMENT);
  view = *tables.view();
  std::vector<asr_mel_band> bands(view.mel_bands, view.mel_bands + view.n_mel);
  bands.back().n_bins = view.fft_samples / 2 + 1 - bands.back().first_bin;  // the bin of half the sample rate is no band's
  bands.back().first_weight = 0;
  view.mel_bands = bands.data();
  EXPECT_EQ(api().load_features(device->get(), &view, &features), ASR_INVALID_ARGUMENT);
  EXPECT_EQ(features, nullptr);
}

SENONE_INSTANTIATE(MfccTest);

}  // namespace
}  // namespace asr::test
