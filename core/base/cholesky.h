// SPDX-License-Identifier: Apache-2.0
// Cholesky factors of small symmetric matrices, for importers and speaker transforms. A matrix is stored as its lower triangle
// by rows.
#pragma once

#include <cstddef>
#include <vector>

namespace asr {

// Number of values of a triangle of n rows, and index of element (row, column), column <= row.
inline size_t triangle_size(size_t n) { return n * (n + 1) / 2; }
inline size_t triangle_at(size_t row, size_t column) { return triangle_size(row) + column; }

// Replaces the matrix by its factor L, where A = L L'; false if A is not positive definite.
bool factorise(std::vector<double> *matrix, size_t n);

// Solves (L L') x = b in place.
void solve(const std::vector<double> &factor, size_t n, std::vector<double> *x);

}  // namespace asr
