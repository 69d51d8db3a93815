// SPDX-License-Identifier: Apache-2.0
// Kernels of the extension "statistics"; plugins/gpu/statistics/statistics-inl.h has the equations. A work-group has a tile
// of shares, or elements of a sum.
//   -D FULL_COVARIANCES=... FULL_MOMENTS=... (0 or 1)
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL FP_CONTRACT OFF
#include "plugins/gpu/statistics/statistics-inl.h"

__kernel void posteriors(__global const SumsMixture *mixtures, __global const SumsJob *jobs, __global const SumsTile *tiles,
                         __global const SumsShare *shares, __global const double *parameters, __global const uint *dims,
                         __global const float *rows, __global double *posteriors, __global double *log_likelihoods,
                         uint n_dims) {
  __local double best[kStatisticsThreads], total[kStatisticsThreads];
  const SumsTables t = {mixtures, jobs, tiles, shares, parameters, dims, rows, posteriors, log_likelihoods, 0, n_dims};
  const SumsTile tile = tiles[get_group_id(0)];
  make_posteriors(&t, &tile, FULL_COVARIANCES, best, total);
}

__kernel void sums(__global const SumsMixture *mixtures, __global const SumsJob *jobs, __global const SumsTile *tiles,
                   __global const SumsShare *shares, __global const double *parameters, __global const uint *dims,
                   __global const float *rows, __global double *posteriors, __global double *log_likelihoods,
                   __global double *values, uint n_dims) {
  const SumsTables t = {mixtures, jobs, tiles, shares, parameters, dims, rows, posteriors, log_likelihoods, values, n_dims};
  const SumsTile tile = tiles[get_group_id(0)];
  sum_element(&t, &tile, FULL_MOMENTS);
}
