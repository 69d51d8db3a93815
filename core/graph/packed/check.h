// SPDX-License-Identifier: Apache-2.0
// Checks that a search of a packed graph read from a file cannot leave its arrays.
#pragma once

#include <string>

#include "core/graph/packed/packed_graph.h"

namespace asr {

// Throws ASR_BAD_FILE naming `path`, the array, the index and the field. n_states ... n_units must be in range
// for the arrays, and pdf_of below n_pdfs.
void check_packed_graph(const asr_packed_graph &graph, const std::string &path);

}  // namespace asr
