// SPDX-License-Identifier: Apache-2.0
// Options of `senone recognize` whose text has several meanings, and options that contradict each other.
#pragma once

#include "tools/recognize.h"
#include "tools/utterance_source.h"

namespace asr::tool {

// Reads texts of options into their values and chooses defaults that depend on other options. Throws UsageError for options
// that do not go together.
void read_usage(RecognizeOptions *options);

// Throws UsageError for options that do not go with these utterances; warns of those without an effect on them.
void check_usage(const RecognizeOptions &options, const UtteranceSource &source);

}  // namespace asr::tool
