// SPDX-License-Identifier: Apache-2.0
#include "builder/import/sphinx_feat_params.h"

#include <charconv>
#include <cmath>
#include <map>
#include <set>

#include "builder/import/text_lines.h"
#include "builder/text/text_file.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::sphinx {
namespace {

// Pairs holds the "-name value" pairs of the file. Every look-up marks its key as used, so that the rest can be reported.
class Pairs {
 public:
  Pairs(const std::string &text, const std::string &source) : source_(source) {
    TextLines lines(text, source);
    std::vector<std::string_view> words;
    std::string name;
    while (lines.next(words)) {
      for (const std::string_view word : words) {
        if (name.empty()) {
          if (word.size() < 2 || word[0] != '-') lines.fail_line("is not a list of \"-name value\"");
          name = word.substr(1);
        } else {
          values_[name] = word;
          name.clear();
        }
      }
    }
    if (!name.empty()) lines.fail_line(format("-%s has no value", name.c_str()).c_str());
  }

  bool has(const char *name) const { return values_.count(name) != 0; }

  std::string text(const char *name, const char *otherwise) {
    used_.insert(name);
    const auto found = values_.find(name);
    return found == values_.end() ? otherwise : found->second;
  }

  double number(const char *name, double otherwise, double lowest, double highest) {
    const std::string value = text(name, "");
    const double result = value.empty() ? otherwise : parse(name, value);
    if (!(result >= lowest && result <= highest)) {
      fail(ASR_BAD_FILE, "%s: -%s is %g; it must lie in %g ... %g", source_.c_str(), name, result, lowest, highest);
    }
    return result;
  }

  uint32_t count(const char *name, uint32_t otherwise, uint32_t lowest, uint32_t highest) {
    return static_cast<uint32_t>(number(name, otherwise, lowest, highest));
  }

  bool yes(const char *name, bool otherwise) {
    const std::string value = text(name, otherwise ? "yes" : "no");
    if (value == "yes" || value == "true" || value == "1") return true;
    if (value == "no" || value == "false" || value == "0") return false;
    fail(ASR_BAD_FILE, "%s: -%s is \"%s\", neither yes nor no", source_.c_str(), name, value.c_str());
  }

  double parse(const char *name, const std::string &value) const {
    double result = 0;
    const auto [stop, error] = std::from_chars(value.data(), value.data() + value.size(), result);
    if (error != std::errc() || stop != value.data() + value.size() || !std::isfinite(result)) {
      fail(ASR_BAD_FILE, "%s: -%s is \"%s\", not a number", source_.c_str(), name, value.c_str());
    }
    return result;
  }

  [[noreturn]] void refuse(const char *name, const char *remedy) const {
    fail(ASR_UNSUPPORTED, "%s: -%s %s is not supported; %s", source_.c_str(), name, values_.at(name).c_str(), remedy);
  }

  std::vector<std::string> unused() const {
    std::vector<std::string> names;
    for (const auto &[name, value] : values_) {
      if (used_.count(name) == 0) names.push_back(name);
    }
    return names;
  }

  const std::string &source() const { return source_; }

