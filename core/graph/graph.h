// SPDX-License-Identifier: Apache-2.0
// A decoding graph: the arrays of asr_graph_view plus what a transition-id means, read from graph.bin. The graph builder and
// the importers of foreign graphs make a GraphData and write it; the engine reads the file into memory of its own.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/file.h"
#include "core/model/hmm_set.h"

namespace asr {

struct GraphData {
  uint32_t start_state = 0;
  std::vector<uint32_t> emitting_begin, epsilon_begin;  // [n_states + 1]
  std::vector<asr_graph_arc> arcs;
  std::vector<float> final_costs;
  std::vector<Transition> transitions;  // [n_transition_ids + 1]; [0] unused
  uint32_t n_pdfs = 0;
  uint32_t n_words = 0;  // word ids are < n_words

  uint32_t n_states() const { return static_cast<uint32_t>(final_costs.size()); }
};

void write_graph(const GraphData &graph, const std::string &path);  // graph.bin, layout in docs/graph-file.md

// A graph.bin in memory of its own, with every index checked: a search cannot leave the arrays, whatever becomes of the file.
class Graph {
 public:
  explicit Graph(const std::string &path);
  const asr_graph_view *view() const { return &view_; }
  // Frees the view's arrays, but for pdf_of, if the one back end that loaded the view has said that it needs them no more.
  void release_pages();
  const Transition &transition(uint32_t id) const { return transitions_[id]; }
  uint32_t n_words() const { return n_words_; }

 private:
  FileCopy file_;
  std::vector<uint32_t> pdf_of_;
  std::vector<Transition> transitions_;
  uint32_t n_words_ = 0;
  std::unique_ptr<uint32_t> arrays_in_use_ = std::make_unique<uint32_t>(1);  // what the view points at; stays where it is
  asr_graph_view view_{};
};

}  // namespace asr
