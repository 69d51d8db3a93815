// SPDX-License-Identifier: Apache-2.0
#include "builder/train/precisions.h"

#include "builder/train/matrix.h"
#include "core/base/cholesky.h"
#include "core/base/error.h"

namespace asr::train {
namespace {

// Covariance of a full precision, and the other way round. False if the matrix is not positive definite.
bool invert(std::vector<double> *matrix, size_t d) {
  if (!factorise(matrix, d)) return false;
  *matrix = inverse_of_factor(*matrix, d);
  return true;
}

}  // namespace

std::vector<double> read_covariance(const float *precision, size_t d, bool full) {
  std::vector<double> values(precision, precision + (full ? d * (d + 1) / 2 : d));
  if (!full) {
    for (double &value : values) value = 1 / value;
  } else if (!invert(&values, d)) {
    fail(ASR_BAD_FILE, "a covariance of the model is not positive definite; import it again");
  }
  return values;
}

std::vector<float> rounded_precision(std::vector<double> covariance, size_t d, bool full) {
  if (!full) {
    for (double &value : covariance) value = 1 / value;
    return {covariance.begin(), covariance.end()};
  }
  constexpr int kTrials = 60;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::vector<double> precision = covariance;
    if (invert(&precision, d)) {
      std::vector<float> rounded(precision.begin(), precision.end());
      precision.assign(rounded.begin(), rounded.end());
      if (factorise(&precision, d)) return rounded;
    }
    scale_beside_diagonal(&covariance[0], d, 0.9);
  }
  return {};
}

}  // namespace asr::train