 private:
  std::string source_;
  std::map<std::string, std::string> values_;
  std::set<std::string> used_;
};

// Returns the value beside the matching name in `choices`.
template <typename Value>
Value choice(Pairs &pairs, const char *name, const char *otherwise, const std::map<std::string, Value> &choices) {
  const auto found = choices.find(pairs.text(name, otherwise));
  if (found == choices.end()) pairs.refuse(name, "use a model made with another one");
  return found->second;
}

void refuse_what_we_cannot_do(Pairs &pairs) {
  const char *const remedy = "use a model trained without it";
  if (pairs.text("agc", "none") != "none") pairs.refuse("agc", remedy);
  for (const char *name : {"doublebw", "logspec", "smoothspec"}) {
    if (pairs.yes(name, false)) pairs.refuse(name, remedy);
  }
  if (!pairs.text("warp_params", "").empty()) pairs.refuse("warp_params", "leave it out and set the stream's vtln_warp");
}

void set_rate(Pairs &pairs, double sample_rate_hz, FeatParams &params) {
  FrontEnd &f = params.front_end;
  const double upper_hz = pairs.number("upperf", 6855.4976, 1, 400000);
  f.sample_rate_hz = pairs.number("samprate", 16000, kMinSampleRateHz, kMaxSampleRateHz);
  if (!pairs.has("samprate") && upper_hz <= 4000) f.sample_rate_hz = 8000;
  if (sample_rate_hz > 0) {
    f.sample_rate_hz = sample_rate_hz;
  } else if (!pairs.has("samprate") && upper_hz <= 4000) {
    params.notes.push_back(
        format("%s names no sample rate; its filters end at %g Hz, so 8000 Hz is taken; --sample-rate sets "
               "another",
               pairs.source().c_str(), upper_hz));
  }
  if (upper_hz > f.sample_rate_hz / 2) {
    fail(ASR_BAD_FILE, "%s: the filters end at %g Hz, above half the sample rate of %g Hz; give the right --sample-rate",
         pairs.source().c_str(), upper_hz, f.sample_rate_hz);
  }
  f.high_hz = upper_hz;
  f.low_hz = pairs.number("lowerf", 133.33334, 0, upper_hz);
}

void set_framing(Pairs &pairs, FrontEnd &f) {
  const double window = pairs.number("wlen", 0.025625, 0.001, 1) * f.sample_rate_hz;
  f.shift_samples = static_cast<uint32_t>(std::lround(f.sample_rate_hz / pairs.number("frate", 100, 1, 1000)));
  f.window_samples = static_cast<uint32_t>(std::lround(window));
  f.fft_samples = pairs.count("nfft", 0, 0, 8192);
  if (f.fft_samples == 0) {
    f.fft_samples = 64;
    while (f.fft_samples < static_cast<uint32_t>(window)) f.fft_samples *= 2;
  }
  f.edges = FrameEdges::kPadTail;
}

void set_spectrum_and_cepstra(Pairs &pairs, FrontEnd &f) {
  f.preemphasis = pairs.number("alpha", 0.97, 0, 1);
  f.dc_removal = pairs.yes("remove_dc", false) ? ASR_DC_AFTER_PREEMPHASIS : ASR_DC_KEEP;
  f.n_mel = pairs.count("nfilt", 40, 1, 4096);
  f.round_edges_to_bins = pairs.yes("round_filters", true);
  f.unit_area = pairs.yes("unit_area", true);
  f.noise_removal = pairs.yes("remove_noise", true);
  f.n_ceps = pairs.count("ncep", 13, 2, 4096);
  f.dct = choice<DctKind>(pairs, "transform", "legacy",
                          {{"legacy", DctKind::kSphinxLegacy}, {"dct", DctKind::kOrthonormal}, {"htk", DctKind::kHtk}});
  f.lifter = pairs.count("lifter", 0, 0, 1000);
}

void set_normalisation(Pairs &pairs, FrontEnd &f) {
  f.cmn = choice<CmnKind>(pairs, "cmn", "live",
                          {{"none", CmnKind::kNone},
                           {"batch", CmnKind::kBatch},
                           {"current", CmnKind::kBatch},
                           {"live", CmnKind::kLive},
                           {"prior", CmnKind::kLive}});
  f.cmn_variance = pairs.yes("varnorm", false);
  if (f.cmn_variance && f.cmn != CmnKind::kBatch) pairs.refuse("varnorm", "it needs -cmn batch");
  const std::string prior = pairs.text("cmninit", "40,3,-1");
  f.cmn_prior.clear();
  for (size_t begin = 0; begin < prior.size();) {
    const size_t end = std::min(prior.find(',', begin), prior.size());
    f.cmn_prior.push_back(static_cast<float>(pairs.parse("cmninit", prior.substr(begin, end - begin))));
    begin = end + 1;
  }
  f.cmn_prior.resize(f.n_ceps, 0.0f);
}

DynamicKind dynamic_kind(Pairs &pairs) {
  return choice<DynamicKind>(pairs, "feat", "1s_c_d_dd",
                             {{"1s_c", DynamicKind::kNone},
                              {"1s_c_d", DynamicKind::kSphinx_c_d},
                              {"1s_c_d_dd", DynamicKind::kSphinx_c_d_dd},
                              {"1s_c_d_ld_dd", DynamicKind::kSphinx_c_d_ld_dd},
                              {"s2_4x", DynamicKind::kSphinx_s2_4x},
                              {"s3_1x39", DynamicKind::kSphinx_s3_1x39},
                              {"1s_12c_12d_3p_12dd", DynamicKind::kSphinx_s3_1x39}});
}

std::vector<uint32_t> dimensions(uint32_t first, uint32_t count) {
  std::vector<uint32_t> dims(count);
  for (uint32_t i = 0; i < count; ++i) dims[i] = first + i;
  return dims;
}

// Parses "0-12/13-25,30": streams separated by slashes, each a list of numbers and ranges separated by commas.
std::vector<std::vector<uint32_t>> parse_svspec(const std::string &text, uint32_t n_dims, const std::string &source) {
  std::vector<std::vector<uint32_t>> streams(1);
  uint64_t n_listed = 0;
  const char *at = text.data();
  const char *const end = at + text.size();
  const auto number = [&] {
    uint32_t value = 0;
    const auto [stop, error] = std::from_chars(at, end, value);
    if (error != std::errc() || value >= n_dims) {
      fail(ASR_BAD_FILE, "%s: -svspec \"%s\" is not a list of dimensions below %u", source.c_str(), text.c_str(), n_dims);
    }
    at = stop;
    return value;
  };
  for (;;) {
    const uint32_t first = number();
    uint32_t last = first;
    if (at < end && *at == '-') {
      ++at;
      last = number();
    }
    if (last < first) fail(ASR_BAD_FILE, "%s: -svspec \"%s\" has a range that runs backwards", source.c_str(), text.c_str());
    n_listed += last - first + 1;
    if (n_listed > kMaxDims) {
      fail(ASR_BAD_FILE, "%s: -svspec lists more than %u dimensions; list each once", source.c_str(), kMaxDims);
    }
    for (uint32_t dim = first; dim <= last; ++dim) streams.back().push_back(dim);
    if (at == end) return streams;
    if (*at == '/') {
      streams.emplace_back();
    } else if (*at != ',') {
      fail(ASR_BAD_FILE, "%s: -svspec \"%s\" has a '%c' where '/', ',' or the end should be", source.c_str(), text.c_str(),
           *at);
    }
    ++at;
  }
}

void set_streams(Pairs &pairs, FeatParams &params) {
  FrontEnd &f = params.front_end;
  f.dynamic = dynamic_kind(pairs);
  const std::string svspec = pairs.text("svspec", "");
  if (!svspec.empty()) {
    params.streams = parse_svspec(svspec, f.n_dims(), pairs.source());
  } else if (f.dynamic == DynamicKind::kSphinx_s2_4x) {
    const uint32_t n = f.n_ceps - 1;
    params.streams = {dimensions(0, n), dimensions(n, 2 * n), dimensions(3 * n, 3), dimensions(3 * n + 3, n)};
  } else {
    params.streams = {dimensions(0, f.n_dims())};
  }
}

}  // namespace

