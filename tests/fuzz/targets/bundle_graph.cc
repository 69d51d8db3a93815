// SPDX-License-Identifier: Apache-2.0
// Fuzzes graph.bin of a bundle.
#include <cmath>

#include "core/graph/graph.h"
#include "tests/fuzz/target.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

namespace {

GraphData small_graph() {
  GraphData graph;
  graph.start_state = 1;
  graph.arcs = {{1, 1, 0, 0.5f}, {2, 2, 1, 0.25f}, {0, 1, 2, 1}, {2, 0, 1, 0}, {0, 0, 0, 0.75f}};
  graph.emitting_begin = {0, 1, 2, 3};
  graph.epsilon_begin = {3, 4, 4, 5};
  graph.final_costs = {INFINITY, INFINITY, 0.5f};
  graph.transitions = {{}, {0, 0, 0, true, 0}, {1, kAnyPosition, 1, false, 1}};
  graph.n_pdfs = 2;
  graph.n_words = 3;
  return graph;
}

// Walks over everything that a loaded graph returns, packed as the CPU search reads it and unpacked as others do.
void visit_graph(const std::string &path) {
  Graph graph(path);
  const asr_packed_graph &packed = graph.packed();
  uint64_t sum = packed.state(packed.start_state).header;
  for (uint64_t place = 0; place < packed.n_units; place += packed.units_of(static_cast<uint32_t>(place))) {
    const StateRecord record = packed.state(static_cast<uint32_t>(place));
    if (record.has_loop()) {
      sum += packed.arc(asr_packed_graph::number_of_loop(static_cast<uint32_t>(place))).transition_id;
    }
    for (const PackedArc *arc = record.arcs; arc != record.last_arc(); ++arc) {
      const asr_graph_arc found = packed.arc(packed.number_of(*arc));
      sum += packed.state(found.next_state).header + graph.transition(found.transition_id).phone + found.word;
    }
  }
  const asr_graph_view &view = graph.unpack();
  sum += view.start_state;
  for (uint32_t s = 0; s < view.n_states; ++s) {
    for (uint32_t i = view.emitting_begin[s]; i < view.emitting_begin[s + 1]; ++i) {
      const asr_graph_arc &arc = view.arcs[i];
      sum += view.final_costs[arc.next_state] > 0 ? view.pdf_of[arc.transition_id] : graph.transition(arc.transition_id).phone;
    }
    for (uint32_t i = view.epsilon_begin[s]; i < view.epsilon_begin[s + 1]; ++i) sum += view.arcs[i].next_state;
  }
  static volatile uint64_t sink;
  sink = sum;
  (void)sink;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string path = directory() + "/graph.bin";
  write_graph(small_graph(), path);
  return {test::slurp(path)};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) { fuzz::visit_graph(fuzz::file("graph.bin", bytes)); });
}
