// SPDX-License-Identifier: Apache-2.0
// F1 ... F8 of docs/equations.md for one block of frames, one frame a vector lane, so that every step is a plain loop over
// vectors without a shuffle, and a frame's bits do not depend on its neighbours.
//
//   signal[n][lane]      samples, made into the windowed frame in place; taken as complex numbers two by two
//   spectrum[k][lane]    power or magnitude of the bins that some band needs
//   mel[m][lane], cepstra[i][lane]
//
// A block of 8 frames of 512 samples takes 16 KiB and 8 KiB: it stays in the first-level cache. All sums are in float; the
// result is within 1e-3 of tests/reference/mfcc.cc on speech.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "plugins/cpu/mfcc_block.cc"
#include "hwy/foreach_target.h"
// After foreach_target.h:
#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "plugins/common/dither.h"
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
// A vector whose 4-lane block b holds 4 samples of frame 4 b + r, where frames begins with frame r.
template <class D>
HWY_INLINE hn::Vec<D> load_quads(D d, const float *const *frames, size_t n) {
  if constexpr (hn::MaxLanes(D()) == 4) {
    return hn::LoadU(d, frames[0] + n);
  } else {
    const hn::Half<D> half;
    return hn::Combine(d, load_quads(half, frames + hn::MaxLanes(half), n), load_quads(half, frames, n));
  }
}

// signal[n][lane] = frames[lane][n] for four n: a transposition of 4 x 4 in each 4-lane block.
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

// One block under way. Unused lanes repeat the last frame and are not stored.
class Block {
 public:
  Block(const MfccTables &tables, const MfccLane *lanes, size_t n_lanes, float *scratch)
      : tables_(tables),
        view_(tables.view),
        lanes_(lanes),
        n_lanes_(n_lanes),
        signal_(scratch),
        spectrum_(signal_ + size_t{view_.fft_samples} * kLanes),
        mel_(spectrum_ + (size_t{view_.fft_samples} / 2 + 1) * kLanes),
        cepstra_(mel_ + size_t{view_.n_mel} * kLanes) {}

  void compute() {
    load_samples();
    if (view_.dither > 0) add_dither();
    if (view_.dc_removal == ASR_DC_BEFORE_PREEMPHASIS) subtract_mean();
    if (view_.energy_row >= 0 && !view_.energy_windowed) energy_ = sum_of_squares();
    preemphasise();
    if (view_.dc_removal == ASR_DC_AFTER_PREEMPHASIS) subtract_mean();
    apply_window();
    if (view_.energy_row >= 0 && view_.energy_windowed) energy_ = sum_of_squares();
    fourier_transform(d_, signal_, view_.fft_samples / 2, tables_.twiddles.data());
    make_spectrum();
    for (int64_t warp = next_warp(-1); warp >= 0; warp = next_warp(warp)) {
      apply_filter_bank(static_cast<uint32_t>(warp));
      apply_dct();
      store_cepstra(static_cast<uint32_t>(warp));
    }
  }

 private:
  Vector signal(size_t n) const { return hn::Load(d_, signal_ + n * kLanes); }
  void set_signal(size_t n, Vector value) { hn::Store(value, d_, signal_ + n * kLanes); }
  const MfccLane &lane(size_t i) const { return lanes_[i < n_lanes_ ? i : n_lanes_ - 1]; }

  void load_samples() {
    const float *frames[kLanes];
    HWY_ALIGN float before[kLanes];
    for (size_t i = 0; i < kLanes; ++i) {
      frames[i] = lane(i).samples;
      before[i] = frames[i][view_.preemphasis_in_frame ? 0 : -1];
    }
    before_ = hn::Load(d_, before);
    size_t n = 0;
    for (; n + 4 <= view_.window_samples; n += 4) load_four_samples(frames, n, signal_);
    for (; n < view_.window_samples; ++n) {
      for (size_t i = 0; i < kLanes; ++i) signal_[n * kLanes + i] = frames[i][n];
    }
  }

  void add_dither() {
    for (size_t n = 0; n < view_.window_samples; ++n) {
      for (size_t i = 0; i < kLanes; ++i) {
        signal_[n * kLanes + i] += view_.dither * dither_noise(view_.dither_seed, lane(i).frame, static_cast<uint32_t>(n));
      }
    }
    if (view_.preemphasis_in_frame) before_ = signal(0);
  }

