// SPDX-License-Identifier: Apache-2.0
#include "core/engine/loaded_graph.h"

#include <set>
#include <utility>

#include "core/base/error.h"

namespace asr {

namespace {

GraphParts made_for(GraphParts parts, const LoadedModel &model) {
  check_made_for(parts, model.bundle(), model.n_states());
  return parts;
}

// Returns a flag per phone number; phones.txt counts from 1, as <eps> is 0.
std::vector<bool> silent_phones(const GraphParts &parts) {
  std::set<std::string> silent;
  for (const auto &[word, phones] : parts.bundle.filler_words) silent.insert(phones.begin(), phones.end());
  std::vector<bool> result;
  for (size_t i = 1; i < parts.phones.size(); ++i) result.push_back(silent.count(parts.phones[i]) > 0);
  return result;
}

std::vector<bool> find_silent_states(const Graph &graph, const std::vector<bool> &is_silent_phone) {
  std::vector<bool> result(graph.n_pdfs());
  for (uint32_t id = 1; id <= graph.n_transition_ids(); ++id) {
    const Transition &transition = graph.transition(id);
    if (transition.phone < is_silent_phone.size() && is_silent_phone[transition.phone]) result[transition.pdf] = true;
  }
  return result;
}

[[noreturn]] void fail_missing_graph(const std::string &name, const char *call) {
  fail(ASR_NOT_FOUND, "%s: the engine has no graph \"%s\"; add it with asr_engine_add_graph", call, name.c_str());
}

}  // namespace

LoadedGraph::LoadedGraph(GraphParts parts, const LoadedModel &model) : LoadedGraph(made_for(std::move(parts), model)) {}

LoadedGraph::LoadedGraph(GraphParts parts)
    : is_silent_phone_(silent_phones(parts)),
      decoding_(parts.bundle.decoding),
      words_(std::move(parts.words)),
      graph_(std::make_shared<Graph>(std::move(parts.graph))),
      is_silent_state_(find_silent_states(*graph_, is_silent_phone_)) {}

std::shared_ptr<asr_backend_graph> LoadedGraph::on(const LoadedModel &model) {
  return copies_.on(model.objects(), [&] {
    asr_backend_graph *loaded = nullptr;
    const bool again = !model.options().fallback.empty();  // the CPU may load it later, packed
    const Device &device = model.searcher();
    const bool packed = device.has(ASR_BACKEND_PACKED_GRAPH);
    const asr_status status = graph_->load(*device.api(), packed, device.get(), &loaded, again);
    BackendPointer<asr_backend_graph> owner(device.made(status, loaded, "load_graph"), device.api()->free_graph);
    return model.objects().hold(std::move(owner), graph_);
  });
}

void GraphTable::set(const std::string &name, std::shared_ptr<LoadedGraph> graph) {
  auto added = std::make_shared<NamedGraph>(graph, boosts_);
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = graphs_.try_emplace(name, std::move(added));
  if (!is_new) place->second->set(std::move(graph));
}

GraphName GraphTable::find(const std::string &name) const {
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(name);
  return found == graphs_.end() ? nullptr : found->second;
}

GraphName GraphTable::require(const std::string &name, const char *call) const {
  GraphName found = find(name);
  if (!found) fail_missing_graph(name, call);
  return found;
}

std::vector<std::shared_ptr<LoadedGraph>> GraphTable::graphs() const {
  std::vector<std::shared_ptr<LoadedGraph>> graphs;
  const std::lock_guard lock(mutex_);
  for (const auto &[name, graph] : graphs_) graphs.push_back(graph->get());
  return graphs;
}

void GraphTable::remove(const std::string &name, const char *call) {
  GraphName removed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(name);
  if (found == graphs_.end()) fail_missing_graph(name, call);
  removed = std::move(found->second);
  graphs_.erase(found);
}

}  // namespace asr
