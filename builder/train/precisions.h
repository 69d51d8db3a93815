// SPDX-License-Identifier: Apache-2.0
// From the precisions of an acoustic model to covariances in double, and back.
#pragma once

#include <cstddef>
#include <vector>

namespace asr::train {

// [d], or a lower triangle by rows. Throws ASR_BAD_FILE if a full precision is not positive definite.
std::vector<double> read_covariance(const float *precision, size_t d, bool full);

// Rounding to float must leave a full precision positive definite: the back ends factorise it. Values beside the
// diagonal shrink until it is. Empty if the covariance is far from it.
std::vector<float> rounded_precision(std::vector<double> covariance, size_t d, bool full);

}  // namespace asr::train
