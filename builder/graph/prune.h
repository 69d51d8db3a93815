// SPDX-License-Identifier: Apache-2.0
// Relative-entropy pruning of back-off models (A. Stolcke, Entropy-based pruning of backoff language models, 1998).
#pragma once

#include "builder/graph/ngram.h"

namespace asr {

// Removes every n-gram of two or more words whose removal raises the model's perplexity by a factor below 1 + threshold. Each
// n-gram is judged alone, against the unpruned model. N-grams that are histories of kept ones stay. Back-off costs are
// recomputed, so that every history's probabilities sum to one again.
NgramModel prune(const NgramModel &model, double threshold);

}  // namespace asr
