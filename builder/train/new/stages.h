// SPDX-License-Identifier: Apache-2.0
// The stages of a training from nothing: monophones from a flat start, and phones in context with a tree. Each aligns with the
// result of the one before it. Called by `senone train`.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/train/new/phone_models.h"
#include "builder/train/new/state_tree.h"
#include "builder/train/trainer.h"

namespace asr::train {

// What all stages have in common; all must outlive the stages.
struct StageData {
  const Device &device;
  const Lexicon &lexicon;  // of the monophones, whose phones all stages have
  const std::vector<TrainingUtterance> &utterances;
  ThreadPool *pool;
  std::string source;  // names the model in errors
  TrainingReports reports;
};

struct Stage {
  HmmSet set;
  AcousticModel acoustic;
  AlignedRows rows;                        // by the last alignment; the pdf is kNoState where it left the utterance out
  std::vector<double> transform;           // of the rows, if the recipe is semi-tied
  std::map<size_t, std::string> left_out;  // reasons by number of the utterance
  uint64_t n_rows = 0;                     // of the other utterances
};

// The rows are those of the utterances. A semi-tied recipe changes them (RowsFile::transform).
Stage train_monophones(const StageData &data, const HmmSet &monophones, RowsFile *rows, const Recipe &recipe);
Stage train_in_context(const StageData &data, const Stage &before, RowsFile *rows, const TreeOptions &tree,
                       const Recipe &recipe);

// Trains the stage's Gaussians further, on rows that other transforms of speakers have made.
Stage train_further(const StageData &data, const Stage &before, RowsFile *rows, const Recipe &recipe);

// Returns the moments of all phones in context, as the stage's alignment has them in these rows.
ContextMoments context_moments(const Stage &stage, const std::vector<TrainingUtterance> &utterances, const float *rows,
                               uint32_t n_dims, ThreadPool *pool);

}  // namespace asr::train
