// SPDX-License-Identifier: Apache-2.0
// The interface between statistics.cc and its kernels has the arrays of a launch
// (plugins/gpu/statistics/statistics_types.h).
#pragma once

#include <cuda_runtime_api.h>

#include "plugins/gpu/statistics/statistics_types.h"

namespace asr::gpu {

struct SumsArrays {
  const SumsMixture *mixtures;
  const SumsJob *jobs;
  const SumsTile *share_tiles, *element_tiles;
  const SumsShare *shares;
  const double *parameters;
  const uint32_t *dims;
  const float *rows;
  double *posteriors, *log_likelihoods, *sums;
  uint32_t n_dims, n_share_tiles, n_element_tiles;
};
void launch_posteriors(const SumsArrays &arrays, bool full_covariances, cudaStream_t stream);
void launch_sums(const SumsArrays &arrays, bool full_moments, cudaStream_t stream);

}  // namespace asr::gpu
