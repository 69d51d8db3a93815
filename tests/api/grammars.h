// SPDX-License-Identifier: Apache-2.0
// An engine with grammars beside the tone bundle's own graph, and results that identify the graph. For the tests of
// many graphs.
#pragma once

#include <string>
#include <vector>

#include "tests/api/recognizer.h"

namespace asr::test {

using Events = std::vector<std::string>;
using Samples = std::vector<int16_t>;

// The words' numbers differ from the bundle's own graph (low 1, mid 2, high 3), so that results identify their graph.
const std::vector<std::string> kEnds{"high", "low"}, kMids{"mid"};

EnginePointer load_with_grammars();  // "ends" and "mids"

asr_stream_config on_graph(const char *name);
asr_stream_config with_endpoints(asr_vad vad = ASR_VAD_DEFAULT);

Samples silence(double seconds);

// Returns the words of FINAL events with their numbers: "low#1 mid#2".
Events finals(asr_stream *stream);

// Feeds the samples and finishes; returns finals().
Events hear(asr_engine *engine, const asr_stream_config &config, const Samples &samples);

}  // namespace asr::test
