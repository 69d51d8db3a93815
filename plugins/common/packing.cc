// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/packing.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "core/base/error.h"

namespace asr {
namespace {

// Computes U with U'U = P for the lower triangle P of a symmetric matrix, both stored by rows: U' is P's Cholesky factor.
// Returns false if P is not positive definite.
bool cholesky_transposed(const float *lower, size_t d, std::vector<double> &upper) {
  const auto at = [d](size_t row, size_t column) { return row * d - row * (row + 1) / 2 + column; };
  upper.assign(d * (d + 1) / 2, 0);
  for (size_t i = 0; i < d; ++i) {
    for (size_t j = i; j < d; ++j) {
      double rest = lower[j * (j + 1) / 2 + i];
      for (size_t k = 0; k < i; ++k) rest -= upper[at(k, i)] * upper[at(k, j)];
      if (j == i && !(rest > 0 && std::isfinite(rest))) return false;
      upper[at(i, j)] = j == i ? std::sqrt(rest) : rest / upper[at(i, i)];
    }
  }
  return true;
}

}  // namespace

std::vector<float> feature_centre(const asr_acoustic_view &view) {
  std::vector<double> sum(view.n_dims, 0);
  std::vector<uint64_t> count(view.n_dims, 0);
  for (uint32_t c = 0; c < view.n_codebooks; ++c) {
    const asr_gmm_codebook &codebook = view.codebooks[c];
    const asr_gmm_stream &stream = view.streams[codebook.stream];
    const float *mean = view.means + codebook.first_mean;
    for (uint32_t k = 0; k < codebook.n_gaussians; ++k, mean += stream.n_dims) {
      for (uint32_t d = 0; d < stream.n_dims; ++d) sum[stream.dims[d]] += mean[d];
    }
    for (uint32_t d = 0; d < stream.n_dims; ++d) count[stream.dims[d]] += codebook.n_gaussians;
  }
  std::vector<float> centre(view.n_dims, 0);
  for (uint32_t d = 0; d < view.n_dims; ++d) {
    const double mean = count[d] > 0 ? sum[d] / double(count[d]) : 0;
    if (std::isfinite(mean)) centre[d] = float(mean);
  }
  return centre;
}

PackedGaussian pack_gaussian(const asr_acoustic_view &view, const asr_gmm_codebook &codebook, uint32_t gaussian,
                             const std::vector<float> &centre) {
  const asr_gmm_stream &stream = view.streams[codebook.stream];
  const size_t n_dims = stream.n_dims;
  const float *mean = view.means + codebook.first_mean + size_t{gaussian} * n_dims;
  const uint64_t number = codebook.first_gaussian + gaussian;
  const float *precision = view.precisions + view.precision_at[view.covariance_of[number]];
  std::vector<double> difference(n_dims);
  for (size_t d = 0; d < n_dims; ++d) difference[d] = double(mean[d]) - centre[stream.dims[d]];

  PackedGaussian packed;
  packed.offset.assign(n_dims, 0);
  double log_determinant = 0;
  if (view.covariance == ASR_COVARIANCE_DIAGONAL) {
    for (size_t d = 0; d < n_dims; ++d) {
      if (!(precision[d] > 0))
        fail(ASR_BAD_FILE, "acoustic model: a precision of Gaussian %llu is not positive; train it with a variance floor",
             (unsigned long long)number);
      packed.factor.push_back(std::sqrt(double(precision[d])));
      packed.offset[d] = packed.factor[d] * difference[d];
      log_determinant += std::log(double(precision[d]));
    }
  } else {
    if (!cholesky_transposed(precision, n_dims, packed.factor)) {
      fail(ASR_BAD_FILE, "acoustic model: the precision of Gaussian %llu is not positive definite; smooth its covariance",
           (unsigned long long)number);
    }
    size_t at = 0;
    for (size_t i = 0; i < n_dims; ++i) {
      log_determinant += 2 * std::log(packed.factor[at]);
      for (size_t j = i; j < n_dims; ++j) packed.offset[i] += packed.factor[at++] * difference[j];
    }
  }
  packed.log_normaliser = 0.5 * (log_determinant - double(n_dims) * kLn2Pi);
  return packed;
}

HalvedGaussian halve_gaussian(const asr_acoustic_view &view, const asr_gmm_codebook &codebook, uint32_t gaussian,
                              const std::vector<float> &centre, PackedGaussian *packed) {
  constexpr double kMinNormal = 1.0 / 16384, kMaxLoss = 0.06;
  const asr_gmm_stream &stream = view.streams[codebook.stream];
  const bool full = view.covariance == ASR_COVARIANCE_FULL;
  const float *const mean = view.means + codebook.first_mean + size_t{gaussian} * stream.n_dims;
  const auto rounded = [](double value) { return double(half_value(half_bits(float(value)))); };
  double *factor = packed->factor.data(), losses = 0;
  bool finite = true, normal = true;
  for (size_t i = 0; i < stream.n_dims; ++i) {
    const size_t end = full ? stream.n_dims : i + 1;
    normal = normal && kFactorScale * *factor >= kMinNormal;
    double offset = 0;
    for (size_t j = i; j < end; ++j, ++factor) {
      const double scaled = rounded(kFactorScale * *factor);
      finite = finite && std::isfinite(scaled);
      *factor = scaled / kFactorScale;
      offset += *factor * (double(mean[j]) - centre[stream.dims[j]]);
    }
    packed->offset[i] = offset;
    const double loss = rounded(kFactorScale * offset) - kFactorScale * offset;
    finite = finite && std::isfinite(loss);
    losses += loss * loss;
  }
  if (!finite) return HalvedGaussian::kOverflows;
  return normal && losses <= kMaxLoss * kMaxLoss ? HalvedGaussian::kFits : HalvedGaussian::kLoses;
}

std::vector<uint32_t> words_of(const std::vector<float> &numbers, bool halved) {
  std::vector<uint32_t> words(halved ? numbers.size() / 2 : numbers.size());
  if (!halved) {
    std::memcpy(words.data(), numbers.data(), numbers.size() * sizeof(float));
    return words;
  }
  for (size_t i = 0; i < words.size(); ++i) {
    words[i] = half_bits(numbers[2 * i]) | uint32_t{half_bits(numbers[2 * i + 1])} << 16;
  }
  return words;
}

std::vector<std::vector<uint32_t>> blocks_by_size(const std::vector<uint32_t> &sizes, size_t n_lanes) {
  std::vector<uint32_t> order(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](uint32_t a, uint32_t b) { return sizes[a] < sizes[b]; });
  std::vector<std::vector<uint32_t>> blocks;
  for (size_t begin = 0; begin < order.size(); begin += n_lanes) {
    const size_t end = std::min(order.size(), begin + n_lanes);
    blocks.emplace_back(order.begin() + std::ptrdiff_t(begin), order.begin() + std::ptrdiff_t(end));
  }
  return blocks;
}

}  // namespace asr
