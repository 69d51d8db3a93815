// SPDX-License-Identifier: Apache-2.0
// In-place complex Fourier transform of many signals at once, one per vector lane. It makes radix-4 passes by
// decimation in frequency, and one radix-2 pass if the length is not a power of 4. mfcc_block.cc compiles it for each
// instruction set. Element k of the array x is 2 vectors, real and imaginary; MfccTables::position is the order of the
// results.
#if defined(SENONE_CPU_FFT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef SENONE_CPU_FFT_INL_H_
#undef SENONE_CPU_FFT_INL_H_
#else
#define SENONE_CPU_FFT_INL_H_
#endif

#include <cstddef>
#include <cstdint>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace asr::cpu::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <class V>
struct Complex {
  V re, im;
};

template <class V>
HWY_INLINE Complex<V> operator+(Complex<V> a, Complex<V> b) {
  return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> operator-(Complex<V> a, Complex<V> b) {
  return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)};
}
template <class V>
HWY_INLINE Complex<V> operator*(Complex<V> a, Complex<V> b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.re, b.im, hn::Mul(a.im, b.re))};
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE Complex<V> load(D d, const float *x, size_t element) {
  const float *at = x + element * 2 * hn::Lanes(d);
  return {hn::Load(d, at), hn::Load(d, at + hn::Lanes(d))};
}
template <class D, class V>
HWY_INLINE void store(D d, Complex<V> value, float *x, size_t element) {
  float *at = x + element * 2 * hn::Lanes(d);
  hn::Store(value.re, d, at);
  hn::Store(value.im, d, at + hn::Lanes(d));
}
// Returns a root, the same in all lanes.
template <class D, class V = hn::Vec<D>>
HWY_INLINE Complex<V> load_root(D d, const float *root) {
  return {hn::Set(d, root[0]), hn::Set(d, root[1])};
}

// Transforms a, b, c, d with length 4, without twiddles.
template <class V>
HWY_INLINE void butterfly(Complex<V> &a, Complex<V> &b, Complex<V> &c, Complex<V> &d) {
  const Complex<V> sum_ac = a + c, difference_ac = a - c, sum_bd = b + d, difference_bd = b - d;
  const Complex<V> turned = {difference_bd.im, hn::Neg(difference_bd.re)};  // times -i
  a = sum_ac + sum_bd;
  b = difference_ac + turned;
  c = sum_ac - sum_bd;
  d = difference_ac - turned;
}

// Makes a pass over all blocks of `length`; returns the roots of the next pass.
template <class D>
HWY_INLINE const float *radix4_pass(D lanes, float *x, uint32_t n_points, uint32_t length, const float *roots) {
  const uint32_t quarter = length / 4;
  for (uint32_t j = 0; j < quarter; ++j, roots += 6) {
    const auto root1 = load_root(lanes, roots), root2 = load_root(lanes, roots + 2), root3 = load_root(lanes, roots + 4);
    for (uint32_t at = j; at < n_points; at += length) {
      auto a = load(lanes, x, at), b = load(lanes, x, at + quarter);
      auto c = load(lanes, x, at + 2 * quarter), d = load(lanes, x, at + 3 * quarter);
      butterfly(a, b, c, d);
      store(lanes, a, x, at);
      store(lanes, b * root1, x, at + quarter);
      store(lanes, c * root2, x, at + 2 * quarter);
      store(lanes, d * root3, x, at + 3 * quarter);
    }
  }
  return roots;
}

template <class D>
HWY_INLINE void last_radix4_pass(D lanes, float *x, uint32_t n_points) {
  for (uint32_t at = 0; at < n_points; at += 4) {
    auto a = load(lanes, x, at), b = load(lanes, x, at + 1), c = load(lanes, x, at + 2), d = load(lanes, x, at + 3);
    butterfly(a, b, c, d);
    store(lanes, a, x, at);
    store(lanes, b, x, at + 1);
    store(lanes, c, x, at + 2);
    store(lanes, d, x, at + 3);
  }
}

template <class D>
HWY_INLINE void last_radix2_pass(D lanes, float *x, uint32_t n_points) {
  for (uint32_t at = 0; at < n_points; at += 2) {
    const auto a = load(lanes, x, at), b = load(lanes, x, at + 1);
    store(lanes, a + b, x, at);
    store(lanes, a - b, x, at + 1);
  }
}

template <class D>
HWY_INLINE void fourier_transform(D lanes, float *x, uint32_t n_points, const float *roots) {
  uint32_t length = n_points;
  for (; length > 4; length /= 4) roots = radix4_pass(lanes, x, n_points, length, roots);
  if (length == 4) {
    last_radix4_pass(lanes, x, n_points);
  } else {
    last_radix2_pass(lanes, x, n_points);
  }
}

}  // namespace asr::cpu::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
