// SPDX-License-Identifier: Apache-2.0
#include "plugins/common/search_path.h"

namespace asr {

void SearchPath::append(const PathStep &step, End *end) {
  const asr_graph_arc &arc = view_.arcs[step.arc];
  if (arc.transition_id != 0 || arc.word != 0) {
    arcs_.push_back({end->n_frames, arc.transition_id, arc.word, arc.graph_cost, step.acoustic_cost});
    ++end->n_arcs;
  }
  end->cost += double{arc.graph_cost} + (arc.word != 0 ? double{word_insertion_cost_} : 0.0) +
               double{acoustic_scale_} * double{step.acoustic_cost};
  if (arc.transition_id != 0) ++end->n_frames;
}

void SearchPath::settle(const PathStep *steps, size_t n_steps) {
  arcs_.resize(settled_.n_arcs);
  for (size_t i = 0; i < n_steps; ++i) append(steps[i], &settled_);
}

double SearchPath::path(const PathStep *steps, size_t n_steps) {
  End end = settled_;
  arcs_.resize(settled_.n_arcs);
  for (size_t i = n_steps; i-- > 0;) append(steps[i], &end);
  return end.cost;
}

}  // namespace asr
