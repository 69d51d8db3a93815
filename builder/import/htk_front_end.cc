// SPDX-License-Identifier: Apache-2.0
// Converts HTK's parameter kind and configuration ("KEY = value" lines) to a FrontEnd.
#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <map>

#include "builder/import/htk.h"
#include "builder/import/htk_model.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr double kUnitS = 1e-7;  // HTK gives times in 100 ns

class Config {
 public:
  explicit Config(const std::string &path) : path_(path) {
    if (path.empty()) return;
    const std::string text = read_text(path, {"a configuration of HTK"});
    size_t line_number = 0;
    for (size_t begin = 0; begin < text.size();) {
      const size_t end = std::min(text.find('\n', begin), text.size());
      add_line(text.substr(begin, end - begin), ++line_number);
      begin = end + 1;
    }
  }

  double number(const char *key, double otherwise, double low, double high) {
    const auto found = values_.find(key);
    if (found == values_.end()) return otherwise;
    double value = 0;
    const std::string text = take(found);
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc() || stop != text.data() + text.size() || !(value >= low && value <= high)) {
      fail(ASR_BAD_FILE, "%s: %s is \"%s\"; it must be a number from %g to %g", path_.c_str(), key, text.c_str(), low, high);
    }
    return value;
  }

  uint32_t count(const char *key, uint32_t otherwise, uint32_t low, uint32_t high) {
    const auto found = values_.find(key);
    const std::string text = found == values_.end() ? "" : found->second;
    const double value = number(key, otherwise, low, high);
    if (value != std::floor(value)) fail(ASR_BAD_FILE, "%s: %s is \"%s\"; it must be whole", path_.c_str(), key, text.c_str());
    return static_cast<uint32_t>(value);
  }

  bool flag(const char *key, bool otherwise) {
    const auto found = values_.find(key);
    if (found == values_.end()) return otherwise;
    const std::string text = take(found);
    if (text == "T" || text == "TRUE") return true;
    if (text == "F" || text == "FALSE") return false;
    fail(ASR_BAD_FILE, "%s: %s is \"%s\"; it must be T or F", path_.c_str(), key, text.c_str());
  }

  // Renames an alternative spelling of a key; the first given of the two counts.
  void rename(const char *from, const char *to) {
    const auto found = values_.find(from);
    if (found != values_.end()) values_.emplace(to, take(found));
  }

  // Refuses settings that change the features in ways that this front end does not have, unless they are at HTK's defaults.
  void refuse_unsupported() {
    for (const char *const key : {"SIMPLEDIFFS", "DOUBLEFFT", "V1COMPAT"}) {
      if (flag(key, false)) refuse(key, "T");
    }
    if (number("WARPFREQ", 1, 0, 100) != 1) refuse("WARPFREQ", "other than 1");
    for (const char *const key : {"MATTRANFN", "CMEANDIR", "VARSCALEDIR", "VARSCALEFN"}) {
      if (values_.count(key) != 0) refuse(key, "set");
    }
  }

  // Refuses a TARGETKIND that the model's features cannot be made from. The model may have more qualifiers, as HTK adds
  // differences when it reads features.
  void check_kind(uint16_t kind) {
    const auto found = values_.find("TARGETKIND");
    if (found == values_.end()) return;
    const std::string text = take(found);
    constexpr uint16_t kOfFiles = 02000 | 010000;  // _C and _K: how files are stored
    uint16_t target = 0;
    const bool is_known = htk::parse_kind(text, &target);
    target = static_cast<uint16_t>(target & ~kOfFiles);
    const bool is_base = (target & htk::kBaseMask) == (kind & htk::kBaseMask);
    if (is_known && is_base && (target & ~htk::kBaseMask & ~kind) == 0) return;
    fail(ASR_BAD_FILE, "%s: TARGETKIND is %s, but the model has features of another kind; give its own configuration",
         path_.c_str(), text.c_str());
  }

  void note_unused(std::vector<std::string> &notes) const {
    for (const auto &[key, value] : values_) {
      if (key != "SOURCEKIND" && key != "SOURCEFORMAT" && key != "SAVECOMPRESSED" && key != "SAVEWITHCRC") {
        notes.push_back(path_ + ": " + key + " is not used");
      }
    }
  }

 private:
  std::string path_;
  std::map<std::string, std::string> values_;

  [[noreturn]] void refuse(const char *key, const char *value) const {
    fail(ASR_UNSUPPORTED, "%s: %s is %s, which changes the features in a way that is not supported; give --features-only",
         path_.c_str(), key, value);
  }

  std::string take(std::map<std::string, std::string>::iterator found) {
    std::string text = found->second;
    values_.erase(found);
    return text;
  }

  void add_line(std::string line, size_t number) {
    line = line.substr(0, line.find('#'));
    const size_t equals = line.find('=');
    std::string key, value;
    const auto upper = [](std::string &to, char c) {
      const auto u = static_cast<unsigned char>(c);
      if (!std::isspace(u)) to += static_cast<char>(std::toupper(u));
    };
    for (size_t i = 0; i < line.size(); ++i) {
      if (i != equals) upper(i < equals ? key : value, line[i]);
    }
    if (key.empty() && value.empty()) return;
    if (equals == std::string::npos || key.empty() || value.empty()) {
      fail(ASR_BAD_FILE, "%s:%zu: is not \"KEY = value\"", path_.c_str(), number);
    }
    key.erase(0, key.find(':') + 1);  // "HCOPY:KEY" applies to one tool
    values_[key] = value;
  }
};

