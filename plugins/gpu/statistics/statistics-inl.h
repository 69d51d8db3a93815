// SPDX-License-Identifier: Apache-2.0
// Statistics of training (T1 and T2 of docs/equations.md) in double, by two kernels. The first finds the posteriors of
// each share's Gaussians: a block has up to kStatisticsThreads shares of one sum. In the second a thread owns one
// element of a sum, or a tile of kMomentTile x kMomentTile second moments, and walks the sum's shares in their order.
// Operations and their order are those of builder/train/densities.cc and statistics.cc, so that the host finds the same
// bits. The double reference is reference/statistics.h. Files that include this one are compiled without
// contraction.
//
// Floor: with R shares of a mixture of K Gaussians in d dimensions, R d floats are read, and R K doubles of posteriors
// are written once and read once. Diagonal: 4 d operations for a distance and 6 d for the sums of each of the R K
// pairs; exponentials take 40. A million frames of 39 features and 16 Gaussians are 156 MB and 128 MB twice: 0.15 ms of
// an H100's memory. Their 6.9e9 operations take 0.4 ms of its 17e12 a second in double, without contraction. Full: d (d
// + 1) operations for a distance and as many for the sums; with 8 Gaussians 2.5e10, 1.5 ms. A feature becomes a double
// 2 d / kMomentTile times a Gaussian, which takes four times a product's time.
#ifndef SENONE_KERNELS_STATISTICS_H
#define SENONE_KERNELS_STATISTICS_H

