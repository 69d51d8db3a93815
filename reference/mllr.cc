// SPDX-License-Identifier: Apache-2.0
#include "reference/mllr.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace asr::reference {
namespace {

using Matrix = std::vector<std::vector<double>>;

Matrix zeros(size_t n) { return Matrix(n, std::vector<double>(n)); }

// A Gaussian of one state's mixture, in one feature stream.
struct Gaussian {
  double weight;
  std::vector<double> mean;
  Matrix precision;
};

const asr_gmm_codebook &codebook_of(const asr_acoustic_view &view, uint32_t state, uint32_t stream) {
  return view.codebooks[view.state_codebook[size_t{state} * view.n_streams + stream]];
}

std::vector<Gaussian> mixture(const asr_acoustic_view &view, uint32_t state, uint32_t stream) {
  const asr_gmm_codebook &codebook = codebook_of(view, state, stream);
  const uint32_t n = view.streams[stream].n_dims;
  std::vector<Gaussian> result;
  double sum = 0;
  for (uint32_t k = 0; k < codebook.n_gaussians; ++k) {
    const float *const mean = view.means + codebook.first_mean + size_t{k} * n;
    const float *const precision = view.precisions + view.precision_at[view.covariance_of[codebook.first_gaussian + k]];
    const double weight = std::exp(double{view.log_weights[view.state_weight[size_t{state} * view.n_streams + stream] + k]});
    Matrix p = zeros(n);
    for (uint32_t r = 0, at = 0; r < n; ++r) {
      if (view.covariance == ASR_COVARIANCE_FULL) {
        for (uint32_t c = 0; c <= r; ++c) p[r][c] = p[c][r] = precision[at++];
      } else {
        p[r][r] = precision[r];
      }
    }
    result.push_back({weight, {mean, mean + n}, p});
    sum += weight;
  }
  for (Gaussian &gaussian : result) gaussian.weight /= sum;
  return result;
}

// Solves a x = b by elimination with pivots.
std::vector<double> solved(Matrix a, std::vector<double> b) {
  const size_t n = b.size();
  for (size_t i = 0; i < n; ++i) {
    size_t pivot = i;
    for (size_t r = i + 1; r < n; ++r) {
      if (std::abs(a[r][i]) > std::abs(a[pivot][i])) pivot = r;
    }
    std::swap(a[i], a[pivot]);
    std::swap(b[i], b[pivot]);
    for (size_t r = 0; r < n; ++r) {
      if (r == i) continue;
      const double ratio = a[r][i] / a[i][i];
      for (size_t c = i; c < n; ++c) a[r][c] -= ratio * a[i][c];
      b[r] -= ratio * b[i];
    }
  }
  for (size_t i = 0; i < n; ++i) b[i] /= a[i][i];
  return b;
}

Matrix inverse(const Matrix &a) {
  Matrix result;
  for (size_t i = 0; i < a.size(); ++i) {
    std::vector<double> unit(a.size());
    unit[i] = 1;
    result.push_back(solved(a, unit));  // a is symmetric, so columns are rows
  }
  return result;
}

double log_determinant(Matrix a) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    sum += std::log(a[i][i]);
    for (size_t r = i + 1; r < a.size(); ++r) {
      const double ratio = a[r][i] / a[i][i];
      for (size_t c = i; c < a.size(); ++c) a[r][c] -= ratio * a[i][c];
    }
  }
  return sum;
}

// S of A1: the mean of x x' over rows of the model, x ending with 1.
Matrix moments(const asr_acoustic_view &view) {
  Matrix result = zeros(view.n_dims + 1);
  const bool is_full = view.covariance == ASR_COVARIANCE_FULL;
  for (uint32_t state = 0; state < view.n_states; ++state) {
    std::vector<double> mean(view.n_dims + 1, 0);
    mean.back() = 1;
    for (uint32_t s = 0; s < view.n_streams; ++s) {
      for (const Gaussian &gaussian : mixture(view, state, s)) {
        for (uint32_t i = 0; i < view.streams[s].n_dims; ++i)
          mean[view.streams[s].dims[i]] += gaussian.weight * gaussian.mean[i];
      }
    }
    Matrix second = zeros(view.n_dims + 1);
    for (size_t i = 0; i <= view.n_dims; ++i) {
      for (size_t j = 0; j <= view.n_dims; ++j) second[i][j] = mean[i] * mean[j];
    }
    for (uint32_t s = 0; s < view.n_streams; ++s) {
      const asr_gmm_stream &part = view.streams[s];
      for (uint32_t i = 0; i < part.n_dims; ++i) {
        for (uint32_t j = 0; j < part.n_dims; ++j) {
          if (is_full || i == j) second[part.dims[i]][part.dims[j]] = 0;
        }
      }
      for (const Gaussian &gaussian : mixture(view, state, s)) {
        const Matrix covariance = inverse(gaussian.precision);
        for (uint32_t i = 0; i < part.n_dims; ++i) {
          for (uint32_t j = 0; j < part.n_dims; ++j) {
            const double value = gaussian.mean[i] * gaussian.mean[j] + covariance[i][j];
            if (is_full || i == j) second[part.dims[i]][part.dims[j]] += gaussian.weight * value;
          }
        }
      }
    }
    for (size_t i = 0; i <= view.n_dims; ++i) {
      for (size_t j = 0; j <= view.n_dims; ++j) result[i][j] += second[i][j] / view.n_states;
    }
  }
  return result;
}