  void subtract_mean() {
    Vector sum0 = hn::Zero(d_), sum1 = hn::Zero(d_);
    size_t n = 0;
    for (; n + 2 <= view_.window_samples; n += 2) {
      sum0 = hn::Add(sum0, signal(n));
      sum1 = hn::Add(sum1, signal(n + 1));
    }
    if (n < view_.window_samples) sum0 = hn::Add(sum0, signal(n));
    const Vector mean = hn::Mul(hn::Add(sum0, sum1), hn::Set(d_, 1.0f / static_cast<float>(view_.window_samples)));
    for (n = 0; n < view_.window_samples; ++n) set_signal(n, hn::Sub(signal(n), mean));
    before_ = hn::Sub(before_, mean);
  }

  Vector sum_of_squares() const {
    Vector sum0 = hn::Zero(d_), sum1 = hn::Zero(d_);
    size_t n = 0;
    for (; n + 2 <= view_.window_samples; n += 2) {
      sum0 = hn::MulAdd(signal(n), signal(n), sum0);
      sum1 = hn::MulAdd(signal(n + 1), signal(n + 1), sum1);
    }
    if (n < view_.window_samples) sum0 = hn::MulAdd(signal(n), signal(n), sum0);
    return hn::Add(sum0, sum1);
  }

  void preemphasise() {
    const Vector coefficient = hn::Set(d_, view_.preemphasis);
    Vector previous = before_;
    for (size_t n = 0; n < view_.window_samples; ++n) {
      const Vector current = signal(n);
      set_signal(n, hn::NegMulAdd(coefficient, previous, current));
      previous = current;
    }
  }

  void apply_window() {
    for (size_t n = 0; n < view_.window_samples; ++n) set_signal(n, hn::Mul(signal(n), hn::Set(d_, view_.window[n])));
    for (size_t n = view_.window_samples; n < view_.fft_samples; ++n) set_signal(n, hn::Zero(d_));
  }

  // From the transform Z of the frame taken as fft_samples / 2 complex numbers: even and odd samples have the transforms
  // E = (Z[k] + conj Z[n-k]) / 2 and O = (Z[k] - conj Z[n-k]) / 2i, and the frame has X[k] = E + w^k O, X[n-k] = conj(E - w^k
  // O).
  void make_spectrum() {
    const uint32_t n = view_.fft_samples / 2;
    const uint32_t first = tables_.first_bin < n + 1 - tables_.end_bin ? tables_.first_bin : n + 1 - tables_.end_bin;
    const auto z = [&](uint32_t k) { return load(d_, signal_, tables_.position[k]); };
    if (tables_.end_bin == 0) return;
    if (first == 0) {
      set_bin(0, {hn::Add(z(0).re, z(0).im), hn::Zero(d_)});
      set_bin(n, {hn::Sub(z(0).re, z(0).im), hn::Zero(d_)});
    }
    const Vector half = hn::Set(d_, 0.5f);
    for (uint32_t k = first > 0 ? first : 1; k <= n / 2; ++k) {
      const Complex<Vector> a = z(k), b = z(n - k);
      const Complex<Vector> even = {hn::Mul(half, hn::Add(a.re, b.re)), hn::Mul(half, hn::Sub(a.im, b.im))};
      const Complex<Vector> odd = {hn::Mul(half, hn::Add(a.im, b.im)), hn::Mul(half, hn::Sub(b.re, a.re))};
      const Complex<Vector> turned = odd * load_root(d_, &tables_.real_twiddles[size_t{2} * k]);
      set_bin(k, even + turned);
      set_bin(n - k, even - turned);
    }
  }

  void set_bin(uint32_t k, Complex<Vector> x) {
    const Vector power = hn::MulAdd(x.re, x.re, hn::Mul(x.im, x.im));
    hn::Store(view_.magnitude ? hn::Sqrt(power) : power, d_, spectrum_ + size_t{k} * kLanes);
  }

  Vector log_of(Vector energy) const {
    return hn::Log(d_, hn::Add(hn::Max(energy, hn::Set(d_, view_.log_floor)), hn::Set(d_, view_.log_add)));
  }

