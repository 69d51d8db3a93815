// SPDX-License-Identifier: Apache-2.0
// Relative-entropy pruning of back-off models (A. Stolcke, Entropy-based pruning of backoff language models, 1998).
#pragma once

#include "builder/graph/ngram.h"

namespace asr {

// Leaves out every n-gram of two or more words without which the model's perplexity would rise by a factor below
// 1 + threshold; each is judged alone, against the unpruned model. An n-gram stays while a longer one needs it as its history.
// Back-off costs are computed anew, so that every history's probabilities sum to one again.
NgramModel prune(const NgramModel &model, double threshold);

}  // namespace asr
