// SPDX-License-Identifier: Apache-2.0
// Kernels of the extension "statistics"; plugins/gpu/statistics/statistics-inl.h has the equations. CMakeLists.txt compiles
// this file without contraction.
#include "plugins/cuda/statistics/statistics_launch.h"

#include "plugins/gpu/statistics/statistics-inl.h"

namespace asr::gpu {
namespace {

SumsTables tables_of(const SumsArrays &a, const SumsTile *tiles) {
  return {a.mixtures, a.jobs, tiles, a.shares, a.parameters, a.dims, a.rows, a.posteriors, a.log_likelihoods, a.sums, a.n_dims};
}

template <bool kFull>
__global__ void __launch_bounds__(kStatisticsThreads) posteriors_kernel(const SumsTables t) {
  __shared__ double best[kStatisticsThreads], total[kStatisticsThreads];
  make_posteriors(&t, t.tiles + blockIdx.x, kFull, best, total);
}

template <bool kFull>
__global__ void __launch_bounds__(kStatisticsThreads) sums_kernel(const SumsTables t) {
  sum_element(&t, t.tiles + blockIdx.x, kFull);
}

}  // namespace

void launch_posteriors(const SumsArrays &arrays, bool full_covariances, cudaStream_t stream) {
  const auto kernel = full_covariances ? posteriors_kernel<true> : posteriors_kernel<false>;
  kernel<<<arrays.n_share_tiles, kStatisticsThreads, 0, stream>>>(tables_of(arrays, arrays.share_tiles));
}

void launch_sums(const SumsArrays &arrays, bool full_moments, cudaStream_t stream) {
  const auto kernel = full_moments ? sums_kernel<true> : sums_kernel<false>;
  kernel<<<arrays.n_element_tiles, kStatisticsThreads, 0, stream>>>(tables_of(arrays, arrays.element_tiles));
}

}  // namespace asr::gpu