// Sets the position of the energy and c0, and the deltas, by the kind.
void read_kind(uint16_t kind, uint32_t n_dims, const HtkOptions &options, FrontEnd &f) {
  const std::string &source = options.models.back();
  const bool energy = kind & htk::kEnergy, c0 = kind & htk::kC0;
  const uint16_t base = kind & htk::kBaseMask;
  if ((base != htk::kMfcc && base != htk::kPlp) || (!energy && !c0)) {
    fail(
        ASR_UNSUPPORTED,
        "%s: its features are not MFCC or PLP with c0 (_0) or the energy (_E); give --features-only if they are made elsewhere",
        source.c_str());
  }
  f.use_energy = energy;
  f.energy_beside_c0 = energy && c0;
  f.delta_order = kind & htk::kThirdDelta ? 3 : kind & htk::kAcceleration ? 2 : kind & htk::kDelta ? 1 : 0;
  if (f.delta_order == 0) f.dynamic = DynamicKind::kNone;
  f.drop_absolute_energy = (kind & htk::kNoAbsoluteEnergy) != 0;
  if (f.drop_absolute_energy && f.energy_beside_c0) {
    fail(ASR_UNSUPPORTED, "%s: has a kind with _N beside _E and _0, which cannot be imported; give --features-only",
         source.c_str());
  }
  if (f.drop_absolute_energy && f.delta_order == 0) fail(ASR_BAD_FILE, "%s: has a kind with _N but without _D", source.c_str());
  if (kind & htk::kZeroMean) f.cmn = CmnKind::kBatch;
  const uint32_t n_values = n_dims + (f.drop_absolute_energy ? 1 : 0);
  f.n_ceps = n_values / (f.delta_order + 1);
  if (n_values % (f.delta_order + 1) != 0 || f.n_ceps < (f.energy_beside_c0 ? 3 : 2)) {
    fail(ASR_BAD_FILE, "%s: its %u dimensions do not fit its parameter kind", source.c_str(), n_dims);
  }
}

void read_bank(Config &config, FrontEnd &f) {
  const double nyquist_hz = f.sample_rate_hz / 2;
  f.magnitude = !config.flag("USEPOWER", false);
  f.n_mel = config.count("NUMCHANS", 20, 2, kMaxMel);
  f.low_hz = std::max(config.number("LOFREQ", 0, -1, nyquist_hz), 0.0);
  const double high_hz = config.number("HIFREQ", -1, -1, nyquist_hz);
  f.high_hz = high_hz > 0 ? high_hz : nyquist_hz;
  f.lifter = config.number("CEPLIFTER", 22, 0, 1000);
  f.cepstral_scale = config.number("CEPSCALE", 1, 1e-3, 1e3);
  const double low_hz = config.number("WARPLCUTOFF", 0, 0, nyquist_hz), up_hz = config.number("WARPUCUTOFF", 0, 0, nyquist_hz);
  if (low_hz > 0 && up_hz > 0) {
    f.vtln_low_hz = low_hz, f.vtln_high_hz = up_hz;
    f.vtln_htk_bends = true;
  }
}

