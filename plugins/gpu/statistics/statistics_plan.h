// SPDX-License-Identifier: Apache-2.0
// Checked calls of the extension "statistics", in the tables of plugins/gpu/statistics/statistics_types.h. Used by
// device/statistics.h.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/backend/asr_backend_statistics.h"
#include "core/base/thread_pool.h"
#include "plugins/gpu/statistics/statistics_types.h"

namespace asr {

// SumsPlan has the view of sums_begin in the kernels' form, and the offset of each sum. Its constructor throws if the
// view contradicts itself.
struct SumsPlan {
  explicit SumsPlan(const asr_sums_view &view);

  struct Sum {
    uint32_t mixture;
    uint64_t first_value;
  };
  bool full_covariances, full_moments;
  uint64_t n_values = 0;    // values of all sums
  uint32_t n_row_dims = 0;  // features that a row has at least
  std::vector<SumsMixture> mixtures;
  std::vector<uint32_t> n_weight_rows;  // rows of weights of each mixture
  std::vector<uint32_t> dims;
  uint64_t n_parameters = 0;
  std::vector<Sum> sums;

  // Returns the parameters of the mixtures of the plan's view.
  std::unique_ptr<double[]> pack(const asr_sums_view &view, ThreadPool &pool) const;
  uint64_t second_size(const SumsMixture &mixture) const;   // second moments of a Gaussian
  uint64_t n_elements(const SumsMixture &mixture) const;    // elements of the second kernel
  uint64_t n_operations(const SumsMixture &mixture) const;  // operations of a share, by statistics-inl.h

 private:
  void add(const asr_mixture_view &mixture);
};

// SumsBatch has the tables of a launch.
struct SumsBatch {
  std::vector<SumsJob> jobs;
  std::vector<SumsTile> share_tiles, element_tiles;
  uint64_t first_share = 0;  // first share of the call; jobs count from here
  uint32_t n_shares = 0;
  uint64_t n_posteriors = 0, n_operations = 0;
};

// SumsLimits has the most posteriors of a launch, and the most operations in double.
struct SumsLimits {
  uint64_t posteriors, operations;
};

// Throws if the call's shares are not of its sums and rows.
void check_shares(const SumsPlan &plan, const asr_row_share *shares, const uint64_t *share_begin, uint32_t n_rows,
                  uint32_t n_dims);

// Cuts a call's shares into launches within the limits, but of at least one share. Later launches go on with sums of
// earlier ones.
std::vector<SumsBatch> cut_shares(const SumsPlan &plan, const uint64_t *share_begin, const SumsLimits &most);

}  // namespace asr
