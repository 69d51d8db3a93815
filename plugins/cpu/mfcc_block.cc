// SPDX-License-Identifier: Apache-2.0
// Computes F1 ... F8 and F11 of docs/equations.md for a block of frames, one per vector lane. So every step is a plain loop
// over vectors without a shuffle, and a frame's bits do not depend on its neighbours.
//
//   signal[n][lane]      samples, turned into the windowed frame in place; each two are one complex number
//   spectrum[k][lane]    power or magnitude of the bins with a weight in some band
//   mel[m][lane], cepstra[i][lane]
//   prediction[3 (order + 1)][lane]  of PLP: autocorrelations, predictor and unweighted cepstra
//
// The signal and spectrum of 8 frames of 512 samples take 16 KiB and 8 KiB and stay in the first-level cache. All sums are in
// float; the result is within 1e-3 of reference/mfcc.cc on speech.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/cpu/mfcc_block.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "plugins/common/dither-inl.h"
#include "plugins/cpu/fft-inl.h"
#include "plugins/cpu/mfcc_block.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Lanes = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Lanes>;
constexpr size_t kLanes = hn::MaxLanes(Lanes());

#if HWY_TARGET == HWY_SCALAR
HWY_INLINE void load_four_samples(const float *const *frames, size_t n, float *signal) {
  for (size_t i = n; i < n + 4; ++i) signal[i] = frames[0][i];
}
#else
// Returns a vector whose 4-lane block b holds 4 samples of frame 4 b + r, if frames begins with frame r.
template <class D>
HWY_INLINE hn::Vec<D> load_quads(D d, const float *const *frames, size_t n) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, frames[0] + n);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_quads(half, frames + hn::MaxLanes(half), n), load_quads(half, frames, n));
  }
}

// Sets signal[n][lane] = frames[lane][n] for four n: a 4 x 4 transposition in each 4-lane block.
HWY_INLINE void load_four_samples(const float *const *frames, size_t n, float *signal) {
  const Lanes d;
  const hn::Repartition<double, Lanes> pairs;
  const auto as_pairs = [&](Vector v) { return hn::BitCast(pairs, v); };
  const Vector r0 = load_quads(d, frames, n), r1 = load_quads(d, frames + 1, n);
  const Vector r2 = load_quads(d, frames + 2, n), r3 = load_quads(d, frames + 3, n);
  const auto low01 = as_pairs(hn::InterleaveLower(d, r0, r1)), low23 = as_pairs(hn::InterleaveLower(d, r2, r3));
  const auto high01 = as_pairs(hn::InterleaveUpper(d, r0, r1)), high23 = as_pairs(hn::InterleaveUpper(d, r2, r3));
  float *out = signal + n * kLanes;
  hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, low01, low23)), d, out);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, low01, low23)), d, out + kLanes);
  hn::Store(hn::BitCast(d, hn::InterleaveLower(pairs, high01, high23)), d, out + 2 * kLanes);
  hn::Store(hn::BitCast(d, hn::InterleaveUpper(pairs, high01, high23)), d, out + 3 * kLanes);
}
#endif

HWY_INLINE Vector load_at(const float *rows, size_t i) { return hn::Load(Lanes(), rows + i * kLanes); }
HWY_INLINE void store_at(Vector value, float *rows, size_t i) { hn::Store(value, Lanes(), rows + i * kLanes); }
HWY_INLINE Vector same(float value) { return hn::Set(Lanes(), value); }

// Returns term(0) + ... + term(n - 1), in four interleaved sums so that additions overlap.
template <class Term>
HWY_INLINE Vector sum_of(size_t n, Term &&term) {
  Vector sums[4] = {same(0), same(0), same(0), same(0)};
  size_t i = 0;
  for (; i + 4 <= n; i += 4) {
    for (size_t k = 0; k < 4; ++k) sums[k] = term(i + k, sums[k]);
  }
  for (; i < n; ++i) sums[0] = term(i, sums[0]);
  return hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
}
HWY_INLINE Vector sum(const float *rows, size_t n) {
  return sum_of(n, [&](size_t i, Vector sum) { return hn::Add(sum, load_at(rows, i)); });
}
HWY_INLINE Vector sum_of_squares(const float *rows, size_t n, Vector offset) {
  return sum_of(n, [&](size_t i, Vector sum) {
    const Vector x = hn::Sub(load_at(rows, i), offset);
    return hn::MulAdd(x, x, sum);
  });
}
HWY_INLINE Vector dot(const float *weights, const float *rows, size_t n) {
  return sum_of(n, [&](size_t i, Vector sum) { return hn::MulAdd(same(weights[i]), load_at(rows, i), sum); });
}

