// SPDX-License-Identifier: Apache-2.0
// Checks that a graph made elsewhere is a finished decoding graph of this model. `senone graph --hclg` uses it.
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/model/hmm_set.h"

namespace asr {

// Walks from a sample of the graph's arcs to those that can follow, and compares their transition-ids with the topology of
// `set`. Throws ASR_INVALID_ARGUMENT for a graph of another model, and for one of an earlier stage: a grammar (G), a graph of
// phones (LG, CLG), one without self-loops (HCLGa). Kaldi's graphs may have a self-loop before or behind the transition that
// leaves its state. A graph of another model whose transition-ids have the same meaning passes.
void check_decoding_graph(const GraphData &graph, const HmmSet &set, const std::string &source);

// Throws if these are the symbols of phones instead of words. `source` names their file.
void check_are_words(const std::vector<std::string> &symbols, const HmmSet &set, const std::string &source);

}  // namespace asr
