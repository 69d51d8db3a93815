// SPDX-License-Identifier: Apache-2.0
// Common code of the tests of `extract`: signals, guarded jobs, comparison with the double reference (reference/mfcc.h).
#pragma once

#include <cmath>
#include <memory>
#include <random>
#include <vector>

#include "core/feature/mfcc_tables.h"
#include "reference/mfcc.h"
#include "tests/conformance/harness.h"

namespace asr::test {

constexpr double kTolerance = 1e-3;  // absolute error of a cepstrum that is not scaled

// Makes a speech-like signal: a few strong sines with varying level over noise, at the scale of 16-bit samples.
inline std::vector<float> make_signal(size_t n, uint32_t seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> noise(0, 60);
  std::vector<float> signal;
  for (size_t i = 0; i < n; ++i) {
    const double t = static_cast<double>(i), level = 1500 * (1 + std::sin(t / 700));
    const double voice = std::sin(0.05 * t) + 0.5 * std::sin(0.21 * t) + 0.1 * std::sin(1.3 * t);
    signal.push_back(static_cast<float>(std::round(30 + level * voice + noise(random))));
  }
  return signal;
}

inline FrontEnd sized(FrontEnd f, uint32_t window, uint32_t shift, uint32_t fft, uint32_t n_mel, uint32_t n_ceps) {
  f.window_samples = window, f.shift_samples = shift, f.fft_samples = fft;
  f.n_mel = n_mel, f.n_ceps = n_ceps;
  f.cmn_prior.clear();
  return f;
}

// Front ends that differ in the steps before the filter bank and in the logarithm.
inline std::vector<FrontEnd> front_ends_of_every_step() {
  std::vector<FrontEnd> front_ends;
  FrontEnd f = kaldi_front_end();
  f.dc_removal = ASR_DC_AFTER_PREEMPHASIS, f.preemphasis_in_frame = false;
  front_ends.push_back(f);
  f.dc_removal = ASR_DC_BEFORE_PREEMPHASIS;
  front_ends.push_back(f);
  f.energy_windowed = true, f.c0_last = true;
  front_ends.push_back(f);
  f.dc_removal = ASR_DC_KEEP, f.magnitude = true, f.use_energy = false, f.window = WindowShape::kHann;
  front_ends.push_back(f);
  f.log_add = 1, f.log_floor = 0, f.window = WindowShape::kRectangular, f.preemphasis = 0;
  front_ends.push_back(f);
  return front_ends;
}

class MfccTest : public BackendTest {
 protected:
  void SetUp() override {
    BackendTest::SetUp();
    require_features();
  }

  struct Loaded {
    Loaded(const asr_backend_api &api, const Device &device, const FeatureTables &tables) : api(api) {
      features = device.load_features(*tables.view());
    }
    ~Loaded() { api.free_features(features); }
    const asr_backend_api &api;
    asr_backend_features *features = nullptr;
  };

  // A job over a signal, with its samples and cepstra between guard bands; samples[-1] is the first of `signal`.
  struct Job {
    Job(const FrontEnd &f, const std::vector<float> &signal, uint32_t first_frame, uint32_t n_frames, uint32_t warp)
        : samples(n_frames == 0 ? 1 : 1 + size_t{n_frames - 1} * f.shift_samples + f.window_samples),
          cepstra(size_t{n_frames} * f.n_ceps) {
      std::copy_n(signal.begin() + int64_t{first_frame} * f.shift_samples, samples.size(), samples.data());
      job = {samples.data() + 1, first_frame, n_frames, warp, cepstra.data()};
    }
    void expect_complete() const {
      EXPECT_EQ(cepstra.n_unwritten(), 0u);
      EXPECT_TRUE(cepstra.bands_intact());
    }
    Guarded<float> samples, cepstra;
    asr_extract_job job;
  };

  void extract(const Device &device, const Loaded &loaded, const std::vector<Job *> &jobs) const {
    std::vector<asr_extract_job> list;
    for (const Job *job : jobs) list.push_back(job->job);
    check(api().extract(device.get(), loaded.features, list.data(), list.size()));
    for (const Job *job : jobs) job->expect_complete();
  }

  // Compares a device's frames of a signal with the double reference.
  void compare(const FrontEnd &f, uint32_t n_frames, double warp) const {
    compare(f, make_signal(1 + size_t{n_frames} * f.shift_samples + f.window_samples, 7), FeatureTables(f, {1, warp}));
  }
  // Compares the frames under the last warp of the tables.
  void compare(const FrontEnd &f, const std::vector<float> &signal, const FeatureTables &tables) const {
    const auto n_frames = static_cast<uint32_t>((signal.size() - 1 - f.window_samples) / f.shift_samples);
    const double warp = tables.warps().back();
    const auto device = open();
    const Loaded loaded(api(), *device, tables);
    Job job(f, signal, 0, n_frames, tables.view()->n_warps - 1);
    extract(*device, loaded, {&job});
    for (uint32_t t = 0; t < n_frames; ++t) {
      const auto start = signal.begin() + int64_t{t} * f.shift_samples;
      double energy = 0;
      const reference::Row y = reference::windowed(f, {start, start + f.window_samples + 1}, &energy);
      const reference::Row log_mel = reference::logarithm(f, reference::mel(f, reference::spectrum(f, y), warp));
      const reference::Row want =
          f.lpc_order > 0 ? reference::plp(f, log_mel, energy, warp) : reference::cepstra(f, log_mel, energy);
      for (uint32_t i = 0; i < f.n_ceps; ++i) {
        ASSERT_NEAR(job.cepstra[t * f.n_ceps + i], want[i], kTolerance * f.cepstral_scale)
            << "frame " << t << " cepstrum " << i;
      }
    }
  }
};

}  // namespace asr::test
