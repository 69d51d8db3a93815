// SPDX-License-Identifier: Apache-2.0
// Makes a finished graph small and packs it. None of these changes which paths there are, their words, transition-ids or
// costs.
#pragma once

#include "core/base/limits.h"
#include "core/graph/build/lexical_graph.h"
#include "core/graph/build/state_graph.h"
#include "core/graph/graph.h"

namespace asr {

// Takes out epsilon arcs where that does not add arcs: where the state they lead to has one way in or one way out.
StateGraph remove_epsilons(const StateGraph &graph);

// Merges states from which the same labels and costs lead on (the coarsest such partition, found by refining). A graph in which
// that takes too long, such as one sentence of very many words, comes back as it is.
StateGraph minimise(const StateGraph &graph, const BuildProgress &progress, uint64_t most_steps = kMostMinimisingSteps);

// States that can be reached, numbered breadth first, so that what is searched together lies together.
StateGraph order_breadth_first(const StateGraph &graph);

GraphData pack(const StateGraph &graph, const std::vector<Transition> &transitions, uint32_t n_pdfs, uint32_t n_words);

}  // namespace asr