FeatParams parse_feat_params(const std::string &text, const std::string &source, double sample_rate_hz) {
  Pairs pairs(text, source);
  FeatParams params;
  params.front_end = sphinx_front_end();
  refuse_what_we_cannot_do(pairs);
  set_rate(pairs, sample_rate_hz, params);
  set_framing(pairs, params.front_end);
  set_spectrum_and_cepstra(pairs, params.front_end);
  set_normalisation(pairs, params.front_end);
  set_streams(pairs, params);
  params.front_end.validate(source);
  params.variance_floor = pairs.number("varfloor", 1e-4, 1e-30, 1);
  params.weight_floor = pairs.number("mixwfloor", 1e-7, 1e-30, 1);
  params.transition_floor = pairs.number("tmatfloor", 1e-4, 1e-30, 1);
  params.lda_dims = pairs.count("ldadim", 0, 0, kMaxDims);
  if (pairs.yes("dither", false)) {
    params.notes.push_back(source + " asks for dither; it is left out, so that results can be repeated");
  }
  for (const char *irrelevant : {"model", "topn", "logbase", "remove_silence", "warp_type", "seed", "input_endian", "lda"}) {
    pairs.text(irrelevant, "");
  }
  for (const std::string &name : pairs.unused()) params.notes.push_back(source + ": -" + name + " is not used");
  return params;
}

FeatParams read_feat_params(const std::string &path, double sample_rate_hz) {
  return parse_feat_params(read_text(path, {"a list of feature options (feat.params)"}), path, sample_rate_hz);
}

}  // namespace asr::sphinx
