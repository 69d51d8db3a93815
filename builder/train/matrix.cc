// SPDX-License-Identifier: Apache-2.0
#include "builder/train/matrix.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "core/base/cholesky.h"

namespace asr::train {

// By rotations of two axes at a time (Jacobi's method).
void diagonalise(std::vector<double> *a, std::vector<double> *axes, size_t n) {
  constexpr int kMaxSweeps = 50;
  double *const m = a->data();
  for (int sweep = 0; sweep < kMaxSweeps; ++sweep) {
    double beside = 0, on = 0;
    for (size_t r = 0; r < n; ++r) {
      on += m[r * n + r] * m[r * n + r];
      for (size_t c = 0; c < r; ++c) beside += m[r * n + c] * m[r * n + c];
    }
    if (!(beside > 1e-26 * on)) return;
    for (size_t p = 0; p + 1 < n; ++p) {
      for (size_t q = p + 1; q < n; ++q) {
        const double off = m[p * n + q];
        if (off == 0) continue;
        const double ratio = (m[q * n + q] - m[p * n + p]) / (2 * off);
        const double tangent = (ratio >= 0 ? 1 : -1) / (std::abs(ratio) + std::sqrt(ratio * ratio + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
        for (size_t i = 0; i < n; ++i) {
          const double x = m[i * n + p], y = m[i * n + q];
          m[i * n + p] = cosine * x - sine * y;
          m[i * n + q] = sine * x + cosine * y;
        }
        for (size_t i = 0; i < n; ++i) {
          const double x = m[p * n + i], y = m[q * n + i];
          m[p * n + i] = cosine * x - sine * y;
          m[q * n + i] = sine * x + cosine * y;
          const double u = (*axes)[p * n + i], v = (*axes)[q * n + i];
          (*axes)[p * n + i] = cosine * u - sine * v;
          (*axes)[q * n + i] = sine * u + cosine * v;
        }
      }
    }
  }
}

std::vector<double> inverse_triangle(const std::vector<double> &factor, size_t n) {
  std::vector<double> inverse(factor.size());
  for (size_t c = 0; c < n; ++c) {
    for (size_t r = c; r < n; ++r) {
      double sum = r == c ? 1 : 0;
      for (size_t k = c; k < r; ++k) sum -= factor[triangle_at(r, k)] * inverse[triangle_at(k, c)];
      inverse[triangle_at(r, c)] = sum / factor[diagonal_at(r)];
    }
  }
  return inverse;
}

std::vector<double> inverse_of_factor(const std::vector<double> &factor, size_t n) {
  const std::vector<double> triangle = inverse_triangle(factor, n);
  std::vector<double> inverse(factor.size());
  for (size_t k = 0; k < n; ++k) {
    for (size_t r = 0; r <= k; ++r) {
      for (size_t c = 0; c <= r; ++c) {
        inverse[triangle_at(r, c)] += triangle[triangle_at(k, r)] * triangle[triangle_at(k, c)];
      }
    }
  }
  return inverse;
}

void scale_beside_diagonal(double *matrix, size_t n, double factor) {
  for (size_t r = 1; r < n; ++r) {
    for (size_t c = 0; c < r; ++c) matrix[triangle_at(r, c)] *= factor;
  }
}

void shrink_correlations(const std::vector<double> &others, double own, std::vector<double> *covariance, size_t n) {
  scale_beside_diagonal(covariance->data(), n, own);
  if (others.empty()) return;
  for (size_t r = 1; r < n; ++r) {
    for (size_t c = 0; c < r; ++c) {
      const double scale = std::sqrt((*covariance)[diagonal_at(r)] * (*covariance)[diagonal_at(c)]);
      (*covariance)[triangle_at(r, c)] += (1 - own) * scale * others[triangle_at(r, c)];
    }
  }
}

// Gauss and Jordan's elimination with pivots of the present column.
double invert_square(std::vector<double> *matrix, size_t n) {
  std::vector<double> inverse(n * n);
  for (size_t i = 0; i < n; ++i) inverse[i * n + i] = 1;
  double *const a = matrix->data(), *const b = inverse.data();
  double log_determinant = 0;
  for (size_t column = 0; column < n; ++column) {
    size_t pivot = column;
    for (size_t r = column + 1; r < n; ++r) {
      if (std::abs(a[r * n + column]) > std::abs(a[pivot * n + column])) pivot = r;
    }
    if (!(std::abs(a[pivot * n + column]) > 0)) return -INFINITY;
    std::swap_ranges(a + pivot * n, a + (pivot + 1) * n, a + column * n);
    std::swap_ranges(b + pivot * n, b + (pivot + 1) * n, b + column * n);
    const double scale = 1 / a[column * n + column];
    log_determinant -= std::log(std::abs(scale));
    for (size_t c = 0; c < n; ++c) {
      a[column * n + c] *= scale;
      b[column * n + c] *= scale;
    }
    for (size_t r = 0; r < n; ++r) {
      const double factor = r == column ? 0 : a[r * n + column];
      if (factor == 0) continue;
      for (size_t c = 0; c < n; ++c) {
        a[r * n + c] -= factor * a[column * n + c];
        b[r * n + c] -= factor * b[column * n + c];
      }
    }
  }
  *matrix = std::move(inverse);
  return log_determinant;
}

void floor_covariance(std::vector<double> *matrix, const std::vector<double> &floor) {
  const size_t n = floor.size();
  std::vector<double> rest = *matrix;
  for (size_t i = 0; i < n; ++i) rest[diagonal_at(i)] -= floor[i];
  if (factorise(&rest, n)) return;
  std::vector<double> scaled(n * n), axes(n * n);  // floor^-1/2 matrix floor^-1/2
  for (size_t r = 0; r < n; ++r) {
    axes[r * n + r] = 1;
    for (size_t c = 0; c <= r; ++c) {
      scaled[r * n + c] = scaled[c * n + r] = (*matrix)[triangle_at(r, c)] / std::sqrt(floor[r] * floor[c]);
    }
  }
  diagonalise(&scaled, &axes, n);
  for (size_t r = 0; r < n; ++r) {
    for (size_t c = 0; c <= r; ++c) {
      double sum = 0;
      for (size_t k = 0; k < n; ++k) sum += std::max(scaled[k * n + k], 1.0) * axes[k * n + r] * axes[k * n + c];
      (*matrix)[triangle_at(r, c)] = sum * std::sqrt(floor[r] * floor[c]);
    }
  }
}

}  // namespace asr::train