  void apply_filter_bank(uint32_t warp) {
    const asr_mel_band *bands = view_.mel_bands + size_t{warp} * view_.n_mel;
    for (uint32_t m = 0; m < view_.n_mel; ++m) {
      const float *weights = view_.mel_weights + bands[m].first_weight;
      const float *bins = spectrum_ + size_t{bands[m].first_bin} * kLanes;
      Vector sum0 = hn::Zero(d_), sum1 = hn::Zero(d_);
      uint32_t k = 0;
      for (; k + 2 <= bands[m].n_bins; k += 2) {
        sum0 = hn::MulAdd(hn::Set(d_, weights[k]), hn::Load(d_, bins + k * kLanes), sum0);
        sum1 = hn::MulAdd(hn::Set(d_, weights[k + 1]), hn::Load(d_, bins + (k + 1) * kLanes), sum1);
      }
      if (k < bands[m].n_bins) sum0 = hn::MulAdd(hn::Set(d_, weights[k]), hn::Load(d_, bins + k * kLanes), sum0);
      hn::Store(log_of(hn::Add(sum0, sum1)), d_, mel_ + m * kLanes);
    }
  }

  void apply_dct() {
    for (uint32_t i = 0; i < view_.n_ceps; ++i) {
      const float *row = view_.dct + size_t{i} * view_.n_mel;
      Vector sum0 = hn::Zero(d_), sum1 = hn::Zero(d_);
      uint32_t m = 0;
      for (; m + 2 <= view_.n_mel; m += 2) {
        sum0 = hn::MulAdd(hn::Set(d_, row[m]), hn::Load(d_, mel_ + m * kLanes), sum0);
        sum1 = hn::MulAdd(hn::Set(d_, row[m + 1]), hn::Load(d_, mel_ + (m + 1) * kLanes), sum1);
      }
      if (m < view_.n_mel) sum0 = hn::MulAdd(hn::Set(d_, row[m]), hn::Load(d_, mel_ + m * kLanes), sum0);
      hn::Store(hn::Add(sum0, sum1), d_, cepstra_ + i * kLanes);
    }
    if (view_.energy_row >= 0) {
      const Vector floor = hn::Set(d_, view_.log_floor);
      hn::Store(hn::Log(d_, hn::Max(energy_, floor)), d_, cepstra_ + static_cast<size_t>(view_.energy_row) * kLanes);
    }
  }

  void store_cepstra(uint32_t warp) const {
    for (size_t i = 0; i < n_lanes_; ++i) {
      for (size_t j = 0; j < lanes_[i].n_jobs; ++j) {
        const asr_extract_job &job = lanes_[i].jobs[j];
        if (job.warp != warp) continue;
        float *out = job.cepstra + size_t{lanes_[i].row} * view_.n_ceps;
        for (uint32_t c = 0; c < view_.n_ceps; ++c) out[c] = cepstra_[c * kLanes + i];
      }
    }
  }

  // The lowest warp above `warp` that a job of a lane asks for; -1 if there is none.
  int64_t next_warp(int64_t warp) const {
    int64_t next = -1;
    for (size_t i = 0; i < n_lanes_; ++i) {
      for (size_t j = 0; j < lanes_[i].n_jobs; ++j) {
        const int64_t wanted = lanes_[i].jobs[j].warp;
        if (wanted > warp && (next < 0 || wanted < next)) next = wanted;
      }
    }
    return next;
  }

  const Lanes d_;
  const MfccTables &tables_;
  const asr_features_view &view_;
  const MfccLane *lanes_;
  const size_t n_lanes_;
  float *const signal_, *const spectrum_, *const mel_, *const cepstra_;
  Vector before_ = hn::Zero(Lanes()), energy_ = hn::Zero(Lanes());
};

void compute_block(const MfccTables &tables, const MfccLane *lanes, size_t n_lanes, float *scratch) {
  Block(tables, lanes, n_lanes, scratch).compute();
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
  return mfcc_block_lanes() * (view.fft_samples + view.fft_samples / 2 + 1 + view.n_mel + view.n_ceps);
}

void mfcc_block(const MfccTables &tables, const MfccLane *lanes, size_t n_lanes, float *scratch) {
  HWY_DYNAMIC_DISPATCH(compute_block)(tables, lanes, n_lanes, scratch);
}

}  // namespace asr::cpu
#endif