#include "plugins/common/posteriors-inl.h"
#include "plugins/gpu/statistics/statistics_types.h"
#ifdef __cplusplus
namespace asr {
#endif

// SumsTables has the arrays of a launch.
typedef struct SumsTables {
  GLOBAL const SumsMixture *mixtures;
  GLOBAL const SumsJob *jobs;
  GLOBAL const SumsTile *tiles;
  GLOBAL const SumsShare *shares;
  GLOBAL const double *parameters;
  GLOBAL const uint32_t *dims;
  GLOBAL const float *rows;
  GLOBAL double *posteriors;
  GLOBAL double *log_likelihoods;  // [n_shares]
  GLOBAL double *sums;
  uint32_t n_dims;  // of a row
} SumsTables;

// Returns the squared distance of a row from Gaussian k, in its precision.
DEVICE double diagonal_distance(const SumsTables *t, const SumsMixture *m, GLOBAL const float *row, uint32_t k) {
  GLOBAL const uint32_t *const dims = t->dims + m->first_dim;
  GLOBAL const double *const mean = t->parameters + m->means + k, *const precision = t->parameters + m->precisions + k;
  const size_t n = m->n_gaussians;
  double sum = 0.0;
  for (uint32_t i = 0; i < m->n_dims; ++i) {
    const double x = (double)row[dims[i]] - mean[i * n];
    sum += precision[i * n] * x * x;
  }
  return sum;
}

DEVICE double full_distance(const SumsTables *t, const SumsMixture *m, GLOBAL const float *row, uint32_t k) {
  GLOBAL const uint32_t *const dims = t->dims + m->first_dim;
  GLOBAL const double *const mean = t->parameters + m->means + k, *factor = t->parameters + m->precisions + k;
  const size_t n = m->n_gaussians;
  double sum = 0.0;
  for (uint32_t first = 0; first < m->n_dims; first += kFactorRows) {
    const uint32_t n_columns = first + kFactorRows < m->n_dims ? first + kFactorRows : m->n_dims;
    double turned[kFactorRows];
    for (uint32_t r = 0; r < kFactorRows; ++r) turned[r] = 0.0;
    for (uint32_t c = 0; c < n_columns; ++c, factor += kFactorRows * n) {
      const double x = (double)row[dims[c]] - mean[c * n];
      for (uint32_t r = 0; r < kFactorRows; ++r) turned[r] += factor[r * n] * x;
    }
    for (uint32_t r = 0; r < kFactorRows; ++r) sum += turned[r] * turned[r];
  }
  return sum;
}

// Makes the posteriors and log-likelihoods of a tile's shares. best, total: [kStatisticsThreads]. Neighbouring threads
// have Gaussians of a row while they find distances, which read the row once, and rows of a Gaussian afterwards.
DEVICE void make_posteriors(const SumsTables *t, const SumsTile *tile, bool full, LOCAL double *best, LOCAL double *total) {
  const SumsJob job = t->jobs[tile->job];
  const SumsMixture m = t->mixtures[job.mixture];
  const uint32_t n_left = job.n_shares - tile->first;
  const uint32_t n = n_left < kStatisticsThreads ? n_left : kStatisticsThreads;
  const size_t n_gaussians = m.n_gaussians, n_pairs = n * n_gaussians, stride = job.n_shares;
  GLOBAL const SumsShare *const shares = t->shares + job.first_share + tile->first;
  GLOBAL double *const values = t->posteriors + job.first_posterior + tile->first;
  for (size_t p = thread_number(); p < n_pairs; p += block_size()) {
    const uint32_t s = (uint32_t)(p / n_gaussians), k = (uint32_t)(p % n_gaussians);
    GLOBAL const float *const row = t->rows + (size_t)shares[s].row * t->n_dims;
    const double distance = full ? full_distance(t, &m, row, k) : diagonal_distance(t, &m, row, k);
    const double log_weight = t->parameters[m.log_weights + shares[s].weight_row * n_gaussians + k];
    values[k * stride + s] = log_weight + t->parameters[m.log_norms + k] - distance / 2;
  }
  block_sync();
  for (uint32_t s = thread_number(); s < n; s += block_size()) {
    double most = -INFINITY;
    for (size_t k = 0; k < n_gaussians; ++k) most = most < values[k * stride + s] ? values[k * stride + s] : most;
    best[s] = most;
  }
  block_sync();
  for (size_t p = thread_number(); p < n_pairs; p += block_size()) {
    const size_t s = p % n;
    GLOBAL double *const value = values + p / n * stride + s;
    *value = posterior_exp(*value - best[s]);
  }
  block_sync();
  for (uint32_t s = thread_number(); s < n; s += block_size()) {
    double sum = 0.0;
    for (size_t k = 0; k < n_gaussians; ++k) sum += values[k * stride + s];
    total[s] = sum;
    const double log_likelihood = log_likelihood_in_sum(best[s] + posterior_log(sum), shares[s].share);
    t->log_likelihoods[job.first_share + tile->first + s] = log_likelihood;
  }
  block_sync();
  for (size_t p = thread_number(); p < n_pairs; p += block_size()) {
    const size_t s = p % n;
    GLOBAL double *const value = values + p / n * stride + s;
    *value = posterior_in_sum(posterior_of(*value, total[s]), shares[s].share);
  }
}

// Threads read some shares ahead, so that their loads overlap. Beyond the last share they read the last one again, with
// a value of 0. It changes no sum, because sums begin with +0.
DEVICE uint32_t share_or_last(const SumsJob *job, uint32_t s) { return s < job->n_shares ? s : job->n_shares - 1; }
DEVICE double value_or_zero(const SumsJob *job, GLOBAL const double *of_shares, uint32_t s) {
  return s < job->n_shares ? of_shares[s] : 0.0;
}

// Sums element i of Gaussian k: of a_k and of the diagonal of B_k.
DEVICE void sum_diagonal(const SumsTables *t, const SumsJob *job, const SumsMixture *m, uint32_t k, uint32_t i) {
  GLOBAL double *const to_first = t->sums + job->first + (size_t)k * m->n_dims + i;
  GLOBAL double *const to_second = t->sums + job->second + (size_t)k * m->n_dims + i;
  GLOBAL const SumsShare *const shares = t->shares + job->first_share;
  GLOBAL const double *const posteriors = t->posteriors + job->first_posterior + (size_t)k * job->n_shares;
  GLOBAL const float *const rows = t->rows + t->dims[m->first_dim + i];
  const size_t n_gaussians = m->n_gaussians, n_dims = t->n_dims;
  const double mean = t->parameters[m->means + i * n_gaussians + k];
  double first = *to_first, second = *to_second;
  for (uint32_t s = 0; s < job->n_shares; s += kSharesAhead) {
    double posterior[kSharesAhead];
    float value[kSharesAhead];
    for (uint32_t j = 0; j < kSharesAhead; ++j) {
      posterior[j] = value_or_zero(job, posteriors, s + j);
      value[j] = rows[shares[share_or_last(job, s + j)].row * n_dims];
    }
    for (uint32_t j = 0; j < kSharesAhead; ++j) {
      const double x = (double)value[j] - mean, scaled = posterior[j] * x;
      first += scaled;
      second += scaled * x;
    }
  }
  *to_first = first;
  *to_second = second;
}

// Sums tile (tile_row, tile_column) of B_k's lower triangle; on its diagonal a part of a_k, too. Dimensions beyond the
// last repeat it and are not stored.
DEVICE void sum_full(const SumsTables *t, const SumsJob *job, const SumsMixture *m, uint32_t k, uint32_t tile_row,
                     uint32_t tile_column) {
  const size_t n_gaussians = m->n_gaussians, n_dims = t->n_dims;
  const uint32_t d = m->n_dims, first_row = tile_row * kMomentTile, first_column = tile_column * kMomentTile;
  GLOBAL double *const to_first = t->sums + job->first + (size_t)k * d;
  GLOBAL double *const to_second = t->sums + job->second + (size_t)k * ((size_t)d * (d + 1) / 2);
  GLOBAL const SumsShare *const shares = t->shares + job->first_share;
  GLOBAL const double *const posteriors = t->posteriors + job->first_posterior + (size_t)k * job->n_shares;
  uint32_t dims_r[kMomentTile], dims_c[kMomentTile];
  double means_r[kMomentTile], means_c[kMomentTile], first[kMomentTile], second[kMomentTile][kMomentTile];
  for (uint32_t i = 0; i < kMomentTile; ++i) {
    const uint32_t r = first_row + i < d ? first_row + i : d - 1, c = first_column + i < d ? first_column + i : d - 1;
    dims_r[i] = t->dims[m->first_dim + r], dims_c[i] = t->dims[m->first_dim + c];
    means_r[i] = t->parameters[m->means + r * n_gaussians + k], means_c[i] = t->parameters[m->means + c * n_gaussians + k];
    first[i] = tile_row == tile_column ? to_first[r] : 0.0;
    for (uint32_t j = 0; j < kMomentTile; ++j) {
      const uint32_t column = first_column + j < r ? first_column + j : r;
      second[i][j] = to_second[(size_t)r * (r + 1) / 2 + column];
    }
  }
  for (uint32_t s = 0; s < job->n_shares; s += kTileSharesAhead) {
    double posterior[kTileSharesAhead];
    float of_rows[kTileSharesAhead][kMomentTile], of_columns[kTileSharesAhead][kMomentTile];
    for (uint32_t j = 0; j < kTileSharesAhead; ++j) {
      GLOBAL const float *const row = t->rows + shares[share_or_last(job, s + j)].row * n_dims;
      posterior[j] = value_or_zero(job, posteriors, s + j);
      for (uint32_t i = 0; i < kMomentTile; ++i) of_rows[j][i] = row[dims_r[i]], of_columns[j][i] = row[dims_c[i]];
    }
    for (uint32_t j = 0; j < kTileSharesAhead; ++j) {
      double x[kMomentTile];
      for (uint32_t c = 0; c < kMomentTile; ++c) x[c] = (double)of_columns[j][c] - means_c[c];
      for (uint32_t r = 0; r < kMomentTile; ++r) {
        const double scaled = posterior[j] * ((double)of_rows[j][r] - means_r[r]);
        first[r] += scaled;
        for (uint32_t c = 0; c < kMomentTile; ++c) second[r][c] += scaled * x[c];
      }
    }
  }
  for (uint32_t i = 0; i < kMomentTile && first_row + i < d; ++i) {
    const uint32_t r = first_row + i;
    if (tile_row == tile_column) to_first[r] = first[i];
    for (uint32_t j = 0; j < kMomentTile && first_column + j <= r; ++j) {
      to_second[(size_t)r * (r + 1) / 2 + first_column + j] = second[i][j];
    }
  }
}

// Sums n_k for all rows of weights. A thread is the only one that changes its Gaussian's.
DEVICE void sum_occupancies(const SumsTables *t, const SumsJob *job, const SumsMixture *m, uint32_t k) {
  GLOBAL const SumsShare *const shares = t->shares + job->first_share;
  GLOBAL const double *const posteriors = t->posteriors + job->first_posterior + (size_t)k * job->n_shares;
  GLOBAL double *const occupancies = t->sums + job->occupancies + k;
  const size_t n_gaussians = m->n_gaussians;
  size_t weight_row = shares[0].weight_row;
  double sum = occupancies[weight_row * n_gaussians];
  for (uint32_t s = 0; s < job->n_shares; s += kSharesAhead) {
    double posterior[kSharesAhead];
    uint32_t of_share[kSharesAhead];
    for (uint32_t j = 0; j < kSharesAhead; ++j) {
      posterior[j] = value_or_zero(job, posteriors, s + j);
      of_share[j] = shares[share_or_last(job, s + j)].weight_row;
    }
    for (uint32_t j = 0; j < kSharesAhead; ++j) {
      if (of_share[j] != weight_row) {
        occupancies[weight_row * n_gaussians] = sum;
        weight_row = of_share[j];
        sum = occupancies[weight_row * n_gaussians];
      }
      sum += posterior[j];
    }
  }
  occupancies[weight_row * n_gaussians] = sum;
}

DEVICE void sum_log_likelihoods(const SumsTables *t, const SumsJob *job) {
  GLOBAL const double *const log_likelihoods = t->log_likelihoods + job->first_share;
  double sum = t->sums[job->log_likelihood];
  for (uint32_t s = 0; s < job->n_shares; s += kSharesAhead) {
    double ahead[kSharesAhead];
    for (uint32_t j = 0; j < kSharesAhead; ++j) ahead[j] = value_or_zero(job, log_likelihoods, s + j);
    for (uint32_t j = 0; j < kSharesAhead; ++j) sum += ahead[j];
  }
  t->sums[job->log_likelihood] = sum;
}

// Adds a job's shares to one of its elements: first those of moments, then n_gaussians occupancies and the
// log-likelihood.
DEVICE void sum_element(const SumsTables *t, const SumsTile *tile, bool full) {
  const SumsJob job = t->jobs[tile->job];
  const SumsMixture m = t->mixtures[job.mixture];
  const uint32_t n_tiles = (m.n_dims + kMomentTile - 1) / kMomentTile,
                 n_moments = full ? n_tiles * (n_tiles + 1) / 2 : m.n_dims;
  const uint32_t element = tile->first + thread_number();
  const uint64_t end_of_moments = (uint64_t)n_moments * m.n_gaussians;
  if (element < end_of_moments) {
    const uint32_t k = element / n_moments, moment = element % n_moments;
    if (!full) {
      sum_diagonal(t, &job, &m, k, moment);
    } else {
      uint32_t row = 0;
      while ((row + 1) * (row + 2) / 2 <= moment) ++row;
      sum_full(t, &job, &m, k, row, moment - row * (row + 1) / 2);
    }
  } else if (element < end_of_moments + m.n_gaussians) {
    sum_occupancies(t, &job, &m, (uint32_t)(element - end_of_moments));
  } else if (element == end_of_moments + m.n_gaussians) {
    sum_log_likelihoods(t, &job);
  }
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_STATISTICS_H
