// SPDX-License-Identifier: Apache-2.0
#include "plugins/gpu/search/search_path.h"

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

void SearchPath::give_settled(asr_path *path) {
  arcs_.resize(settled_.n_arcs);
  settled_.n_arcs = 0;
  path->arcs = arcs_.data();
  path->n_arcs = arcs_.size();
}

SearchPath::End SearchPath::path(const PathStep *steps, size_t n_steps) {
  End end = settled_;
  arcs_.resize(settled_.n_arcs);
  for (size_t i = n_steps; i-- > 0;) append(steps[i], &end);
  return end;
}

void SearchPath::give(const PathStep *steps, size_t n_steps, const PathEnd &end, asr_path *path) {
  const size_t n_own = n_steps - end.n_common;
  path->n_common_arcs = this->path(steps + n_own, end.n_common).n_arcs;
  const double cost = this->path(steps, n_steps).cost;
  path->arcs = arcs_.data();
  path->n_arcs = arcs_.size();
  path->n_frames = end.n_frames;
  path->reached_final = end.reached_final ? 1 : 0;
  path->beam_died = end.died ? 1 : 0;
  path->final_cost = end.final_cost;
  path->total_cost = cost + double{end.final_cost};
  path->n_tokens = end.n_tokens;
  path->n_arcs_expanded = end.n_arcs_expanded;
}

}  // namespace asr
