// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/statistics/statistics_plan.h"

#include <algorithm>
#include <cmath>

#include "core/base/error.h"

namespace asr {
namespace {

// Writes values [n][size] as [size][n].
void transpose(const double *values, size_t n, size_t size, double *to) {
  for (size_t i = 0; i < size; ++i) {
    for (size_t k = 0; k < n; ++k) *to++ = values[k * size + i];
  }
}

// Returns the doubles of a Gaussian's factor in the layout of SumsMixture.
size_t factor_size(size_t d) {
  size_t n_columns = 0;
  for (size_t first = 0; first < d; first += kFactorRows) n_columns += std::min(first + kFactorRows, d);
  return n_columns * kFactorRows;
}

// Writes factors, lower triangles by columns, in that layout.
void lay_out_factors(const double *factors, size_t n, size_t d, double *to) {
  const size_t size = d * (d + 1) / 2;
  for (size_t first = 0; first < d; first += kFactorRows) {
    for (size_t c = 0; c < std::min(first + kFactorRows, d); ++c) {
      const size_t column = c * d - c * (c + 1) / 2;  // element (r, c) lies at column + r
      for (size_t r = first; r < first + kFactorRows; ++r) {
        for (size_t k = 0; k < n; ++k) *to++ = r < c || r >= d ? 0 : factors[k * size + column + r];
      }
    }
  }
}

void add_tiles(uint32_t job, uint64_t n, std::vector<SumsTile> *tiles) {
  for (uint64_t first = 0; first < n; first += kStatisticsThreads) tiles->push_back({job, static_cast<uint32_t>(first)});
}

void add_job(const SumsPlan &plan, const SumsPlan::Sum &sum, uint32_t n_shares, SumsBatch *batch) {
  const SumsMixture &mixture = plan.mixtures[sum.mixture];
  const uint64_t n_gaussians = mixture.n_gaussians;
  SumsJob job{};
  job.first_posterior = batch->n_posteriors;
  job.occupancies = sum.first_value;
  job.first = job.occupancies + n_gaussians * plan.n_weight_rows[sum.mixture];
  job.second = job.first + n_gaussians * mixture.n_dims;
  job.log_likelihood = job.second + n_gaussians * plan.second_size(mixture);
  job.mixture = sum.mixture;
  job.first_share = batch->n_shares;
  job.n_shares = n_shares;
  const auto number = static_cast<uint32_t>(batch->jobs.size());
  add_tiles(number, n_shares, &batch->share_tiles);
  add_tiles(number, plan.n_elements(mixture), &batch->element_tiles);
  batch->jobs.push_back(job);
  batch->n_shares += n_shares;
  batch->n_posteriors += n_shares * n_gaussians;
  batch->n_operations += n_shares * plan.n_operations(mixture);
}

// Returns the number of shares of a mixture that a launch still takes.
uint64_t capacity_left(const SumsBatch &batch, const SumsPlan &plan, const SumsMixture &mixture, const SumsLimits &most) {
  constexpr uint64_t kMaxShares = uint64_t{1} << 24;
  const auto shares_in = [](uint64_t limit, uint64_t used, uint64_t of_share) {
    return (limit - std::min(limit, used)) / of_share;
  };
  return std::min({shares_in(most.posteriors, batch.n_posteriors, mixture.n_gaussians),
                   shares_in(most.operations, batch.n_operations, plan.n_operations(mixture)), kMaxShares - batch.n_shares});
}

}  // namespace

SumsPlan::SumsPlan(const asr_sums_view &view)
    : full_covariances(view.full_covariances != 0), full_moments(view.full_moments != 0) {
  for (uint32_t m = 0; m < view.n_mixtures; ++m) add(view.mixtures[m]);
  for (uint32_t i = 0; i < view.n_sums; ++i) {
    const uint32_t number = view.mixture_of[i];
    if (number >= view.n_mixtures) {
      fail(ASR_INVALID_ARGUMENT, "sums_begin: sum %u is of mixture %u, but there are %u", i, number, view.n_mixtures);
    }
    const SumsMixture &mixture = mixtures[number];
    sums.push_back({number, n_values});
    n_values += mixture.n_gaussians * (uint64_t{n_weight_rows[number]} + mixture.n_dims + second_size(mixture)) + 1;
  }
}

void SumsPlan::add(const asr_mixture_view &view) {
  if (view.n_dims == 0 || view.n_gaussians == 0 || view.n_weight_rows == 0) {
    fail(ASR_INVALID_ARGUMENT, "sums_begin: a mixture has %u Gaussians of %u dimensions and %u rows of weights; give 1 or more",
         view.n_gaussians, view.n_dims, view.n_weight_rows);
  }
  SumsMixture mixture{};
  mixture.first_dim = static_cast<uint32_t>(dims.size());
  mixture.n_dims = view.n_dims;
  mixture.n_gaussians = view.n_gaussians;
  if (n_elements(mixture) > UINT32_MAX - kStatisticsThreads) {
    fail(ASR_INVALID_ARGUMENT, "sums_begin: a mixture of %u Gaussians is too large", view.n_gaussians);
  }
  dims.insert(dims.end(), view.dims, view.dims + view.n_dims);
  for (uint32_t i = 0; i < view.n_dims; ++i) {
    if (view.dims[i] == UINT32_MAX) fail(ASR_INVALID_ARGUMENT, "sums_begin: no row has feature %u", view.dims[i]);
    n_row_dims = std::max(n_row_dims, view.dims[i] + 1);
  }
  const auto place = [&](uint64_t size) {
    n_parameters += size;
    return n_parameters - size;
  };
  const uint64_t n = view.n_gaussians, d = view.n_dims;
  mixture.means = place(n * d);
  mixture.precisions = place(n * (full_covariances ? factor_size(d) : d));
  mixture.log_norms = place(n);
  mixture.log_weights = place(n * view.n_weight_rows);
  mixtures.push_back(mixture);
  n_weight_rows.push_back(view.n_weight_rows);
}

std::unique_ptr<double[]> SumsPlan::pack(const asr_sums_view &view, ThreadPool &pool) const {
  std::unique_ptr<double[]> parameters(new double[n_parameters]);  // not filled with zeros
  pool.run(mixtures.size(), [&](size_t m) {
    const SumsMixture &mixture = mixtures[m];
    const asr_mixture_view &from = view.mixtures[m];
    const size_t n = from.n_gaussians;
    transpose(from.means, n, from.n_dims, &parameters[mixture.means]);
    const auto lay_out = full_covariances ? lay_out_factors : transpose;
    lay_out(from.precisions, n, from.n_dims, &parameters[mixture.precisions]);
    std::copy_n(from.log_norms, n, &parameters[mixture.log_norms]);
    std::copy_n(from.log_weights, from.n_weight_rows * n, &parameters[mixture.log_weights]);
  });
  return parameters;
}

uint64_t SumsPlan::second_size(const SumsMixture &mixture) const {
  const uint64_t d = mixture.n_dims;
  return full_moments ? d * (d + 1) / 2 : d;
}

uint64_t SumsPlan::n_elements(const SumsMixture &mixture) const {
  const uint64_t n_tiles = (mixture.n_dims + kMomentTile - 1) / kMomentTile;
  return mixture.n_gaussians * ((full_moments ? n_tiles * (n_tiles + 1) / 2 : mixture.n_dims) + 1) + 1;
}

uint64_t SumsPlan::n_operations(const SumsMixture &mixture) const {
  constexpr uint64_t kExponential = 40;
  const uint64_t d = mixture.n_dims, of_all_pairs = d * (d + 1);
  const uint64_t distance = full_covariances ? of_all_pairs : 4 * d, moments = full_moments ? of_all_pairs : 6 * d;
  return mixture.n_gaussians * (distance + kExponential + moments);
}

void check_shares(const SumsPlan &plan, const asr_row_share *shares, const uint64_t *share_begin, uint32_t n_rows,
                  uint32_t n_dims) {
  if (plan.n_row_dims > n_dims) {
    fail(ASR_INVALID_ARGUMENT, "add: rows have %u features, but mixtures see feature %u", n_dims, plan.n_row_dims - 1);
  }
  if (share_begin[0] != 0) fail(ASR_INVALID_ARGUMENT, "add: the shares of the first sum must begin at 0");
  for (size_t i = 0; i < plan.sums.size(); ++i) {
    if (share_begin[i] > share_begin[i + 1]) fail(ASR_INVALID_ARGUMENT, "add: the shares of sum %zu end before they begin", i);
    const uint32_t n_weight_rows = plan.n_weight_rows[plan.sums[i].mixture];
    for (uint64_t at = share_begin[i]; at < share_begin[i + 1]; ++at) {
      const asr_row_share &share = shares[at];
      if (share.row >= n_rows || share.weight_row >= n_weight_rows) {
        fail(ASR_INVALID_ARGUMENT,
             "add: a share of sum %zu is of row %u and weights %u; there are %u rows and %u rows of weights", i, share.row,
             share.weight_row, n_rows, n_weight_rows);
      }
      if (!(share.share >= 0) || std::isinf(share.share)) {
        fail(ASR_INVALID_ARGUMENT, "add: a share of sum %zu is %g; give finite ones, not negative", i,
             static_cast<double>(share.share));
      }
    }
  }
}

std::vector<SumsBatch> cut_shares(const SumsPlan &plan, const uint64_t *share_begin, const SumsLimits &most) {
  std::vector<SumsBatch> batches;
  for (size_t i = 0; i < plan.sums.size(); ++i) {
    const SumsMixture &mixture = plan.mixtures[plan.sums[i].mixture];
    for (uint64_t at = share_begin[i]; at < share_begin[i + 1];) {
      uint64_t capacity = batches.empty() ? 0 : capacity_left(batches.back(), plan, mixture, most);
      if (capacity == 0) {
        batches.emplace_back();
        batches.back().first_share = at;
        capacity = std::max<uint64_t>(capacity_left(batches.back(), plan, mixture, most), 1);
      }
      const uint64_t n = std::min(capacity, share_begin[i + 1] - at);
      add_job(plan, plan.sums[i], static_cast<uint32_t>(n), &batches.back());
      at += n;
    }
  }
  return batches;
}

}  // namespace asr
