// SPDX-License-Identifier: Apache-2.0
// Cholesky factors of small symmetric matrices, given as their lower triangle by rows: n * (n + 1) / 2 values. Used by
// importers and by speaker transforms.
#pragma once

#include <cstddef>
#include <vector>

namespace asr {

// Replaces the matrix by its factor L, of A = L L'; false if it is not positive definite.
bool factorise(std::vector<double> *matrix, size_t n);

// Solves (L L') x = b in place.
void solve(const std::vector<double> &factor, size_t n, std::vector<double> *x);

}  // namespace asr
