// SPDX-License-Identifier: Apache-2.0
// Reads a decoding graph (HCLG) from an OpenFst file of type "vector" or "const" with standard arcs, without OpenFst. Called by
// `senone graph --hclg`.
#pragma once

#include <string>
#include <vector>

#include "core/graph/graph.h"
#include "core/model/hmm_set.h"

namespace asr {

// Input labels are the transition-ids of `set` (0: epsilon), output labels are word ids below n_words; both are checked. Arcs
// keep their order within a state; arcs of infinite cost are dropped.
GraphData read_openfst_graph(const std::string &path, const HmmSet &set, uint32_t n_words);

// The words are those of `words_source`. Throws if the file has a table of output symbols that gives a number another word.
GraphData read_openfst_graph(const std::string &path, const HmmSet &set, const std::vector<std::string> &words,
                             const std::string &words_source);

}  // namespace asr
