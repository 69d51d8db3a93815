// SPDX-License-Identifier: Apache-2.0
// Converts mfcc.conf and plp.conf, the options of Kaldi's compute-mfcc-feats and compute-plp-feats, to a FrontEnd.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "builder/import/kaldi.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

// Options holds the options that describe features, each with its line number.
class Options {
 public:
  Options(const std::string &text, const std::string &path) : path_(path) {
    size_t line_number = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      ++line_number;
      add_line(text.substr(begin, end - begin), line_number);
      begin = end + 1;
    }
  }

  double number(const char *name, double otherwise, double low, double high) {
    const auto found = take(name);
    if (!found) return otherwise;
    const std::string &text = found->second.first;
    double value = 0;
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size()) fail_line(*found, "is not a number");
    if (!(value >= low && value <= high)) fail_line(*found, format("must lie in %g ... %g", low, high).c_str());
    return value;
  }

  uint32_t count(const char *name, uint32_t otherwise, uint32_t low, uint32_t high) {
    const double value = number(name, otherwise, low, high);
    if (value != std::floor(value)) fail_line(*taken_.find(name), "is not a whole number");
    return static_cast<uint32_t>(value);
  }

  bool flag(const char *name, bool otherwise) {
    const auto found = take(name);
    if (!found) return otherwise;
    const std::string &text = found->second.first;
    if (text == "true" || text == "t" || text == "1" || text.empty()) return true;
    if (text == "false" || text == "f" || text == "0") return false;
    fail_line(*found, "is neither true nor false");
  }

  std::string text(const char *name, const char *otherwise) {
    const auto found = take(name);
    return found ? found->second.first : otherwise;
  }

  void ignore(const char *name) { take(name); }

  // Throws for options not queried: they change the features in an unknown way.
  void finish() const {
    if (!options_.empty())
      fail_line(*options_.begin(), "is not an option that can be imported; remove it if it leaves the features as they are");
  }

  [[noreturn]] void unsupported(const char *what) const {
    fail(ASR_UNSUPPORTED, "%s: %s cannot be imported", path_.c_str(), what);
  }

 private:
  using Entry = std::pair<const std::string, std::pair<std::string, size_t>>;  // name, value and line
  std::string path_;
  std::map<std::string, std::pair<std::string, size_t>> options_, taken_;

  void add_line(std::string line, size_t number) {
    line = line.substr(0, line.find('#'));
    const auto blank = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
    while (!line.empty() && blank(line.back())) line.pop_back();
    size_t begin = 0;
    while (begin < line.size() && blank(line[begin])) ++begin;
    line.erase(0, begin);
    if (line.empty()) return;
    if (line.compare(0, 2, "--") != 0) fail(ASR_BAD_FILE, "%s:%zu: is not an option \"--name=value\"", path_.c_str(), number);
    const size_t equals = line.find('=');
    options_[line.substr(2, equals == std::string::npos ? equals : equals - 2)] = {
        equals == std::string::npos ? "" : line.substr(equals + 1), number};
  }

  const Entry *take(const char *name) {
    const auto found = options_.find(name);
    if (found == options_.end()) return nullptr;
    const auto kept = taken_.insert(*found).first;
    options_.erase(found);
    return &*kept;
  }

  [[noreturn]] void fail_line(const Entry &entry, const char *what) const {
    fail(ASR_BAD_FILE, "%s:%zu: --%s=%s %s", path_.c_str(), entry.second.second, entry.first.c_str(),
         entry.second.first.c_str(), what);
  }
};

