// SPDX-License-Identifier: Apache-2.0
#include "core/graph/packed/marked_places.h"
#include "core/graph/packed/pack.h"

namespace asr {
namespace {

class Unpacker {
 public:
  explicit Unpacker(const asr_packed_graph &graph)
      : graph_(graph), states_(graph.n_units), epsilon_(static_cast<uint32_t>(graph.n_emitting_arcs)) {}

  UnpackedArrays run() {
    number_states();
    arrays_.emitting_begin.reserve(graph_.n_states + size_t{1});
    arrays_.epsilon_begin.reserve(graph_.n_states + size_t{1});
    arrays_.final_costs.reserve(graph_.n_states);
    arrays_.arcs.resize(graph_.n_arcs);
    for (uint64_t place = 0; place < graph_.n_units; place += add_state(static_cast<uint32_t>(place))) {
    }
    arrays_.emitting_begin.push_back(emitting_);
    arrays_.epsilon_begin.push_back(epsilon_);
    arrays_.start_state = states_.number_of(graph_.start_state);
    return std::move(arrays_);
  }

 private:
  const asr_packed_graph &graph_;
  MarkedPlaces states_;
  UnpackedArrays arrays_;
  uint32_t emitting_ = 0, epsilon_;  // next index of each kind

  void number_states() {
    for (uint64_t place = 0; place < graph_.n_units; place += graph_.units_of(static_cast<uint32_t>(place))) {
      states_.mark(static_cast<uint32_t>(place));
    }
    states_.count();
  }

  // Returns the length of its record.
  uint64_t add_state(uint32_t place) {
    const StateRecord record = graph_.state(place);
    arrays_.emitting_begin.push_back(emitting_);
    arrays_.epsilon_begin.push_back(epsilon_);
    arrays_.final_costs.push_back(record.final_cost);
    const auto add_loop = [&] {
      const StateClass &own = graph_.classes[record.state_class];
      arrays_.arcs[emitting_++] = {states_.number_of(place), own.loop_id, 0, own.cost};
    };
    const float *cost = record.own_costs();
    const uint32_t *word = reinterpret_cast<const uint32_t *>(cost);
    for (const PackedArc *arc = record.arcs; arc != record.last_arc(); ++arc) {
      word += graph_.cost_code(arc->label) == graph_.own_cost_code() ? 1 : 0;
    }
    const auto add = [&](const PackedArc &arc, uint32_t transition_id, uint32_t *index) {
      const uint32_t code = graph_.cost_code(arc.label);
      const float graph_cost = code == graph_.own_cost_code() ? *cost++ : graph_.costs[code];
      const uint32_t arc_word = (arc.label & PackedArc::kWord) != 0 ? *word++ : 0;
      arrays_.arcs[(*index)++] = {states_.number_of(arc.next), transition_id, arc_word, graph_cost};
    };
    record.for_each_emitting([&](const PackedArc &arc) { add(arc, graph_.transition_id(graph_.number_of(arc)), &emitting_); },
                             add_loop);
    for (const PackedArc *arc = record.last_emitting(); arc != record.last_arc(); ++arc) add(*arc, 0, &epsilon_);
    return static_cast<uint64_t>(word - (graph_.records + place));
  }
};

}  // namespace

UnpackedArrays unpack_graph(const asr_packed_graph &graph) { return Unpacker(graph).run(); }

}  // namespace asr
