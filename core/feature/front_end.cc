// SPDX-License-Identifier: Apache-2.0
// Presets, row length and range checks of FrontEnd. Its JSON form is in front_end_json.cc.
#include "core/feature/front_end.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

constexpr double kHtkLogFloor = 1;

uint32_t n_dims_before_transform(const FrontEnd &f) {
  const uint32_t n = f.n_ceps;
  switch (f.dynamic) {
    case DynamicKind::kNone:
      return n;
    case DynamicKind::kSphinx_c_d:
      return 2 * n;
    case DynamicKind::kSphinx_c_d_dd:
      return 3 * n;
    case DynamicKind::kSphinx_c_d_ld_dd:
      return 4 * n;
    case DynamicKind::kSphinx_s2_4x:
      return 4 * (n - 1) + 3;
    case DynamicKind::kSphinx_s3_1x39:
      return 3 * n;
    case DynamicKind::kRegressionSquared:
    case DynamicKind::kRegressionRepeated:
      return (f.delta_order + 1) * n - (f.drop_absolute_energy ? 1 : 0);
    case DynamicKind::kSplice:
      return (f.splice_left + 1 + f.splice_right) * n;
  }
  return n;
}

bool is_sphinx(DynamicKind kind) { return kind >= DynamicKind::kSphinx_c_d_dd && kind <= DynamicKind::kSphinx_s3_1x39; }

bool is_regression(DynamicKind kind) {
  return kind == DynamicKind::kRegressionSquared || kind == DynamicKind::kRegressionRepeated;
}

// Check tests ranges and names the field in its errors.
struct Check {
  const std::string &source;

  void that(bool good, const char *field, const char *rule) const {
    if (!good) fail(ASR_BAD_FILE, "%s: front_end.%s %s; import the model again", source.c_str(), field, rule);
  }
  void range(double value, double low, double high, const char *field) const {
    if (!(value >= low && value <= high)) {
      fail(ASR_BAD_FILE, "%s: front_end.%s is %g but must be %g to %g; import the model again", source.c_str(), field, value,
           low, high);
    }
  }
};

void check_framing(const FrontEnd &f, const Check &check) {
  check.range(f.sample_rate_hz, kMinSampleRateHz, kMaxSampleRateHz, "sample_rate_hz");
  check.range(f.fft_samples, 64, kMaxFftSamples, "fft_samples");
  check.that((f.fft_samples & (f.fft_samples - 1)) == 0, "fft_samples", "must be a power of two");
  check.range(f.window_samples, 2, f.fft_samples, "window_samples");
  check.range(f.shift_samples, 1, f.window_samples, "shift_samples");
  check.range(f.dither, 0, 32768, "dither");
  check.range(f.preemphasis, 0, 1, "preemphasis");
}

void check_bank(const FrontEnd &f, const Check &check) {
  check.range(f.n_mel, 1, std::min(f.fft_samples / 2, kMaxMel), "n_mel");
  check.range(f.high_hz, 1, f.sample_rate_hz / 2, "high_hz");
  check.range(f.low_hz, 0, f.high_hz, "low_hz");
  check.that(f.low_hz < f.high_hz, "low_hz", "must be below high_hz");
  check.range(f.vtln_low_hz, 0, f.sample_rate_hz / 2, "vtln_low_hz");
  check.range(f.vtln_high_hz, 0, f.sample_rate_hz / 2, "vtln_high_hz");
  check.range(f.log_add, 0, 1e6, "log_add");
  check.range(f.log_floor, 0, 1e6, "log_floor");
  check.that(f.log_add >= 1e-30 || f.log_floor >= 1e-30, "log_floor", "must not be 0 where log_add is 0 too");
  check.that(!f.use_energy || f.log_floor >= 1e-30, "log_floor", "must not be 0 where use_energy is set");
}

void check_prediction(const FrontEnd &f, const Check &check) {
  if (f.lpc_order == 0) return;
  check.that(f.n_mel >= 2, "n_mel", "must be 2 or more with lpc_order");
  check.range(f.lpc_order, 1, std::min(f.n_mel - 1, kMaxLpcOrder), "lpc_order");
  check.range(f.n_ceps, 1, f.lpc_order + (f.energy_beside_c0 ? 2 : 1), "n_ceps");
  check.range(f.compression, 0.01, f.max_compression(), "compression");
  check.that(!f.noise_removal, "noise_removal", "does not go with lpc_order");
}

