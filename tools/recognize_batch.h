// SPDX-License-Identifier: Apache-2.0
// recognize_batch() recognises all utterances of a source, several at a time, and prints their results in the order of the
// source. `senone recognize` uses it.
#pragma once

#include <deque>

#include "tools/hyp_file.h"
#include "tools/recognize.h"
#include "tools/speakers.h"
#include "tools/utterance_source.h"

namespace asr::tool {

struct BatchOptions {
  size_t n_jobs = 1;              // utterances at a time
  HypJournal *journal = nullptr;  // journal of --resume, or nullptr
  Speakers *speakers = nullptr;   // speakers of --adapt and similar options, or nullptr
  bool prints = true;             // prints the results; false: prints nothing
};

// Returns the results. A failed utterance has its error in its result; throws only if the batch as a whole failed.
std::deque<Recognition> recognize_batch(asr_engine *engine, const RecognizeOptions &options, const BatchOptions &batch,
                                        UtteranceSource *source);

}  // namespace asr::tool
