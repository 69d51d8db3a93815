// SPDX-License-Identifier: Apache-2.0
// LoadedGraph is a graph that an engine searches: its words, search settings and silent phones, and its arrays on the devices
// of the engine. Its users hold it: the engine by a name, in a GraphTable, and every utterance decoded with it. Only the arrays
// on devices change.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "core/engine/given_boost.h"
#include "core/engine/loaded_model.h"
#include "core/graph/archive.h"

namespace asr {

class LoadedGraph {
 public:
  // Throws if the graph was not made for the model.
  LoadedGraph(GraphParts parts, const LoadedModel &model);

  const Graph &graph() const { return *graph_; }
  const std::vector<std::string> &words() const { return words_.words; }
  // Returns the words by their text. The first call makes the index, in some 50 ms for a hundred thousand words.
  const WordIndex &index() const {
    std::call_once(indexed_, [this] { index_.emplace(words_.words); });
    return *index_;
  }
  const WordLabel *label(uint32_t word) const { return words_.labels.empty() ? nullptr : &words_.labels[word]; }
  const DecodingDefaults &decoding() const { return decoding_; }
  // Returns true if the transition belongs to a phone of the filler words: silence and noises.
  bool is_silence(uint32_t transition_id) const {
    const uint32_t phone = graph_->transition(transition_id).phone;
    return phone < is_silent_phone_.size() && is_silent_phone_[phone];
  }

  // Returns true if the transition belongs to garbage: speech between words (docs/keywords.md).
  bool is_garbage(uint32_t transition_id) const {
    return graph_->transition(transition_id).position == kAnyPosition && !is_silence(transition_id);
  }

  // Returns, by state of the acoustic model, whether any transition of silence leads to it.
  const std::vector<bool> &silent_states() const { return is_silent_state_; }

  // Returns the graph on the model's device, loaded by the first call. On the thread that calls that device.
  std::shared_ptr<asr_backend_graph> on(const LoadedModel &model);

 private:
  explicit LoadedGraph(GraphParts parts);

  const std::vector<bool> is_silent_phone_;
  const DecodingDefaults decoding_;
  const WordTable words_;
  const std::shared_ptr<Graph> graph_;  // back ends read its arrays
  const std::vector<bool> is_silent_state_;
  DeviceCopies<std::shared_ptr<asr_backend_graph>> copies_;
  mutable std::once_flag indexed_;
  mutable std::optional<WordIndex> index_;
};

// A name's graph, which may be replaced, and the name's boosts, which then stay. A removed name stays for the streams that have
// chosen it.
class NamedGraph {
 public:
  // of_all: the boosts of all names; nullptr: there are none.
  explicit NamedGraph(std::shared_ptr<LoadedGraph> graph, std::shared_ptr<const StandingBoosts> of_all = nullptr)
      : graph_(std::move(graph)), of_all_(std::move(of_all)) {}
  std::shared_ptr<LoadedGraph> get() const {
    const std::lock_guard lock(mutex_);
    return graph_;
  }
  void set(std::shared_ptr<LoadedGraph> graph) noexcept {
    const std::lock_guard lock(mutex_);
    graph_.swap(graph);  // the old graph is freed after the lock is released
  }
  StandingBoosts &boosts() { return boosts_; }
  GivenBoosts all_boosts() const {  // its own, and those of all names
    GivenBoosts boosts;
    if (of_all_) of_all_->append_to(&boosts);
    boosts_.append_to(&boosts);
    return boosts;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<LoadedGraph> graph_;
  StandingBoosts boosts_;
  const std::shared_ptr<const StandingBoosts> of_all_;
};

using GraphName = std::shared_ptr<NamedGraph>;

// Maps names to the graphs of an engine. A stream holds the name that it has chosen, and looks up its graph when an utterance
// begins. Any thread may call.
class GraphTable {
 public:
  void set(const std::string &name, std::shared_ptr<LoadedGraph> graph);
  GraphName find(const std::string &name) const;                       // nullptr if not found
  GraphName require(const std::string &name, const char *call) const;  // throws ASR_NOT_FOUND
  void remove(const std::string &name, const char *call);              // throws ASR_NOT_FOUND
  StandingBoosts &boosts() { return *boosts_; }                        // of all names
  std::vector<std::shared_ptr<LoadedGraph>> graphs() const;

 private:
  mutable std::mutex mutex_;
  std::map<std::string, GraphName> graphs_;
  const std::shared_ptr<StandingBoosts> boosts_ = std::make_shared<StandingBoosts>();
};

}  // namespace asr
