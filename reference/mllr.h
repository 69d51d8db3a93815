// SPDX-License-Identifier: Apache-2.0
// A3 of docs/equations.md in double with plain loops: one round of the estimation of a transform of means.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"

namespace asr::reference {

struct MllrProblem {
  const asr_acoustic_view *view = nullptr;  // with the original means
  std::vector<float> rows;                  // [states.size()][n_dims]
  std::vector<uint32_t> states;
  std::vector<double> transform;  // [n_dims][n_dims + 1]: the round before
  double prior_rows = 0;
};

std::vector<double> mllr(const MllrProblem &problem);  // [n_dims][n_dims + 1]

}  // namespace asr::reference