double mean_precision(const asr_acoustic_view &view, uint32_t stream, uint32_t i, uint32_t j) {
  double sum = 0;
  for (uint32_t state = 0; state < view.n_states; ++state) {
    for (const Gaussian &gaussian : mixture(view, state, stream)) sum += gaussian.weight * gaussian.precision[i][j];
  }
  return sum / view.n_states;
}

// The shares of a state's Gaussians in the stream's part of a row, under the transform.
std::vector<double> shares(const MllrProblem &p, const std::vector<Gaussian> &gaussians, uint32_t stream, const float *row) {
  const asr_gmm_stream &part = p.view->streams[stream];
  std::vector<double> result;
  for (const Gaussian &gaussian : gaussians) {
    std::vector<double> distance;
    for (uint32_t i = 0; i < part.n_dims; ++i) {
      const double *const w = &p.transform[size_t{part.dims[i]} * (p.view->n_dims + 1)];
      double mean = w[p.view->n_dims];
      for (uint32_t j = 0; j < part.n_dims; ++j) mean += w[part.dims[j]] * gaussian.mean[j];
      distance.push_back(row[part.dims[i]] - mean);
    }
    double log = std::log(gaussian.weight) + 0.5 * log_determinant(gaussian.precision);
    for (uint32_t i = 0; i < part.n_dims; ++i) {
      for (uint32_t j = 0; j < part.n_dims; ++j) log -= 0.5 * gaussian.precision[i][j] * distance[i] * distance[j];
    }
    result.push_back(log);
  }
  const double most = *std::max_element(result.begin(), result.end());
  double sum = 0;
  for (double &value : result) sum += value = std::exp(value - most);
  for (double &value : result) value /= sum;
  return result;
}

}  // namespace

std::vector<double> mllr(const MllrProblem &p) {
  const asr_acoustic_view &view = *p.view;
  const Matrix prior = moments(view);
  std::vector<double> result(size_t{view.n_dims} * (view.n_dims + 1));
  for (uint32_t s = 0; s < view.n_streams; ++s) {
    const asr_gmm_stream &part = view.streams[s];
    std::vector<uint32_t> columns(part.dims, part.dims + part.n_dims);
    columns.push_back(view.n_dims);
    const size_t n = columns.size();
    const auto at = [&](size_t d, size_t i) { return d * n + i; };  // value i of the transform's row d
    Matrix g = zeros(part.n_dims * n);
    std::vector<double> k(part.n_dims * n);
    const auto add = [&](size_t d, size_t e, double precision, const Matrix &outer) {
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) g[at(d, i)][at(e, j)] += precision * outer[i][j];
      }
    };
    Matrix prior_outer = zeros(n);
    for (size_t i = 0; i < n; ++i) {
      for (size_t j = 0; j < n; ++j) prior_outer[i][j] = p.prior_rows * prior[columns[i]][columns[j]];
    }
    for (uint32_t d = 0; d < part.n_dims; ++d) {
      for (uint32_t e = 0; e < part.n_dims; ++e) {
        const double precision = mean_precision(view, s, d, e);
        add(d, e, precision, prior_outer);
        for (size_t i = 0; i < n; ++i) k[at(d, i)] += precision * prior_outer[i][e];
      }
    }
    for (size_t t = 0; t < p.states.size(); ++t) {
      const float *const row = &p.rows[t * view.n_dims];
      const std::vector<Gaussian> gaussians = mixture(view, p.states[t], s);
      const std::vector<double> share = shares(p, gaussians, s, row);
      for (size_t m = 0; m < gaussians.size(); ++m) {
        std::vector<double> xi = gaussians[m].mean;
        xi.push_back(1);
        Matrix outer = zeros(n);
        for (size_t i = 0; i < n; ++i) {
          for (size_t j = 0; j < n; ++j) outer[i][j] = share[m] * xi[i] * xi[j];
        }
        for (uint32_t d = 0; d < part.n_dims; ++d) {
          for (uint32_t e = 0; e < part.n_dims; ++e) {
            const double precision = gaussians[m].precision[d][e];
            add(d, e, precision, outer);
            for (size_t i = 0; i < n; ++i) k[at(d, i)] += share[m] * precision * row[part.dims[e]] * xi[i];
          }
        }
      }
    }
    const std::vector<double> w = solved(g, k);
    for (uint32_t d = 0; d < part.n_dims; ++d) {
      for (size_t i = 0; i < n; ++i) result[size_t{part.dims[d]} * (view.n_dims + 1) + columns[i]] = w[at(d, i)];
    }
  }
  return result;
}

}  // namespace asr::reference
