// SPDX-License-Identifier: Apache-2.0
// Smoothing of full covariances whose training data is not at hand (equation T5). Called by `senone import --smooth`.
#pragma once

#include <string>

#include "core/model/acoustic_model.h"

namespace asr::train {

// Draws the correlations of every Gaussian towards the mean ones of its stream, or towards 0; these get `share`, 0 to 1, of the
// result. The mean is by mixture weights, all states being equally frequent. Variances stay, and what is shared stays shared.
// Throws ASR_BAD_FILE naming `source` if a covariance is not positive definite.
void shrink_covariances(double share, bool to_shared, const std::string &source, AcousticModel *model);

}  // namespace asr::train
