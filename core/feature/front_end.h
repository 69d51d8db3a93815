// SPDX-License-Identifier: Apache-2.0
// FrontEnd describes the path from samples to the feature rows that the acoustic model scores. It is stored in senone.json
// ("front_end"). One struct covers the conventions of CMU Sphinx, Kaldi and HTK (presets below), field by field.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr {

enum class FrameEdges {
  kSnip,     // whole frames only: frame t starts at t * shift (Kaldi snip_edges, HTK)
  kPadTail,  // as kSnip, and one zero-padded frame at the end; one frame if shorter than a window (CMU Sphinx)
  kCentred,  // round(samples / shift) frames centred on their shifts, signal mirrored at both ends (Kaldi snip_edges=false)
};
enum class WindowShape { kHamming, kPovey, kHann, kRectangular };
enum class DctKind { kOrthonormal, kHtk, kSphinxLegacy };  // kOrthonormal: "dct" of Sphinx, and Kaldi's
enum class CmnKind {
  kNone,
  kBatch,
  kLive,
  kMeasure  // of streams alone: no rows; the mean of kBatch is measured for a later stream
};

// Kinds of dynamic features, computed from the cepstra c of a frame and its neighbours (edge frames replicated).
enum class DynamicKind {
  kNone,
  kSphinx_c_d_dd,       // 1s_c_d_dd: c, c(+2)-c(-2), difference of those at +-1
  kSphinx_c_d,          // 1s_c_d
  kSphinx_c_d_ld_dd,    // 1s_c_d_ld_dd: also c(+4)-c(-4)
  kSphinx_s2_4x,        // s2_4x: 12 c, 24 d, 3 power, 12 dd
  kSphinx_s3_1x39,      // 1s_12c_12d_3p_12dd
  kRegressionSquared,   // Kaldi: order-n kernel applied to the statics, clamped frames
  kRegressionRepeated,  // HTK: each order from the one below, its ends replicated
  kSplice,              // frames t - splice_left ... t + splice_right concatenated
};

struct FrontEnd {
  bool from_archives = false;  // the rows are made elsewhere: nothing below says how, and audio is refused
  // Framing
  double sample_rate_hz = 16000;
  uint32_t window_samples = 400, shift_samples = 160, fft_samples = 512;
  FrameEdges edges = FrameEdges::kSnip;
  // Frame to spectrum
  double dither = 0;
  asr_dc_removal dc_removal = ASR_DC_KEEP;
  double preemphasis = 0.97;
  bool preemphasis_in_frame = false;
  WindowShape window = WindowShape::kHamming;
  bool magnitude = false;
  // Filter bank
  uint32_t n_mel = 40;
  double low_hz = 0, high_hz = 8000;
  bool triangles_in_hz = false;  // CMU Sphinx; else linear in mel
  bool round_edges_to_bins = false;
  bool unit_area = false;
  // Lower and upper bend of the piecewise linear VTLN warp; 0: 100 Hz above low_hz and 500 Hz below high_hz.
  double vtln_low_hz = 0, vtln_high_hz = 0;
  bool vtln_htk_bends = false;  // HTK's WARPLCUTOFF and WARPUCUTOFF: both bends move with the factor
  double log_add = 0, log_floor = 1.19209290e-7;
  bool noise_removal = false;  // CMU Sphinx's remove_noise, between the bank and the logarithm
  // Cepstra: MFCC, or PLP (perceptual linear prediction) if lpc_order > 0
  uint32_t n_ceps = 13;
  uint32_t lpc_order = 0;     // PLP: order of the linear prediction; n_ceps is at most lpc_order + 1
  double compression = 0.33;  // PLP: exponent of the band energies, at most max_compression()
  bool floor_gain = false;    // PLP: c0, the log of the gain, is at least 0 (Kaldi)
  double cepstral_scale = 1;  // factor of all cepstra; the energy is not scaled
  DctKind dct = DctKind::kOrthonormal;
  double lifter = 0;
  bool integer_half_lifter = false;  // CMU Sphinx: 1 + (Q / 2) sin(...) with an integer division
  bool c0_last = false;              // HTK: c1 ... cN, then c0 or energy
  bool use_energy = false;           // log energy instead of c0
  bool energy_beside_c0 = false;     // HTK _E_0: c0, then the energy; needs use_energy and c0_last, n_ceps counts both
  bool energy_windowed = false;
  // Normalisation of the cepstra
  CmnKind cmn = CmnKind::kNone;
  bool cmn_variance = false;
  // HTK's ENORMALISE: batch normalisation maps the energy to 1 for the utterance's highest, and energy_scale less per neper
  // below it, down to energy_range_db. 0: the energy is normalised as the cepstra are. cmn_cepstra false: the energy alone is.
  double energy_range_db = 0, energy_scale = 0.1;
  bool cmn_cepstra = true;
  bool cmn_skip_negative_c0 = false;  // CMU Sphinx: frames with c0 < 0 are not counted in the mean
  std::vector<float> cmn_prior;       // [n_ceps] initial mean of live normalisation; empty = zeros
  // Frames of speech until the live mean is good enough, and the most frames that a frame is held back for it. 0: a running
  // mean as in CMU Sphinx, without delay.
  uint32_t cmn_lookahead_frames = 40;
  double cmn_prior_frames = 500;   // running mean: weight of the prior, and of the mean kept when the window is full
  double cmn_window_frames = 800;  // frames after which live normalisation forgets
  // Dynamic features and transforms
  DynamicKind dynamic = DynamicKind::kNone;
  uint32_t delta_order = 2, delta_window = 2;
  uint32_t splice_left = 0, splice_right = 0;
  bool drop_absolute_energy = false;  // HTK _N: drops the static c0/energy, keeps its deltas
  std::vector<float> transform;       // [transform_rows][transform_cols]; one column more than the input = offsets
  uint32_t transform_rows = 0, transform_cols = 0;

  uint32_t n_dims() const;                         // length of a feature row
  double max_compression() const;                  // PLP in float needs band energies of a limited range
  void validate(const std::string &source) const;  // throws asr::Error naming the field and its range
};

FrontEnd sphinx_front_end();     // defaults of CMU Sphinx's feat.params
FrontEnd kaldi_front_end();      // defaults of compute-mfcc-feats, without dither
FrontEnd htk_front_end();        // MFCC_0_D_A with HTK's defaults
FrontEnd kaldi_plp_front_end();  // defaults of compute-plp-feats, without dither
FrontEnd htk_plp_front_end();    // PLP_0_D_A with HTK's defaults

std::string front_end_to_json(const FrontEnd &front_end);                          // returns an object
FrontEnd front_end_from_json(const std::string &json, const std::string &source);  // unknown keys are errors

}  // namespace asr
