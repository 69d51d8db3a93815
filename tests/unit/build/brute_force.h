// SPDX-License-Identifier: Apache-2.0
// Computes the paths that a decoding graph should accept, by definition. They have every sentence of the grammar, and
// every choice of pronunciations and of fillers between words. Every phone has the HMM for its neighbours, and every
// path through the HMMs counts. It also lists the paths that a graph does accept.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "builder/graph/build.h"

namespace asr::test {

// A path as text: its words, then phone/position/state/pdf of each frame. Maps all paths of at most max_frames frames to the
// costs of all their occurrences, in order.
using Paths = std::map<std::string, std::vector<double>>;

Paths paths_by_definition(const HmmSet &set, const Lexicon &lexicon, const Grammar &grammar, const GraphOptions &options,
                          size_t max_frames);
Paths paths_of_graph(const GraphData &graph, const std::vector<std::string> &words, size_t max_frames);

}  // namespace asr::test
