// SPDX-License-Identifier: Apache-2.0
// Reads Kaldi's transition model, in all of its formats: topology, transition-states and transition-ids.
#include <algorithm>
#include <cmath>

#include "builder/import/kaldi_model.h"
#include "builder/import/sums.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr::kaldi {
namespace {

void check_entry(const TopologyEntry &entry, const ObjectReader &reader) {
  if (entry.size() > kMaxHmmStates + size_t{1}) {
    reader.fail_here(format("a topology has %zu states; up to %u emitting ones are possible", entry.size(), kMaxHmmStates));
  }
  if (entry.size() < 2) reader.fail_here("a topology has no emitting state");
  for (size_t s = 0; s < entry.size(); ++s) {
    const TopologyState &state = entry[s];
    const bool last = s + 1 == entry.size();
    if (last != (state.forward_class < 0) || last != state.arcs.empty()) {
      reader.fail_here(
          "a topology has a state that emits nothing before its last, or a last state that is not an exit; "
          "such models cannot be imported");
    }
    for (const TopologyArc &arc : state.arcs) {
      if (arc.to >= entry.size()) reader.fail_here("a topology has an arc to a state that it does not have");
    }
  }
}

TopologyEntry read_binary_entry(ObjectReader &reader, bool extended) {
  const uint32_t n_states = reader.count("number of topology states");
  if (n_states > kMaxHmmStates + 1) {
    reader.fail_here(format("a topology has %u states; up to %u emitting ones are possible", n_states, kMaxHmmStates));
  }
  TopologyEntry entry(n_states);
  for (TopologyState &state : entry) {
    state.forward_class = reader.integer("pdf class");
    state.self_loop_class = extended ? reader.integer("pdf class of the self-loop") : state.forward_class;
    const uint32_t n_arcs = reader.count("number of topology arcs");
    for (uint32_t i = 0; i < n_arcs; ++i) {
      const uint32_t to = reader.count("end of a topology arc");
      state.arcs.push_back({to, static_cast<float>(reader.real("probability of a topology arc"))});
    }
  }
  return entry;
}

void read_binary_topology(ObjectReader &reader, TransitionModel &model) {
  const std::vector<int32_t> phones = reader.integers("phones");
  model.entry_of = reader.integers("topologies of the phones");
  if (model.entry_of.size() > kMaxPhones) reader.fail_here("the topology lists more than 65534 phones; the file is damaged");
  int32_t n_entries = reader.integer("number of topologies");
  const bool extended = n_entries == -1;
  if (extended) n_entries = reader.integer("number of topologies");
  if (n_entries < 1) reader.fail_here("there are no topologies; the file is damaged");
  for (int32_t i = 0; i < n_entries; ++i) {
    model.entries.push_back(read_binary_entry(reader, extended));
    check_entry(model.entries.back(), reader);
  }
  for (const int32_t phone : phones) {
    const bool listed = phone > 0 && static_cast<size_t>(phone) < model.entry_of.size();
    if (!listed || model.entry_of[static_cast<size_t>(phone)] < 0) {
      reader.fail_here(format("phone %d has no topology; the file is damaged", phone));
    }
  }
  for (const int32_t entry : model.entry_of) {
    if (entry >= n_entries) reader.fail_here(format("topology %d of %d is referred to; the file is damaged", entry, n_entries));
  }
}

TopologyState read_text_state(ObjectReader &reader) {
  TopologyState state;
  for (;;) {
    const std::string token = reader.token("topology");
    if (token == "</State>") return state;
    if (token == "<PdfClass>") {
      state.forward_class = state.self_loop_class = reader.integer("pdf class");
    } else if (token == "<ForwardPdfClass>") {
      state.forward_class = reader.integer("pdf class");
    } else if (token == "<SelfLoopPdfClass>") {
      state.self_loop_class = reader.integer("pdf class of the self-loop");
    } else if (token == "<Transition>") {
      const uint32_t to = reader.count("end of a topology arc");
      state.arcs.push_back({to, static_cast<float>(reader.real("probability of a topology arc"))});
    } else {
      reader.fail_here("\"" + token.substr(0, 40) + "\" is not expected in a topology state");
    }
  }
}

void read_text_topology(ObjectReader &reader, TransitionModel &model) {
  while (reader.skip("<TopologyEntry>")) {
    const auto number = static_cast<int32_t>(model.entries.size());
    reader.expect("<ForPhones>");
    while (!reader.skip("</ForPhones>")) {
      const uint32_t phone = reader.count("number of a phone");
      if (phone == 0 || phone > kMaxPhones) reader.fail_here("the number of a phone is out of range");
      if (phone >= model.entry_of.size()) model.entry_of.resize(phone + 1, -1);
      if (model.entry_of[phone] >= 0) reader.fail_here(format("phone %u has two topologies", phone));
      model.entry_of[phone] = number;
    }
    TopologyEntry entry;
    while (reader.skip("<State>")) {
      if (reader.count("number of a topology state") != entry.size())
        reader.fail_here("the states of a topology are not in order");
      entry.push_back(read_text_state(reader));
    }
    check_entry(entry, reader);
    model.entries.push_back(std::move(entry));
    reader.expect("</TopologyEntry>");
  }
}

void read_states(ObjectReader &reader, TransitionModel &model) {
  const bool tuples = reader.skip("<Tuples>");
  if (!tuples) reader.expect("<Triples>");
  const uint32_t n = reader.count("number of transition-states");
  for (uint32_t i = 0; i < n; ++i) {
    TransitionState s{};
    s.phone = reader.count("phone of a transition-state");
    s.hmm_state = reader.count("HMM state of a transition-state");
    s.forward_pdf = reader.count("pdf of a transition-state");
    s.self_loop_pdf = tuples ? reader.count("self-loop pdf of a transition-state") : s.forward_pdf;
    if (s.phone >= model.entry_of.size() || model.entry_of[s.phone] < 0) {
      reader.fail_here(format("transition-state %u is of phone %u, which has no topology", i + 1, s.phone));
    }
    if (s.hmm_state + size_t{1} >= model.entries[static_cast<size_t>(model.entry_of[s.phone])].size()) {
      reader.fail_here(format("transition-state %u is of HMM state %u, which does not emit", i + 1, s.hmm_state));
    }
    model.states.push_back(s);
  }
  reader.expect(tuples ? "</Tuples>" : "</Triples>");
}

// The probabilities of the transitions from a state add up to 1.
void check_sums(const ObjectReader &reader, const TransitionModel &model) {
  std::vector<double> sums(model.states.size(), 0);
  for (size_t id = 1; id < model.ids.size(); ++id) sums[model.ids[id].state] += std::exp(double{model.log_probs[id]});
  for (size_t s = 0; s < sums.size(); ++s) {
    if (adds_up_to_one(sums[s])) continue;
    const TransitionState &state = model.states[s];
    reader.fail_here(format(
        "the probabilities of the transitions from transition-state %zu (phone %u, HMM state %u) add up to %g, not 1; the "
        "file is damaged",
        s + 1, state.phone, state.hmm_state, sums[s]));
  }
}

}  // namespace

