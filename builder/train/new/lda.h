// SPDX-License-Identifier: Apache-2.0
// Linear discriminant analysis (T12): the directions of spliced rows in which the means of pdfs differ most.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/train/rows_file.h"
#include "builder/train/trainer.h"
#include "core/base/thread_pool.h"

namespace asr::train {

// Copies the rows around row `at` of an utterance's n rows of n_dims values, from `context` before it to `context` behind it,
// to *spliced. Rows beyond the ends are the first or last one.
void splice(const float *rows, uint32_t n, uint32_t n_dims, uint32_t at, uint32_t context, float *spliced);

// Returns the transform [n_out][(2 context + 1) n_dims] of spliced rows. pdfs: of each row; kNoState leaves it out. Rows are
// those of the utterances, one after another.
std::vector<double> lda_transform(const float *rows, uint32_t n_dims, const std::vector<TrainingUtterance> &utterances,
                                  const std::vector<uint32_t> &pdfs, uint32_t context, uint32_t n_out, ThreadPool *pool);

// Adds the transformed spliced rows to a file of rows of n_out values.
void add_transformed(const std::vector<double> &transform, const float *rows, uint32_t n_dims,
                     const std::vector<TrainingUtterance> &utterances, uint32_t context, ThreadPool *pool, RowsFile *file);

}  // namespace asr::train