// Reads the options of PLP alone; n_ceps is known.
void read_prediction(Config &config, const HtkOptions &options, FrontEnd &f) {
  const uint32_t n_min = std::max(f.n_ceps - (f.energy_beside_c0 ? 2 : 1), 1u);
  const uint32_t n_max = std::min(f.n_mel - 1, kMaxLpcOrder);
  if (n_min > n_max) {
    fail(ASR_BAD_FILE, "%s: %u cepstra of PLP need more than %u channels and at most %u; correct NUMCHANS in --config",
         options.models.back().c_str(), n_min, f.n_mel, kMaxLpcOrder);
  }
  f.lpc_order = config.count("LPCORDER", 12, n_min, n_max);
  f.compression = config.number("COMPRESSFACT", 0.33, 0.01, f.max_compression());
}

// Sets normalisation of the energy to the recording's highest, which needs whole recordings. It is left out if only differences
// of the energy are features and its scale is 1, since it cancels then but for the floor.
void read_energy(Config &config, const HtkOptions &options, FrontEnd &f, std::vector<std::string> &notes) {
  config.rename("ENORMALIZE", "ENORMALISE");
  const bool normalised = config.flag("ENORMALISE", true);
  const double scale = config.number("ESCALE", options.energy_scale, 0, 1000);
  const double range_db = config.number("SILFLOOR", 50, 0.001, 1000);
  if (f.use_energy && normalised && !(f.drop_absolute_energy && scale == 1)) {
    f.energy_range_db = range_db;
    f.energy_scale = scale;
    f.cmn_cepstra = f.cmn == CmnKind::kBatch;
    f.cmn = CmnKind::kBatch;
    notes.push_back(
        "the energy is normalised to the highest of an utterance, whose recognition begins at its end; "
        "streams of audio cannot have live means or endpoints");
    return;
  }
  if (f.use_energy && !f.drop_absolute_energy && f.cmn != CmnKind::kNone) {
    fail(ASR_UNSUPPORTED,
         "%s: its features have the absolute energy beside mean-normalised cepstra, which cannot be made here; give "
         "--features-only",
         options.models.back().c_str());
  }
}

}  // namespace

FrontEnd htk_front_end_of(uint16_t kind, uint32_t n_dims, const HtkOptions &options, std::vector<std::string> &notes) {
  FrontEnd f = htk_front_end();
  Config config(options.config);
  config.refuse_unsupported();
  config.check_kind(kind);
  const double rate_units = config.number("SOURCERATE", 1 / (kUnitS * options.sample_rate_hz), 10, 10000);
  f.sample_rate_hz = std::round(1 / (kUnitS * rate_units));
  f.shift_samples =
      static_cast<uint32_t>(std::lround(config.number("TARGETRATE", 100000, 1e3, 1e7) * kUnitS * f.sample_rate_hz));
  f.window_samples =
      static_cast<uint32_t>(std::lround(config.number("WINDOWSIZE", 250000, 1e3, 1e7) * kUnitS * f.sample_rate_hz));
  for (f.fft_samples = 64; f.fft_samples < f.window_samples;) f.fft_samples *= 2;
  f.preemphasis = config.number("PREEMCOEF", 0.97, 0, 1);
  f.window = config.flag("USEHAMMING", true) ? WindowShape::kHamming : WindowShape::kRectangular;
  f.dc_removal = config.flag("ZMEANSOURCE", false) ? ASR_DC_BEFORE_PREEMPHASIS : ASR_DC_KEEP;
  f.energy_windowed = !config.flag("RAWENERGY", true);
  read_bank(config, f);
  read_kind(kind, n_dims, options, f);
  const uint32_t n_of_model = f.n_ceps - (f.energy_beside_c0 ? 2 : 1);
  const double n_ceps = config.number("NUMCEPS", n_of_model, 1, 4096);
  if (n_ceps != n_of_model) {
    fail(ASR_BAD_FILE, "%s: NUMCEPS is %g, but the model has %u; give the configuration that it was trained with",
         options.config.c_str(), n_ceps, n_of_model);
  }
  if ((kind & htk::kBaseMask) == htk::kPlp) read_prediction(config, options, f);
  f.delta_window = config.count("DELTAWINDOW", 2, 1, 16);
  if (config.number("ACCWINDOW", f.delta_window, 1, 16) != f.delta_window && f.delta_order > 1) {
    fail(ASR_UNSUPPORTED, "%s: ACCWINDOW other than DELTAWINDOW cannot be imported", options.config.c_str());
  }
  read_energy(config, options, f, notes);
  config.note_unused(notes);
  if (options.config.empty())
    notes.push_back("without --config the front end is HTK's at its defaults: 25 ms, 10 ms, 20 channels, lifter 22");
  f.validate(options.models.back());
  return f;
}

}  // namespace asr
