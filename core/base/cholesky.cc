// SPDX-License-Identifier: Apache-2.0
#include "core/base/cholesky.h"

#include <cmath>

namespace asr {

bool factorise(std::vector<double> *matrix, size_t n) {
  const auto at = [matrix](size_t r, size_t c) -> double & { return (*matrix)[triangle_at(r, c)]; };
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c <= r; ++c) {
      double sum = at(r, c);
      for (size_t k = 0; k < c; ++k) sum -= at(r, k) * at(c, k);
      if (c == r && !(sum > 0)) return false;
      at(r, c) = c == r ? std::sqrt(sum) : sum / at(c, c);
    }
  }
  return true;
}

void solve(const std::vector<double> &factor, size_t n, std::vector<double> *x) {
  const auto at = [&factor](size_t r, size_t c) { return factor[triangle_at(r, c)]; };
  double *const value = x->data();
  for (size_t r = 0; r < n; ++r) {
    for (size_t k = 0; k < r; ++k) value[r] -= at(r, k) * value[k];
    value[r] /= at(r, r);
  }
  for (size_t r = n; r-- > 0;) {
    for (size_t k = r + 1; k < n; ++k) value[r] -= at(k, r) * value[k];
    value[r] /= at(r, r);
  }
}

}  // namespace asr
