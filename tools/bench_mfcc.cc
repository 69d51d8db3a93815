// SPDX-License-Identifier: Apache-2.0
// Implements `senone bench mfcc`: samples to cepstra on one device. The same samples may have several VTLN warps, as in
// the tables of the MFCC paper. The error is measured against the double reference of the tests.
#include <algorithm>
#include <cmath>
#include <random>

#include "core/feature/mfcc_tables.h"
#include "reference/mfcc.h"
#include "tools/bench.h"

namespace asr::tool {
namespace {

constexpr uint32_t kCheckedFrames = 100, kManyWarps = 4;  // kManyWarps: from here on they count as many

struct Options {
  BenchOptions common;
  double seconds = 60, rate_hz = 16000;
  uint32_t n_mel = 40, n_ceps = 13;
  std::vector<uint32_t> n_warps = {1, 21};
};

// Returns Kaldi's conventions without energy: 25 ms windows every 10 ms.
FrontEnd make_front_end(const Options &options) {
  FrontEnd f = kaldi_front_end();
  f.sample_rate_hz = options.rate_hz;
  f.high_hz = options.rate_hz / 2;
  f.vtln_high_hz = f.high_hz - 500;
  f.window_samples = static_cast<uint32_t>(options.rate_hz * 0.025);
  f.shift_samples = static_cast<uint32_t>(options.rate_hz * 0.010);
  f.fft_samples = 64;
  while (f.fft_samples < f.window_samples) f.fft_samples *= 2;
  f.n_mel = options.n_mel;
  f.n_ceps = options.n_ceps;
  f.use_energy = false;
  try {
    f.validate("options");
  } catch (const Error &error) {
    throw UsageError(error.what());
  }
  return f;
}

// Returns a repeated minute of harmonics of a gliding pitch over noise, with the level changing four times a second. [0] is the
// sample before the first frame.
std::vector<float> make_signal(const FrontEnd &f, uint64_t n) {
  std::mt19937 random(1);
  std::normal_distribution<double> noise(0, 50);
  std::vector<float> signal;
  signal.reserve(n);
  double phase = 0;
  const auto n_minute = std::min<uint64_t>(n, static_cast<uint64_t>(60 * f.sample_rate_hz));
  for (uint64_t i = 0; i < n_minute; ++i) {
    const double t = static_cast<double>(i) / f.sample_rate_hz;
    phase += (120 + 30 * std::sin(3 * t)) / f.sample_rate_hz;
    double voice = 0;
    for (int k = 1; k <= 12; ++k) voice += std::sin(2 * M_PI * k * phase) / k;
    signal.push_back(static_cast<float>(std::round(3000 * (1.05 + std::sin(8 * M_PI * t)) / 2 * voice + noise(random))));
  }
  while (signal.size() < n) signal.push_back(signal[signal.size() - n_minute]);
  return signal;
}

// Returns the largest difference of the first frames' cepstra from the reference.
double largest_error(const FrontEnd &f, const std::vector<float> &signal, double warp, const asr_extract_job &job) {
  const uint32_t n = std::min(kCheckedFrames, job.n_frames);
  const auto end = signal.begin() + int64_t{n - 1} * f.shift_samples + f.window_samples + 1;
  const reference::Rows want = reference::mfcc(f, {signal.begin() + 1, end}, warp);
  double worst = 0;
  for (uint32_t t = 0; t < n; ++t) {
    for (uint32_t i = 0; i < f.n_ceps; ++i) worst = std::max(worst, std::abs(job.cepstra[t * f.n_ceps + i] - want[t][i]));
  }
  return worst;
}

std::vector<double> make_warps(uint32_t n) {
  std::vector<double> warps;
  for (uint32_t i = 0; i < n; ++i) warps.push_back(n == 1 ? 1 : 0.8 + 0.4 * i / (n - 1));
  return warps;
}

void add_row(const Options &options, const FrontEnd &f, const Device &device, const std::vector<float> &signal,
             uint32_t n_warps, BenchReport *report) {
  const std::vector<double> warps = make_warps(n_warps);
  FeatureTables tables(f, warps);
  if (n_warps >= kManyWarps) tables.for_many_banks();
  asr_backend_features *const features = device.load_features(*tables.view());
  const auto n_frames = static_cast<uint32_t>(1 + (signal.size() - 1 - f.window_samples) / f.shift_samples);
  std::vector<std::vector<float>> cepstra(n_warps, std::vector<float>(size_t{n_frames} * f.n_ceps));
  std::vector<asr_extract_job> jobs;
  for (uint32_t w = 0; w < n_warps; ++w) jobs.push_back({signal.data() + 1, 0, n_frames, w, cepstra[w].data()});

  const auto extract = [&] { device.check(device.api()->extract(device.get(), features, jobs.data(), jobs.size())); };
  const Timing timing = time_repeats(options.common.n_repeats, extract);
  const std::optional<Timing> kernels = time_kernels(device, options.common.n_repeats, extract);
  device.api()->free_features(features);

  const double audio_s = n_frames * f.shift_samples / f.sample_rate_hz;
  const double error = largest_error(f, signal, warps.back(), jobs.back());
  nlohmann::json kernel_ms;
  if (kernels) kernel_ms = kernels->median_s * 1e3;
  report->row({n_warps, n_frames, timing.min_s / n_frames * 1e6, timing.median_s / n_frames * 1e6, timing.min_s / audio_s,
               kernel_ms, error});
}

void run(const Options &options) {
  const FrontEnd f = make_front_end(options);
  const DeviceEntry entry = choose_device(options.common.device);
  const Device device(entry, backend_options(options.common, 256));
  const auto n_samples = static_cast<uint64_t>(std::max(options.seconds * options.rate_hz, f.window_samples + 1.0));
  const std::vector<float> signal = make_signal(f, n_samples);
  BenchReport report("mfcc", options.common, entry,
                     {{"n_warps", "warps", 0},
                      {"n_frames", "frames", 0},
                      {"us_per_frame", "us/frame", 4},
                      {"us_per_frame_median", "median", 4},
                      {"rtf", "RTF", -2},
                      {"kernel_ms", "kernel ms", 4},
                      {"max_error", "error", -1}});
  report.option("seconds", options.seconds);
  report.option("rate_hz", options.rate_hz);
  report.option("mel", options.n_mel);
  report.option("ceps", options.n_ceps);
  for (uint32_t n_warps : options.n_warps) add_row(options, f, device, signal, n_warps, &report);
  report.note("us/frame: least of the repeats, all warps together; error: largest of a cepstrum against the double reference");
  report.print();
}

void add_mfcc(Command bench) {
  Command app = bench.command("mfcc", "Samples to cepstra, for several VTLN warps of the same samples");
  auto options = std::make_shared<Options>();
  options->common.add_to(app);
  app.option("--seconds", options->seconds, "Length of the audio").range(0.03, 36000.0).shows_default();
  app.option("--rate", options->rate_hz, "Sample rate, Hz").range(2000.0, 192000.0).shows_default();
  app.option("--mel", options->n_mel, "Mel bands").range(1, 4096).shows_default();
  app.option("--ceps", options->n_ceps, "Cepstra").range(1, 4096).shows_default();
  app.option("--warps", options->n_warps, "Numbers of VTLN warps, one row each")
      .separated_by(',')
      .range(1, 1000)
      .shows_default();
  app.callback([options] { run(*options); });
}

const Benchmark kBenchMfcc{"mfcc", add_mfcc};

}  // namespace
}  // namespace asr::tool
