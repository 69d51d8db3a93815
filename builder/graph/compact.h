// SPDX-License-Identifier: Apache-2.0
// Makes a finished graph small and packs it, in the graph's own memory: this is where building takes most. None of these
// changes which paths there are, their words, transition-ids or costs.
#pragma once

#include "builder/graph/lexical_graph.h"
#include "builder/graph/state_graph.h"
#include "core/base/limits.h"
#include "core/graph/graph.h"

namespace asr {

// Takes out epsilon arcs where that does not add arcs: where the state they lead to has one way in or one way out.
void remove_epsilons(StateGraph *graph);

// States that can be reached, breadth first, so that what is searched together lies together.
std::vector<uint32_t> breadth_first_order(const StateGraph &graph);

// Merges states from which the same labels and costs lead on (the coarsest such partition, found by refining). A graph in which
// that takes too long, such as one sentence of very many words, keeps its states. Returns the state of each class; their arcs,
// and graph->start, then lead to classes.
std::vector<uint32_t> minimise(StateGraph *graph, const BuildProgress &progress, uint64_t most_steps = kMostMinimisingSteps);

// Numbers the states that can be reached, and returns them, as minimise does without merging any.
std::vector<uint32_t> number_reachable(StateGraph *graph);

// The graph of the classes that minimise has found, numbered breadth first.
GraphData pack(StateGraph graph, std::vector<uint32_t> states, const std::vector<Transition> &transitions, uint32_t n_pdfs,
               uint32_t n_words);

}  // namespace asr
