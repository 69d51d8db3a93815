// SPDX-License-Identifier: Apache-2.0
// Tests `extract` for front ends whose frames are wanted under many filter banks (core/backend/asr_backend_banks.h): against
// the double reference, and against itself.
#include <algorithm>
#include <numeric>

#include "tests/conformance/mfcc_fixture.h"

namespace asr::test {
namespace {

class MfccBanksTest : public MfccTest {
 protected:
  void compare_banks(const FrontEnd &f, uint32_t n_frames, const std::vector<double> &warps = {1, 0.93}) const {
    compare_banks(f, make_signal(1 + size_t{n_frames} * f.shift_samples + f.window_samples, 7), warps);
  }
  void compare_banks(const FrontEnd &f, const std::vector<float> &signal, const std::vector<double> &warps) const {
    FeatureTables tables(f, warps);
    compare(f, signal, tables.for_many_banks());
  }
};

TEST_P(MfccBanksTest, ConventionsOfSphinxKaldiAndHtk) {
  for (const FrontEnd &f : {sphinx_front_end(), kaldi_front_end(), htk_front_end()}) {
    compare_banks(f, 19, {1});
    for (double warp : {0.8, 0.93, 1.07, 1.25}) compare_banks(f, 3, {1, 0.9, warp});
  }
}

TEST_P(MfccBanksTest, EveryStep) {
  for (const FrontEnd &f : front_ends_of_every_step()) compare_banks(f, 5);
}

// Numbers of bands and cepstra that fill the quarters of a bank or not, and triangles of other heights. OpenCL compiles for
// each.
TEST_P(MfccBanksTest, BandsAndCepstra) {
  FrontEnd f = kaldi_front_end();
  f.cmn_prior.clear(), f.use_energy = false;
  const auto compare_sizes = [&](uint32_t n_mel, uint32_t n_ceps) {
    f.n_mel = n_mel, f.n_ceps = n_ceps;
    compare_banks(f, 2);
  };
  compare_sizes(1, 1);
  compare_sizes(23, 13);
  compare_sizes(24, 16);
  compare_sizes(25, 9);
  compare_sizes(40, 17);
  compare_sizes(41, 13);
  f.triangles_in_hz = f.unit_area = true;
  compare_sizes(7, 7);
  compare_sizes(40, 8);
}

TEST_P(MfccBanksTest, WindowsAndRates) {
  FrontEnd f = sphinx_front_end();
  f.low_hz = 0, f.high_hz = 8000, f.round_edges_to_bins = false, f.dynamic = DynamicKind::kNone;
  for (const uint32_t window : {257u, 384u, 416u, 417u, 512u}) compare_banks(sized(f, window, 160, 512, 40, 13), 9);
  compare_banks(sized(f, 400, 161, 512, 40, 13), 9);  // an odd shift
  compare_banks(sized(f, 200, 80, 256, 23, 13), 9);
  compare_banks(sized(f, 1000, 400, 1024, 40, 13), 9);
}

// Edges that are rounded to the same bin, and bands without a bin, which are 0 whatever lies below them.
TEST_P(MfccBanksTest, NarrowBands) {
  FrontEnd f = sphinx_front_end();
  f.low_hz = 20, f.high_hz = 1200, f.vtln_high_hz = 1000, f.n_mel = 40;
  f.cmn_prior.clear();
  compare_banks(f, 5);
  f = kaldi_front_end();
  f.n_mel = 40, f.use_energy = false;
  for (const double hz : {600.0, 700.0, 1000.0}) {
    f.high_hz = hz, f.vtln_high_hz = hz - 100;
    compare_banks(f, 5);
  }
}

// No band counts a constant, which may be large beside all that bands count.
TEST_P(MfccBanksTest, ConstantBesideLittle) {
  FrontEnd f = kaldi_front_end();
  f.dc_removal = ASR_DC_KEEP, f.preemphasis = 0, f.use_energy = false, f.window = WindowShape::kHann;
  std::vector<float> signal = make_signal(2000, 3);
  for (float &sample : signal) sample += 20000;
  compare_banks(f, signal, {1, 0.93});
}

// A band may have little beside what lies below it, or above.
TEST_P(MfccBanksTest, LargeRangeOfPower) {
  FrontEnd f = kaldi_front_end();
  f.window = WindowShape::kHann, f.preemphasis = 0;
  std::mt19937 random(5);
  std::normal_distribution<double> noise(0, 40);  // a transform in float has errors of 1e-7 of the tone
  for (const double hz : {100.0, 1000.0, 7000.0}) {
    std::vector<float> signal;
    for (uint32_t n = 0; n < 5000; ++n)
      signal.push_back(static_cast<float>(std::round(30000 * std::sin(2 * M_PI * hz * n / f.sample_rate_hz) + noise(random))));
    compare_banks(f, signal, {1, 0.88});
  }
}

TEST_P(MfccBanksTest, SilenceGivesTheFloor) {
  FrontEnd f = kaldi_front_end();
  f.use_energy = false;
  compare_banks(f, std::vector<float>(2000, 0), {1, 0.9});
}

// Frames under all banks beside frames with the banks in another order, only some, or of another stream. Each has the bits that
// it has alone.
TEST_P(MfccBanksTest, BitsDoNotDependOnTheJobs) {
  for (const FrontEnd &f : {kaldi_front_end(), sphinx_front_end()}) {
    FeatureTables tables(f);
    const auto device = open(backend_options(8, 64, 3));
    const Loaded loaded(api(), *device, tables.for_many_banks());
    const uint32_t n_warps = tables.view()->n_warps;
    std::vector<std::unique_ptr<Job>> jobs;
    std::vector<std::vector<float>> signals;
    std::vector<Job *> list;
    std::vector<size_t> signal_of;
    const auto add = [&](uint32_t n, const std::vector<uint32_t> &warps) {
      signals.push_back(make_signal(1 + n * f.shift_samples + f.window_samples, static_cast<uint32_t>(signals.size())));
      const Job *first = nullptr;
      for (const uint32_t warp : warps) {
        jobs.push_back(std::make_unique<Job>(f, signals.back(), 0, n, warp));
        if (first == nullptr) first = jobs.back().get();
        jobs.back()->job.samples = first->job.samples;
        list.push_back(jobs.back().get());
        signal_of.push_back(signals.size() - 1);
      }
    };
    std::vector<uint32_t> all(n_warps);
    std::iota(all.begin(), all.end(), 0);
    std::mt19937 random(3);
    add(37, {3, 3, 7});
    add(300, all);
    std::reverse(all.begin(), all.end());
    add(13, all);
    for (uint32_t i = 0; i < 40; ++i) {
      std::vector<uint32_t> warps(1 + random() % 6);
      for (uint32_t &warp : warps) warp = random() % n_warps;
      add(1 + random() % (i % 2 == 0 ? 3 : 30), warps);
    }
    extract(*device, loaded, list);
    for (size_t i = 0; i < list.size(); ++i) {
      const Job &job = *list[i];
      const uint32_t n_part = std::min(17u, job.job.n_frames), first = job.job.n_frames - n_part;
      Job part(f, signals[signal_of[i]], first, n_part, job.job.warp);
      extract(*device, loaded, {&part});
      for (size_t k = 0; k < part.cepstra.size(); ++k) {
        ASSERT_EQ(job.cepstra[size_t{first} * f.n_ceps + k], part.cepstra[k])
            << "job " << i << " under bank " << job.job.warp << ", value " << k << " from frame " << first;
      }
    }
  }
}

SENONE_INSTANTIATE(MfccBanksTest);

}  // namespace
}  // namespace asr::test
