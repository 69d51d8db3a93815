// SPDX-License-Identifier: Apache-2.0
// A decoding graph: the arrays of asr_graph_view plus what a transition-id means, mapped from graph.bin. The graph builder
// and the importers of foreign graphs make a GraphData and write it; the engine maps the file.
#pragma once

#include <cstdint>
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

void write_graph(const GraphData &graph, const std::string &path);  // graph.bin, layout in docs/bundle.md

// A mapped graph.bin. Every index is checked on load, so that a search cannot leave the arrays.
class Graph {
 public:
  explicit Graph(const std::string &path);
  const asr_graph_view *view() const { return &view_; }
  void release_pages() const { file_.release_pages(); }  // once a back end has repacked what it reads often
  const Transition &transition(uint32_t id) const { return transitions_[id]; }
  uint32_t n_words() const { return n_words_; }

 private:
  MappedFile file_;
  std::vector<uint32_t> pdf_of_;
  std::vector<Transition> transitions_;
  uint32_t n_words_ = 0;
  asr_graph_view view_{};
};

}  // namespace asr