void check_cepstra(const FrontEnd &f, const Check &check) {
  check.range(f.n_ceps, 1, f.n_mel, "n_ceps");
  check_prediction(f, check);
  check.range(f.cepstral_scale, 1e-3, 1e3, "cepstral_scale");
  check.that(!f.energy_beside_c0 || (f.use_energy && f.c0_last && f.n_ceps >= 2), "energy_beside_c0",
             "needs use_energy, c0_last and n_ceps of 2 or more");
  check.that(!(f.noise_removal && f.use_energy), "noise_removal", "does not go with use_energy");
  check.range(f.lifter, 0, 1000, "lifter");
  check.that(f.lifter == 0 || f.lifter >= 1e-3, "lifter", "must be 0 or at least 0.001");
  check.that(!(f.cmn == CmnKind::kLive && f.cmn_variance), "cmn_variance", "needs cmn \"batch\"");
  check.range(f.energy_range_db, 0, 1000, "energy_range_db");
  check.range(f.energy_scale, 0, 1000, "energy_scale");
  check.that(f.energy_range_db == 0 || (f.use_energy && f.cmn == CmnKind::kBatch), "energy_range_db",
             "needs use_energy and cmn \"batch\"");
  check.that(f.cmn_cepstra || f.energy_range_db > 0, "cmn_cepstra", "must not be false without energy_range_db");
  check.that(f.cmn_prior.empty() || f.cmn_prior.size() == f.n_ceps, "cmn_prior", "must have n_ceps values or none");
  for (float value : f.cmn_prior) check.range(value, -1e6, 1e6, "cmn_prior");
  check.range(f.cmn_lookahead_frames, 0, kMaxCmnLookahead, "cmn_lookahead_frames");
  check.range(f.cmn_prior_frames, 0, 1e9, "cmn_prior_frames");
  check.range(f.cmn_window_frames, f.cmn_prior_frames, 1e9, "cmn_window_frames");
}

void check_dynamic(const FrontEnd &f, const Check &check) {
  check.range(f.delta_order, 0, kMaxDeltaOrder, "delta_order");
  check.range(f.delta_window, 1, kMaxDeltaWindow, "delta_window");
  check.range(f.splice_left, 0, kMaxSplice, "splice_left");
  check.range(f.splice_right, 0, kMaxSplice, "splice_right");
  if (is_sphinx(f.dynamic)) {
    check.that(!f.c0_last, "c0_last", "must not be set with Sphinx dynamic features");
    check.that(f.n_ceps >= 2, "n_ceps", "must be 2 or more with Sphinx dynamic features");
  }
  check.that(!f.drop_absolute_energy || (is_regression(f.dynamic) && f.delta_order > 0), "drop_absolute_energy",
             "needs regression deltas");
  const uint32_t n = n_dims_before_transform(f);
  if (f.transform.empty()) {
    check.range(n, 1, kMaxDims, "dynamic: the length of a feature row");
    check.that(f.transform_rows == 0 && f.transform_cols == 0, "transform", "is missing");
    return;
  }
  check.range(n, 1, kMaxTransformInputs, "dynamic: the number of inputs of the transform");
  check.range(f.transform_rows, 1, kMaxDims, "transform_rows");
  check.range(f.transform_cols, n, n + 1, "transform_cols");
  check.that(f.transform.size() == uint64_t{f.transform_rows} * f.transform_cols, "transform",
             "must have transform_rows * transform_cols values");
  for (float value : f.transform) check.that(std::isfinite(value), "transform", "has a value that is not finite");
}

}  // namespace

uint32_t FrontEnd::n_dims() const { return transform.empty() ? n_dims_before_transform(*this) : transform_rows; }

// Above this the recursion of F11 may end in NaN for a pure tone, whose bands differ most.
double FrontEnd::max_compression() const { return magnitude ? 0.8 : 0.4; }

void FrontEnd::validate(const std::string &source) const {
  const Check check{source};
  check_framing(*this, check);
  check_bank(*this, check);
  check_cepstra(*this, check);
  check_dynamic(*this, check);
}

FrontEnd sphinx_front_end() {
  FrontEnd f;
  f.window_samples = 410;
  f.edges = FrameEdges::kPadTail;
  f.n_mel = 40;
  f.low_hz = 133.33334;
  f.high_hz = 6855.4976;
  f.triangles_in_hz = true;
  f.round_edges_to_bins = true;
  f.unit_area = true;
  f.log_add = 1e-4;
  f.log_floor = 0;
  f.dct = DctKind::kSphinxLegacy;
  f.integer_half_lifter = true;
  f.cmn = CmnKind::kLive;
  f.cmn_skip_negative_c0 = true;
  f.cmn_prior.assign(f.n_ceps, 0);
  f.cmn_prior[0] = 40;
  f.cmn_prior[1] = 3;
  f.cmn_prior[2] = -1;
  f.dynamic = DynamicKind::kSphinx_c_d_dd;
  return f;
}

FrontEnd kaldi_front_end() {
  FrontEnd f;
  f.dc_removal = ASR_DC_BEFORE_PREEMPHASIS;
  f.preemphasis_in_frame = true;
  f.window = WindowShape::kPovey;
  f.n_mel = 23;
  f.low_hz = 20;
  f.vtln_low_hz = 100;
  f.vtln_high_hz = 7500;
  f.lifter = 22;
  f.use_energy = true;
  return f;
}

FrontEnd htk_front_end() {
  FrontEnd f;
  f.preemphasis_in_frame = true;
  f.magnitude = true;
  f.n_mel = 20;
  f.log_floor = kHtkLogFloor;
  f.dct = DctKind::kHtk;
  f.lifter = 22;
  f.c0_last = true;
  f.dynamic = DynamicKind::kRegressionRepeated;
  return f;
}

FrontEnd kaldi_plp_front_end() {
  FrontEnd f = kaldi_front_end();
  f.lpc_order = 12;
  f.compression = 0.33333;
  f.floor_gain = true;
  return f;
}

FrontEnd htk_plp_front_end() {
  FrontEnd f = htk_front_end();
  f.lpc_order = 12;
  return f;
}

}  // namespace asr
