// SPDX-License-Identifier: Apache-2.0
// Launches CUDA's kernels for Statistics.
#include "plugins/gpu/statistics/statistics.h"

#include "plugins/cuda/statistics/statistics_launch.h"

namespace asr::gpu {

bool Statistics::serves(const Device &) { return true; }

void Statistics::launch(Sums &sums, const Rows &rows, uint32_t n_share_tiles, uint32_t n_element_tiles) {
  SumsArrays arrays{};
  arrays.mixtures = sums.mixtures.data(), arrays.jobs = jobs_.array().data();
  arrays.share_tiles = share_tiles_.array().data(), arrays.element_tiles = element_tiles_.array().data();
  arrays.shares = shares_.array().data(), arrays.parameters = sums.parameters.data(), arrays.dims = sums.dims.data();
  arrays.rows = rows.values.data(), arrays.posteriors = posteriors_.data();
  arrays.log_likelihoods = log_likelihoods_.data(), arrays.sums = sums.values.data();
  arrays.n_dims = rows.n_dims;
  arrays.n_share_tiles = n_share_tiles, arrays.n_element_tiles = n_element_tiles;
  const cudaStream_t stream = device_.compute().get();
  device_.clock().start(stream);
  launch_posteriors(arrays, sums.plan.full_covariances, stream);
  device_.clock().stop(stream);
  device_.clock().start(stream);
  launch_sums(arrays, sums.plan.full_moments, stream);
  device_.clock().stop(stream);
}

}  // namespace asr::gpu
