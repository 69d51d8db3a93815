// SPDX-License-Identifier: Apache-2.0
// Recognises all utterances of a source, several at a time, and prints their results in the order of the source. Used by
// `senone recognize`.
#pragma once

#include <deque>

#include "tools/hyp_file.h"
#include "tools/recognize.h"
#include "tools/speakers.h"
#include "tools/utterance_source.h"

namespace asr::tool {

struct BatchOptions {
  size_t n_jobs = 1;              // utterances at a time
  HypJournal *journal = nullptr;  // of --resume, or nullptr
  Speakers *speakers = nullptr;   // of --adapt and the like, or nullptr
  bool prints = true;             // results; else nothing is printed
};

// Returns the results. Throws if the batch as a whole failed; an utterance's failure is in its result.
std::deque<Recognition> recognize_batch(asr_engine *engine, const RecognizeOptions &options, const BatchOptions &batch,
                                        UtteranceSource *source);

}  // namespace asr::tool
