// SPDX-License-Identifier: Apache-2.0
// Launches OpenCL's kernels for Statistics.
#include "plugins/gpu/statistics/statistics.h"

#include <string>

#include "plugins/ocl/runtime/kernels.h"

namespace asr::gpu {

bool Statistics::serves(const Device &device) { return device.facts().has_fp64; }

void Statistics::launch(Sums &sums, const Rows &rows, uint32_t n_share_tiles, uint32_t n_element_tiles) {
  const auto flag = [](bool value) { return std::string(value ? "1" : "0"); };
  const Program &program = device_.program(kernel_statistics, "-D FULL_COVARIANCES=" + flag(sums.plan.full_covariances) +
                                                                  " -D FULL_MOMENTS=" + flag(sums.plan.full_moments));
  const Kernel posteriors = program.kernel("posteriors"), sum = program.kernel("sums");
  posteriors.set(sums.mixtures, jobs_.array(), share_tiles_.array(), shares_.array(), sums.parameters, sums.dims, rows.values,
                 posteriors_, log_likelihoods_, rows.n_dims);
  device_.launch(posteriors, {n_share_tiles}, {kStatisticsThreads});
  sum.set(sums.mixtures, jobs_.array(), element_tiles_.array(), shares_.array(), sums.parameters, sums.dims, rows.values,
          posteriors_, log_likelihoods_, sums.values, rows.n_dims);
  device_.launch(sum, {n_element_tiles}, {kStatisticsThreads});
}

}  // namespace asr::gpu
