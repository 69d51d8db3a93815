// SPDX-License-Identifier: Apache-2.0
// Exponential and logarithm for a mixture's densities in double (T1 of docs/equations.md). Training uses them on the
// host (builder/train/densities.cc) and on devices (statistics-inl.h). Both find the same bits, because each operation is
// one rounded operation of IEEE 754. Files that include this one are compiled without contraction.
#ifndef SENONE_KERNELS_POSTERIORS_H
#define SENONE_KERNELS_POSTERIORS_H

#include "plugins/common/dialect.h"
#if !defined(__OPENCL_C_VERSION__) && !defined(__CUDACC__)
#include <cmath>
#include <cstring>
#endif
#ifdef __cplusplus
namespace asr {
#endif

FIXED double kMinPosterior = 1e-10;  // smaller shares change no sum
FIXED double kPosteriorLn2High = 6.93147180369123816490e-01, kPosteriorLn2Low = 1.90821492927058770002e-10;

#ifdef __OPENCL_C_VERSION__
DEVICE uint64_t bits_of_double(double x) { return as_ulong(x); }
DEVICE double double_of_bits(uint64_t bits) { return as_double(bits); }
#elif defined(__CUDACC__)
DEVICE uint64_t bits_of_double(double x) { return (uint64_t)__double_as_longlong(x); }
DEVICE double double_of_bits(uint64_t bits) { return __longlong_as_double((long long)bits); }
#else
DEVICE uint64_t bits_of_double(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}
DEVICE double double_of_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
#endif

// Returns e^x for x <= 0, relative error 3e-16, and exactly 1 for 0; 0 below e^-700 and for NaN: n ln 2 + r, then the
// series to r^13 / 13!.
DEVICE double posterior_exp(double x) {
  const double round = 6755399441055744.0;  // 1.5 * 2^52: adding it leaves an integer in the low bits
  if (!(x >= -700.0)) return 0.0;
  const double shifted = x * 1.4426950408889634 + round, n = shifted - round;
  const double r = x - n * kPosteriorLn2High - n * kPosteriorLn2Low;
  double p = 1.0 / 6227020800.0;
  p = p * r + 1.0 / 479001600.0;
  p = p * r + 1.0 / 39916800.0;
  p = p * r + 1.0 / 3628800.0;
  p = p * r + 1.0 / 362880.0;
  p = p * r + 1.0 / 40320.0;
  p = p * r + 1.0 / 5040.0;
  p = p * r + 1.0 / 720.0;
  p = p * r + 1.0 / 120.0;
  p = p * r + 1.0 / 24.0;
  p = p * r + 1.0 / 6.0;
  p = p * r + 0.5;
  p = p * r + 1.0;
  p = p * r + 1.0;
  const uint64_t exponent = bits_of_double(shifted) - bits_of_double(round);
  return p * double_of_bits((exponent + 1023) << 52);
}

// Returns ln x for normal x > 0, absolute error 3e-16 near 1, and exactly 0 for 1; -inf for 0: 2^n m with m from
// sqrt(1/2) to sqrt(2), then the series of 2 artanh((m - 1) / (m + 1)).
DEVICE double posterior_log(double x) {
  if (!(x > 0.0)) return -INFINITY;
  const uint64_t bits = bits_of_double(x);
  const int64_t n = (int64_t)(bits - 0x3fe6a09e667f3bcdu) >> 52;
  const double m = double_of_bits(bits - ((uint64_t)n << 52));
  const double z = (m - 1.0) / (m + 1.0), square = z * z;
  double p = 2.0 / 23;
  p = p * square + 2.0 / 21;
  p = p * square + 2.0 / 19;
  p = p * square + 2.0 / 17;
  p = p * square + 2.0 / 15;
  p = p * square + 2.0 / 13;
  p = p * square + 2.0 / 11;
  p = p * square + 2.0 / 9;
  p = p * square + 2.0 / 7;
  p = p * square + 2.0 / 5;
  p = p * square + 2.0 / 3;
  p = p * square;
  const double exponent = (double)n;
  return exponent * kPosteriorLn2High + ((p * z + 2.0 * z) + exponent * kPosteriorLn2Low);
}

// Returns a Gaussian's share in a row from its exponential and the sum of the mixture's.
DEVICE double posterior_of(double exponential, double sum) { return sum > 0.0 ? exponential / sum : 0.0; }

// Returns a Gaussian's share in a row times the row's share.
DEVICE double posterior_in_sum(double posterior, double row_share) {
  const double share = posterior * row_share;
  return share < kMinPosterior ? 0.0 : share;
}

// Returns the log-likelihood that a row adds to a sum.
DEVICE double log_likelihood_in_sum(double log_density, double row_share) {
  return row_share > 0.0 ? row_share * log_density : 0.0;
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_POSTERIORS_H
