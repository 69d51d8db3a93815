// SPDX-License-Identifier: Apache-2.0
// Checks of importers for numbers that must fit together: rows of probabilities, and rows of transforms of features.
#pragma once

#include <cmath>
#include <cstdint>
#include <vector>

namespace asr {

// Sums of probabilities in files of text are off by what was rounded away, and by as much for each of many Gaussians.
inline bool adds_up_to_one(double sum) { return std::abs(sum - 1) <= 0.01; }

// Returns the first row of matrix[n_rows][n_cols] that is a combination of the rows before it, or has a value that is not
// finite; n_rows if there is none. Columns from n_used on, such as an offset, do not count.
uint32_t first_dependent_row(const std::vector<float> &matrix, uint32_t n_rows, uint32_t n_cols, uint32_t n_used);

}  // namespace asr
