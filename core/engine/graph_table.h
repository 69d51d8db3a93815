// SPDX-License-Identifier: Apache-2.0
// The graphs of an engine by their names. A stream holds on to the name that it has chosen, and finds the graph that bears the
// name when an utterance begins. Any thread.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/engine/loaded_graph.h"

namespace asr {

// A name's graph, which may be replaced. Once the name is removed it stays for the streams that have chosen it.
class NamedGraph {
 public:
  explicit NamedGraph(std::shared_ptr<LoadedGraph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<LoadedGraph> get() const {
    const std::lock_guard lock(mutex_);
    return graph_;
  }
  void set(std::shared_ptr<LoadedGraph> graph) noexcept {
    const std::lock_guard lock(mutex_);
    graph_.swap(graph);  // the one before goes after the lock
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<LoadedGraph> graph_;
};

using GraphName = std::shared_ptr<NamedGraph>;

class GraphTable {
 public:
  void set(const std::string &name, std::shared_ptr<LoadedGraph> graph);
  GraphName find(const std::string &name) const;                       // nullptr if there is none
  GraphName require(const std::string &name, const char *call) const;  // throws ASR_NOT_FOUND
  void remove(const std::string &name, const char *call);              // throws ASR_NOT_FOUND

 private:
  mutable std::mutex mutex_;
  std::map<std::string, GraphName> graphs_;
};

}  // namespace asr
