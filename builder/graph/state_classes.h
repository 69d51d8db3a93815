// SPDX-License-Identifier: Apache-2.0
// Finds the states of a graph that minimise() may merge.
#pragma once

#include <cstdint>
#include <vector>

#include "builder/graph/lexical_graph.h"
#include "builder/graph/state_graph.h"

namespace asr {

// Returns the class of each state: the coarsest partition of the states of `order` in which those of a class have the same
// outgoing labels and costs to the same classes. Classes are numbered by their first states in `order`. Returns an empty vector
// if the work exceeds kBaseMinimisingRounds rounds over the whole graph and max_steps after them. The classes do not depend on
// the number of threads; 0 means one for each core.
std::vector<uint32_t> find_state_classes(const StateGraph &graph, const std::vector<uint32_t> &order,
                                         const BuildProgress &progress, uint64_t max_steps, uint32_t n_threads = 1);

}  // namespace asr
