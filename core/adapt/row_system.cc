// SPDX-License-Identifier: Apache-2.0
#include "core/adapt/row_system.h"

#include <algorithm>
#include <numeric>

namespace asr {
namespace {

constexpr int kMaxSteps = 500;      // of conjugate gradients, which need some tens
constexpr double kMinRest = 1e-20;  // the square of the rest that ends them, as a share of the first

double dot(const std::vector<double> &a, const std::vector<double> &b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

}  // namespace

RowSystem::RowSystem(size_t n_rows, size_t size, bool is_coupled)
    : n_rows_(n_rows),
      size_(size),
      is_coupled_(is_coupled),
      blocks_((is_coupled ? triangle_size(n_rows) : n_rows) * triangle_size(size)),
      linear_(n_rows * size) {}

void RowSystem::add(const double *precisions, const double *outer) {
  const size_t n = triangle_size(size_);
  double *block = blocks_.data();
  for (size_t i = 0; i < blocks_.size() / n; ++i, block += n) {
    const double precision = precisions[i];
    if (precision == 0) continue;
    for (size_t at = 0; at < n; ++at) block[at] += precision * outer[at];
  }
}

bool RowSystem::factorise_rows() {
  const auto n = static_cast<ptrdiff_t>(triangle_size(size_));
  for (size_t d = 0; d < n_rows_; ++d) {
    const auto first = blocks_.begin() + static_cast<ptrdiff_t>(block_at(d, d));
    factors_.emplace_back(first, first + n);
    if (!factorise(&factors_.back(), size_)) return false;
  }
  return true;
}

// G_de is symmetric, and the same as G_ed.
void RowSystem::subtract_product(size_t d, size_t e, const double *w, double *result) const {
  const double *value = blocks_.data() + block_at(std::max(d, e), std::min(d, e));
  for (size_t r = 0; r < size_; ++r) {
    double sum = 0;
    for (size_t c = 0; c < r; ++c, ++value) {
      sum += *value * w[c];
      result[c] -= *value * w[r];
    }
    result[r] -= sum + *value++ * w[r];
  }
}

std::vector<double> RowSystem::linear_of(size_t row, const std::vector<double> &w) const {
  const auto first = linear_.begin() + static_cast<ptrdiff_t>(row * size_);
  std::vector<double> result(first, first + static_cast<ptrdiff_t>(size_));
  for (size_t e = 0; is_coupled_ && e < n_rows_; ++e) {
    if (e != row) subtract_product(row, e, w.data() + e * size_, result.data());
  }
  return result;
}

// Conjugate gradients, with the rows' own problems as preconditioner. Rows that stand alone are done after one step.
void RowSystem::maximise(std::vector<double> *w) const {
  const auto rest_of = [&](const std::vector<double> &x, std::vector<double> rest) {
    for (size_t d = 0; d < n_rows_; ++d) {
      for (size_t e = 0; e < n_rows_; ++e) {
        if (is_coupled_ || d == e) subtract_product(d, e, x.data() + e * size_, rest.data() + d * size_);
      }
    }
    return rest;
  };
  const auto by_rows = [&](const std::vector<double> &x) {
    std::vector<double> result;
    for (size_t d = 0; d < n_rows_; ++d) {
      const auto first = x.begin() + static_cast<ptrdiff_t>(d * size_);
      std::vector<double> row(first, first + static_cast<ptrdiff_t>(size_));
      solve_row(d, &row);
      result.insert(result.end(), row.begin(), row.end());
    }
    return result;
  };
  std::vector<double> rest = rest_of(*w, linear_), scaled = by_rows(rest), direction = scaled;
  double square = dot(rest, scaled);
  const double enough = kMinRest * square;
  for (int step = 0; step < kMaxSteps && square > enough; ++step) {
    const std::vector<double> change = rest_of(direction, std::vector<double>(direction.size()));  // -G direction
    const double length = square / -dot(direction, change);
    for (size_t i = 0; i < w->size(); ++i) {
      (*w)[i] += length * direction[i];
      rest[i] += length * change[i];
    }
    scaled = by_rows(rest);
    const double next = dot(rest, scaled);
    for (size_t i = 0; i < direction.size(); ++i) direction[i] = scaled[i] + next / square * direction[i];
    square = next;
  }
}

}  // namespace asr
