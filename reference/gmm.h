// SPDX-License-Identifier: Apache-2.0
// GMM log-likelihoods in double with plain loops: equations G1-G3 of docs/equations.md, one function each.
#pragma once

#include "core/backend/asr_backend.h"

namespace asr::reference {

// G1: ln N(x; mean, 1 / precision), d dimensions.
double log_gaussian_diagonal(const double *x, const float *mean, const float *precision, uint32_t d);

// G2: ln N(x; mean, precision^-1); the lower triangle of the precision by rows.
double log_gaussian_full(const double *x, const float *mean, const float *precision, uint32_t d);

// G3: the log-likelihood of one state; features[n_dims]. With n_best > 0 it is G10, of the n_best likeliest Gaussians of every
// codebook that states share.
double log_likelihood(const asr_acoustic_view &view, uint32_t state, const float *features, uint32_t n_best = 0);

// A term of G3: ln sum_k of one state in feature stream j.
double log_mixture(const asr_acoustic_view &view, uint32_t state, uint32_t j, const float *features);

// The single Gaussian of G11: ln N of the mean and covariance of a state's mixture in feature stream j.
double log_single_gaussian(const asr_acoustic_view &view, uint32_t state, uint32_t j, const float *features);

}  // namespace asr::reference