TransitionModel read_transition_model(ObjectReader &reader) {
  TransitionModel model;
  reader.expect("<TransitionModel>");
  reader.expect("<Topology>");
  if (reader.binary()) {
    read_binary_topology(reader, model);
  } else {
    read_text_topology(reader, model);
  }
  reader.expect("</Topology>");
  read_states(reader, model);

  uint64_t n_ids = 0;
  for (const TransitionState &state : model.states) n_ids += model.topology_state(state).arcs.size();
  reader.expect("<LogProbs>");
  model.log_probs = reader.vector<float>("transition probabilities");
  if (model.log_probs.size() != n_ids + 1) {  // bounds the number of transition-ids by the size of the file
    reader.fail_here(
        format("there are %zu transition probabilities, but %llu transition-ids and one unused; the file is damaged",
               model.log_probs.size(), static_cast<unsigned long long>(n_ids)));
  }
  model.ids.push_back({0, 0});
  for (uint32_t s = 0; s < model.states.size(); ++s) {
    const TransitionState &state = model.states[s];
    const auto n_arcs = static_cast<uint32_t>(model.topology_state(state).arcs.size());
    for (uint32_t arc = 0; arc < n_arcs; ++arc) model.ids.push_back({s, arc});
    model.n_pdfs = std::max({model.n_pdfs, state.forward_pdf + 1, state.self_loop_pdf + 1});
  }
  for (size_t id = 1; id < model.log_probs.size(); ++id) {
    if (!(std::abs(model.log_probs[id]) <= kMaxLogProbability))
      reader.fail_here(format("the probability of transition-id %zu is not a number", id));
  }
  check_sums(reader, model);
  reader.expect("</LogProbs>");
  reader.expect("</TransitionModel>");
  return model;
}

}  // namespace asr::kaldi
