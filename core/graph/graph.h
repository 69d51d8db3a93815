// SPDX-License-Identifier: Apache-2.0
// A decoding graph: the arrays of asr_graph_view, the meaning of transition-ids, and graph.bin, its packed form. The graph
// builder and the importers of foreign graphs make a GraphData and write it; the engine reads the file.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/base/shared_copy.h"
#include "core/graph/growing_array.h"
#include "core/graph/packed/pack.h"
#include "core/model/bundle.h"
#include "core/model/hmm_set.h"

namespace asr {

struct GraphData {
  uint32_t start_state = 0;
  std::vector<uint32_t> emitting_begin, epsilon_begin;  // [n_states + 1]
  GrowingArray<asr_graph_arc> arcs;
  std::vector<float> final_costs;
  std::vector<Transition> transitions;  // [n_transition_ids + 1]; [0] unused
  uint32_t n_pdfs = 0;
  uint32_t n_words = 0;  // word ids are < n_words

  uint32_t n_states() const { return static_cast<uint32_t>(final_costs.size()); }
};

void write_graph(const GraphData &graph, const FileAt &place);  // graph.bin, layout in docs/graph-file.md
std::string graph_bytes(const GraphData &graph);                // the same bytes in memory

// Graph is an immutable graph.bin in memory with every index checked. A search cannot leave the arrays, even if the file
// changes.
class Graph {
 public:
  // `listed`: the bundle's entry of the file, to compare with; may be nullptr.
  explicit Graph(const std::string &path, const BundleFile *listed = nullptr);
  Graph(FileCopy bytes, const std::string &path);  // `path` names the bytes in errors

  // Loads the graph on a device: packed if that has ASR_BACKEND_PACKED_GRAPH, else as unpack() returns it. Arrays no longer
  // needed by the back end are freed; the others stay as long as this object. `again`: the graph may later be loaded on a
  // device that accepts it packed; otherwise this is the only call.
  asr_status load(const asr_backend_api &api, bool packed, asr_backend_device *device, asr_backend_graph **loaded,
                  bool again = false);

  const asr_packed_graph &packed() const { return packed_; }  // valid until unpack()
  // Returns the arrays and frees the packed form.
  const asr_graph_view &unpack();

  uint32_t n_states() const { return packed_.n_states; }
  uint64_t n_arcs() const { return packed_.n_arcs; }
  uint64_t n_emitting_arcs() const { return packed_.n_emitting_arcs; }
  uint32_t n_pdfs() const { return packed_.n_pdfs; }
  uint32_t n_transition_ids() const { return packed_.n_transition_ids; }
  uint32_t n_words() const { return packed_.n_words; }
  const Transition &transition(uint32_t id) const { return transitions_[id]; }
  bool has_word_positions() const { return has_word_positions_; }  // some phone has word positions

 private:
  SharedCopy file_;
  std::vector<uint32_t> pdf_of_;
  std::vector<Transition> transitions_;
  bool has_word_positions_ = false;
  asr_packed_graph packed_{};
  UnpackedArrays arrays_;
  asr_graph_view view_{};

  Graph(SharedCopy checked, const std::string &path);
  asr_graph_view counts() const;
  void unpack_arrays();
  void release_arrays();
  void release_packed();
};

}  // namespace asr