// Loads F1, the samples of the lanes' frames; returns the sample before each frame.
HWY_INLINE Vector load_samples(const asr_features_view &view, const MfccLane *lanes, size_t n_lanes, float *signal) {
  const uint32_t n_samples = view.window_samples;
  const float *frames[kLanes];
  for (size_t i = 0; i < kLanes; ++i) frames[i] = lanes[i < n_lanes ? i : n_lanes - 1].samples;
  uint32_t n = 0;
  for (; n + 4 <= n_samples; n += 4) load_four_samples(frames, n, signal);
  for (; n < n_samples; ++n) {
    for (size_t i = 0; i < kLanes; ++i) signal[n * kLanes + i] = frames[i][n];
  }
  if (view.dither > 0) {
    for (size_t i = 0; i < n_lanes; ++i) {
      for (n = 0; n < n_samples; ++n) signal[n * kLanes + i] += view.dither * dither_noise(view.dither_seed, lanes[i].frame, n);
    }
  }
  if (view.preemphasis_in_frame) return load_at(signal, 0);
  HWY_ALIGN float before[kLanes];
  for (size_t i = 0; i < kLanes; ++i) before[i] = frames[i][-1];
  return load_at(before, 0);
}

// Computes F2 in one pass: y[n] = ((x[n] - offset) - a (x[n-1] - offset) - offset_after) w[n], then zeros. The mean after
// pre-emphasis follows from the sum of the x. Returns the energy.
HWY_INLINE Vector make_frame(const asr_features_view &view, Vector before, float *signal) {
  const uint32_t n_samples = view.window_samples;
  const float *const window = view.window;
  const Vector a = same(view.preemphasis), per_sample = same(1.0f / static_cast<float>(n_samples));
  Vector offset = same(0), offset_after = same(0), energy = same(0);
  if (view.dc_removal == ASR_DC_BEFORE_PREEMPHASIS) offset = hn::Mul(sum(signal, n_samples), per_sample);
  if (view.dc_removal == ASR_DC_AFTER_PREEMPHASIS) {
    const Vector total = sum(signal, n_samples), last = load_at(signal, n_samples - 1);
    const Vector total_before = hn::Add(hn::Sub(total, last), before);
    offset_after = hn::Mul(hn::NegMulAdd(a, total_before, total), per_sample);
  }
  if (view.energy_row >= 0 && !view.energy_windowed) energy = sum_of_squares(signal, n_samples, offset);

  Vector previous = hn::Sub(before, offset);
  for (uint32_t n = 0; n < n_samples; ++n) {
    const Vector current = hn::Sub(load_at(signal, n), offset);
    const Vector emphasised = hn::Sub(hn::NegMulAdd(a, previous, current), offset_after);
    store_at(hn::Mul(emphasised, same(window[n])), signal, n);
    previous = current;
  }
  const uint32_t n_total = view.fft_samples;
  for (uint32_t n = n_samples; n < n_total; ++n) store_at(same(0), signal, n);
  return view.energy_row >= 0 && view.energy_windowed ? sum_of_squares(signal, n_samples, same(0)) : energy;
}

template <bool kMagnitude>
HWY_INLINE void store_bin(Complex<Vector> x, float *spectrum, uint32_t k) {
  const Vector power = hn::MulAdd(x.re, x.re, hn::Mul(x.im, x.im));
  store_at(kMagnitude ? hn::Sqrt(power) : power, spectrum, k);
}

