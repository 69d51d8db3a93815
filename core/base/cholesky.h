// SPDX-License-Identifier: Apache-2.0
// Cholesky factors of small symmetric matrices, for importers and speaker transforms. A matrix is stored as its lower triangle
// by rows: n * (n + 1) / 2 values.
#pragma once

#include <cstddef>
#include <vector>

namespace asr {

// Replaces the matrix by its factor L, where A = L L'; false if A is not positive definite.
bool factorise(std::vector<double> *matrix, size_t n);

// Solves (L L') x = b in place.
void solve(const std::vector<double> &factor, size_t n, std::vector<double> *x);

}  // namespace asr
