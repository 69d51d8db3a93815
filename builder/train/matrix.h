// SPDX-License-Identifier: Apache-2.0
// Symmetric matrices of covariances, as lower triangles by rows (triangle_at() of core/base/cholesky.h).
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/cholesky.h"

namespace asr::train {

inline size_t diagonal_at(size_t i) { return i * (i + 3) / 2; }

// The inverse of L L', L being a factor of core/base/cholesky.h.
std::vector<double> inverse_of_factor(const std::vector<double> &factor, size_t n);

// The inverse of L, a lower triangle too.
std::vector<double> inverse_triangle(const std::vector<double> &factor, size_t n);

// Multiplies the values beside the diagonal.
void scale_beside_diagonal(double *matrix, size_t n, double factor);

// Draws a covariance's correlations towards others and keeps the share `own` of its own (equation T5). The others are
// a lower triangle by rows; empty: zeros.
void shrink_correlations(const std::vector<double> &others, double own, std::vector<double> *covariance, size_t n);

// Replaces a matrix [n][n] by its inverse. Returns the logarithm of the absolute value of its determinant; -inf, and the matrix
// is useless, if it is singular.
double invert_square(std::vector<double> *matrix, size_t n);

// Turns the symmetric matrix [n][n] into a diagonal one of its eigenvalues. The unit matrix `axes` becomes its eigenvectors, a
// row each.
void diagonalise(std::vector<double> *matrix, std::vector<double> *axes, size_t n);

// Changes the matrix to the one A with A - diag(floor) positive semi-definite that is nearest in likelihood (equation
// T4). In no direction is the variance below the floor's.
void floor_covariance(std::vector<double> *matrix, const std::vector<double> &floor);

}  // namespace asr::train