// Computes F3 from the transform Z of the frame taken as n = fft_samples / 2 complex numbers. Even and odd samples have the
// transforms E = (Z[k] + conj Z[n-k]) / 2 and O = (Z[k] - conj Z[n-k]) / 2i, and the frame X[k] = E + w^k O, X[n-k] = conj(E -
// w^k O).
template <bool kMagnitude>
HWY_INLINE void make_spectrum(const MfccTables &tables, const float *transform, float *spectrum) {
  const Lanes d;
  const uint32_t n = tables.view.fft_samples / 2;
  if (tables.end_bin == 0) return;
  const uint32_t first = tables.first_bin < n + 1 - tables.end_bin ? tables.first_bin : n + 1 - tables.end_bin;
  if (first == 0) {
    const Complex<Vector> z = load(d, transform, 0);
    store_bin<kMagnitude>({hn::Add(z.re, z.im), same(0)}, spectrum, 0);
    store_bin<kMagnitude>({hn::Sub(z.re, z.im), same(0)}, spectrum, n);
  }
  const Vector half = same(0.5f);
  const uint32_t *const position = tables.position.data();
  const float *const roots = tables.real_twiddles.data();
  for (uint32_t k = first > 0 ? first : 1; k <= n / 2; ++k) {
    const Complex<Vector> a = load(d, transform, position[k]), b = load(d, transform, position[n - k]);
    const Complex<Vector> even = {hn::Mul(half, hn::Add(a.re, b.re)), hn::Mul(half, hn::Sub(a.im, b.im))};
    const Complex<Vector> odd = {hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
    const Complex<Vector> turned = odd * load_root(d, roots + size_t{2} * k);
    store_bin<kMagnitude>(even + turned, spectrum, k);
    store_bin<kMagnitude>(even - turned, spectrum, n - k);
  }
}

// Computes F5 and F6.
HWY_INLINE void make_log_mel(const asr_features_view &view, uint32_t warp, const float *spectrum, float *mel) {
  const uint32_t n_mel = view.n_mel;
  const float *const weights = view.mel_weights;
  const asr_mel_band *const bands = view.mel_bands + size_t{warp} * n_mel;
  const Vector floor = same(view.log_floor), add = same(view.log_add);
  for (uint32_t m = 0; m < n_mel; ++m) {
    const asr_mel_band band = bands[m];
    const Vector energy = dot(weights + band.first_weight, spectrum + size_t{band.first_bin} * kLanes, band.n_bins);
    store_at(hn::Log(Lanes(), hn::Add(hn::Max(energy, floor), add)), mel, m);
  }
}

// Multiplies n values, log mel energies (F7 and F8) or unweighted cepstra (F8), by the matrix dct.
HWY_INLINE void weigh_cepstra(const asr_features_view &view, uint32_t n, const float *values, Vector energy, float *cepstra) {
  const uint32_t n_ceps = view.n_ceps;
  const float *const dct = view.dct;
  for (uint32_t i = 0; i < n_ceps; ++i) store_at(dot(dct + size_t{i} * n, values, n), cepstra, i);
  if (view.energy_row < 0) return;
  const Vector log_energy = hn::Log(Lanes(), hn::Max(energy, same(view.log_floor)));
  store_at(log_energy, cepstra, static_cast<size_t>(view.energy_row));
}

// F11 and F8: mel becomes the auditory spectrum, in place. In `prediction` the autocorrelations r are followed by the predictor
// alpha[1 ...], whose elements j and i - j a step changes together, and by the cepstra.
HWY_INLINE void make_plp(const asr_features_view &view, uint32_t warp, float *mel, Vector energy, float *prediction,
                         float *cepstra) {
  const uint32_t n_mel = view.n_mel, order = view.lpc_order;
  const float *const loudness = view.loudness + size_t{warp} * n_mel;
  for (uint32_t m = 0; m < n_mel; ++m) {
    store_at(hn::Exp(Lanes(), hn::MulAdd(same(view.compression), load_at(mel, m), same(loudness[m]))), mel, m);
  }
  float *const r = prediction, *const alpha = r + (size_t{order} + 1) * kLanes, *const c = alpha + (size_t{order} + 1) * kLanes;
  for (uint32_t i = 0; i <= order; ++i) store_at(dot(view.autocorrelation + size_t{i} * n_mel, mel, n_mel), r, i);
  Vector error = load_at(r, 0);
  for (uint32_t i = 1; i <= order; ++i) {
    Vector k = load_at(r, i);
    for (uint32_t j = 1; j < i; ++j) k = hn::MulAdd(load_at(alpha, j), load_at(r, i - j), k);
    k = hn::Div(k, error);
    store_at(hn::Neg(k), alpha, i);
    for (uint32_t j = 1; 2 * j <= i; ++j) {
      const Vector low = load_at(alpha, j), high = load_at(alpha, i - j);
      store_at(hn::NegMulAdd(k, high, low), alpha, j);
      if (2 * j < i) store_at(hn::NegMulAdd(k, low, high), alpha, i - j);
    }
    error = hn::Mul(error, hn::Max(hn::NegMulAdd(k, k, same(1)), same(1e-5f)));
  }
  store_at(hn::Max(hn::Log(Lanes(), error), same(view.log_gain_floor)), c, 0);
  for (uint32_t i = 1; i <= order; ++i) {
    Vector sum = same(0);
    for (uint32_t j = 1; j < i; ++j) {
      sum = hn::MulAdd(hn::Mul(same(static_cast<float>(i - j)), load_at(alpha, j)), load_at(c, i - j), sum);
    }
    store_at(hn::Neg(hn::MulAdd(sum, same(1.0f / static_cast<float>(i)), load_at(alpha, i))), c, i);
  }
  weigh_cepstra(view, order + 1, c, energy, cepstra);
}

// Returns the lowest warp among the lanes' remaining jobs; -1 if none remains.
HWY_INLINE int64_t next_warp(const MfccLane *lanes, size_t n_lanes) {
  int64_t next = -1;
  for (size_t i = 0; i < n_lanes; ++i) {
    if (lanes[i].n_jobs > 0 && (next < 0 || lanes[i].jobs->warp < next)) next = lanes[i].jobs->warp;
  }
  return next;
}

// Stores cepstra into the lanes' jobs of this warp and removes these jobs.
HWY_INLINE void store_cepstra(const float *cepstra, uint32_t n_ceps, uint32_t warp, MfccLane *lanes, size_t n_lanes) {
  for (size_t i = 0; i < n_lanes; ++i) {
    MfccLane &lane = lanes[i];
    for (; lane.n_jobs > 0 && lane.jobs->warp == warp; ++lane.jobs, --lane.n_jobs) {
      float *const out = lane.jobs->cepstra + size_t{lane.row} * n_ceps;
      for (uint32_t c = 0; c < n_ceps; ++c) out[c] = cepstra[c * kLanes + i];
    }
  }
}

// Computes a block. Unused lanes repeat the last frame and are not stored.
void compute_block(const MfccTables &tables, MfccLane *lanes, size_t n_lanes, float *scratch) {
  const asr_features_view &view = tables.view;
  const uint32_t n_points = view.fft_samples / 2;
  float *const signal = scratch;
  float *const spectrum = signal + size_t{2} * n_points * kLanes;
  float *const mel = spectrum + (size_t{n_points} + 1) * kLanes;
  float *const cepstra = mel + size_t{view.n_mel} * kLanes;
  float *const prediction = cepstra + size_t{view.n_ceps} * kLanes;

  const Vector before = load_samples(view, lanes, n_lanes, signal);
  const Vector energy = make_frame(view, before, signal);
  fourier_transform(Lanes(), signal, n_points, tables.twiddles.data());
  if (view.magnitude) {
    make_spectrum<true>(tables, signal, spectrum);
  } else {
    make_spectrum<false>(tables, signal, spectrum);
  }
  for (int64_t warp = next_warp(lanes, n_lanes); warp >= 0; warp = next_warp(lanes, n_lanes)) {
    make_log_mel(view, static_cast<uint32_t>(warp), spectrum, mel);
    if (view.lpc_order > 0) {
      make_plp(view, static_cast<uint32_t>(warp), mel, energy, prediction, cepstra);
    } else {
      weigh_cepstra(view, view.n_mel, mel, energy, cepstra);
    }
    store_cepstra(cepstra, view.n_ceps, static_cast<uint32_t>(warp), lanes, n_lanes);
  }
}

size_t block_lanes() { return kLanes; }

}  // namespace asr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace asr::cpu {
namespace {
HWY_EXPORT(compute_block);
HWY_EXPORT(block_lanes);
}  // namespace

size_t mfcc_block_lanes() { return HWY_DYNAMIC_DISPATCH(block_lanes)(); }

size_t mfcc_scratch_floats(const asr_features_view &view) {
  const size_t n_prediction = view.lpc_order > 0 ? 3 * (size_t{view.lpc_order} + 1) : 0;
  return mfcc_block_lanes() * (view.fft_samples + view.fft_samples / 2 + 1 + view.n_mel + view.n_ceps + n_prediction);
}

void mfcc_block(const MfccTables &tables, MfccLane *lanes, size_t n_lanes, float *scratch) {
  HWY_DYNAMIC_DISPATCH(compute_block)(tables, lanes, n_lanes, scratch);
}

}  // namespace asr::cpu
#endif
