// SPDX-License-Identifier: Apache-2.0
// Rows of log-likelihoods of several models become one row (G5 to G7 of docs/equations.md). The engine uses it on the host, the
// CPU back end for the extension "fusion"; plugins/gpu/fusion/fuse-inl.h does the same operations on GPUs.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asr {

constexpr float kFusedLogZero = -1e30f;  // log-likelihoods below it count as -infinity

// rows: [n_models], of n states each. weights: their sum is 1. offsets: ln of each weight over the largest. `out` is
// none of the rows.
void fuse_sum(const float *const *rows, const float *weights, size_t n_models, size_t n, float *out);
void fuse_max(const float *const *rows, const float *offsets, size_t n_models, size_t n, float *out);
void fuse_log_sum(const float *const *rows, const float *weights, const float *offsets, size_t n_models, size_t n,
                  float *scratch, float *out);  // scratch: [n]

// Returns ln of the sum of exp over columns of a row (S1), of which -inf adds nothing; -inf if there is no other.
// plugins/gpu/given/given-inl.h does the same operations.
float sum_of_columns(const float *row, const uint32_t *columns, size_t n);

}  // namespace asr