void read_framing(Options &options, FrontEnd &f) {
  f.sample_rate_hz = options.number("sample-frequency", 16000, kMinSampleRateHz, kMaxSampleRateHz);
  const double window_ms = options.number("frame-length", 25, 1, 1000), shift_ms = options.number("frame-shift", 10, 1, 1000);
  f.window_samples = static_cast<uint32_t>(f.sample_rate_hz * 0.001 * window_ms);
  f.shift_samples = static_cast<uint32_t>(f.sample_rate_hz * 0.001 * shift_ms);
  for (f.fft_samples = 64; f.fft_samples < f.window_samples;) f.fft_samples *= 2;
  if (!options.flag("round-to-power-of-two", true)) options.unsupported("an FFT whose length is not a power of two");
  if (!options.flag("snip-edges", true)) f.edges = FrameEdges::kCentred;
  f.preemphasis = options.number("preemphasis-coefficient", 0.97, 0, 1);
  f.dc_removal = options.flag("remove-dc-offset", true) ? ASR_DC_BEFORE_PREEMPHASIS : ASR_DC_KEEP;
  f.dither = options.number("dither", 0, 0, 32768);  // not Kaldi's default of 1, which would make recognition random
  const std::string window = options.text("window-type", "povey");
  if (window == "hamming") {
    f.window = WindowShape::kHamming;
  } else if (window == "hanning") {
    f.window = WindowShape::kHann;
  } else if (window == "rectangular") {
    f.window = WindowShape::kRectangular;
  } else if (window != "povey") {
    options.unsupported(("the window " + window).c_str());
  }
}

void read_bank(Options &options, FrontEnd &f) {
  const double nyquist_hz = f.sample_rate_hz / 2;
  const auto from_nyquist = [&](double hz) { return hz > 0 ? hz : nyquist_hz + hz; };
  f.n_mel = options.count("num-mel-bins", 23, 3, kMaxMel);
  f.low_hz = options.number("low-freq", 20, 0, nyquist_hz);
  f.high_hz = from_nyquist(options.number("high-freq", 0, -nyquist_hz, nyquist_hz));
  f.vtln_low_hz = options.number("vtln-low", 100, 0, nyquist_hz);
  const double vtln_high_hz = options.number("vtln-high", -500, -nyquist_hz, nyquist_hz);
  f.vtln_high_hz = vtln_high_hz < 0 ? nyquist_hz + vtln_high_hz : vtln_high_hz;
}

void read_prediction(Options &options, FrontEnd &f) {
  f.lpc_order = options.count("lpc-order", 12, 1, std::min(f.n_mel - 1, kMaxLpcOrder));
  f.compression = options.number("compress-factor", f.compression, 0.01, f.max_compression());
  f.cepstral_scale = options.number("cepstral-scale", 1, 1e-3, 1e3);
}

void read_cepstra(Options &options, FrontEnd &f) {
  f.n_ceps = options.count("num-ceps", 13, 1, f.lpc_order > 0 ? f.lpc_order + 1 : f.n_mel);
  f.lifter = options.number("cepstral-lifter", 22, 0, 1000);
  f.use_energy = options.flag("use-energy", true);
  f.energy_windowed = !options.flag("raw-energy", true);
  const double energy_floor = options.number("energy-floor", 0, 0, 1e30);
  if (f.use_energy && energy_floor > f.log_floor) options.unsupported("--energy-floor");
  if (options.flag("htk-compat", false)) {
    f.c0_last = true;
    if (!f.use_energy) f.dct = DctKind::kHtk;
  }
}

// `f`: the defaults of the program whose options they are.
FrontEnd read_conf(const std::string &path, FrontEnd f) {
  Options options(read_text(path, {"a configuration of Kaldi"}), path);
  read_framing(options, f);
  read_bank(options, f);
  if (f.lpc_order > 0) read_prediction(options, f);
  read_cepstra(options, f);
  for (const char *name :
       {"allow-downsample", "allow-upsample", "max-feature-vectors", "debug-mel", "verbose", "channel", "min-duration",
        "output-format", "subtract-mean", "utt2spk", "vtln-map", "vtln-warp", "blackman-coeff"}) {
    options.ignore(name);
  }
  options.finish();
  f.validate(path);
  return f;
}

}  // namespace

FrontEnd read_mfcc_conf(const std::string &path) { return read_conf(path, kaldi_front_end()); }
FrontEnd read_plp_conf(const std::string &path) { return read_conf(path, kaldi_plp_front_end()); }

}  // namespace asr
