// SPDX-License-Identifier: Apache-2.0
// Reduces a finished graph and packs it in place, since this phase determines the peak memory of building. The set of paths
// with their words, transition-ids and costs stays the same.
#pragma once

#include "builder/graph/lexical_graph.h"
#include "builder/graph/state_graph.h"
#include "core/base/limits.h"
#include "core/graph/graph.h"

namespace asr {

// Removes epsilon arcs where that adds no arcs: if their target has one incoming or one outgoing path.
void remove_epsilons(StateGraph *graph);

// Returns the reachable states, breadth first, for locality of the search.
std::vector<uint32_t> breadth_first_order(const StateGraph &graph);

// Merges states with the same outgoing labels and costs (the coarsest such partition, found by refinement). Graphs for which
// that takes too long, such as one sentence of very many words, keep their states. Returns the state of each class; their arcs,
// and graph->start, then lead to classes.
std::vector<uint32_t> minimise(StateGraph *graph, const BuildProgress &progress, uint64_t max_steps = kMaxMinimisingSteps,
                               uint32_t n_threads = 1);

// Numbers the reachable states and returns them, like minimise without merging.
std::vector<uint32_t> number_reachable(StateGraph *graph);

// Returns the graph of the classes found by minimise, numbered breadth first.
GraphData pack(StateGraph graph, std::vector<uint32_t> states, const std::vector<Transition> &transitions, uint32_t n_pdfs,
               uint32_t n_words);

}  // namespace asr
