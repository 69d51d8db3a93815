// SPDX-License-Identifier: Apache-2.0
// GraphTable maps names to the graphs of an engine. A stream holds the name that it has chosen, and looks up its graph when an
// utterance begins. Any thread may call.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "core/engine/loaded_graph.h"

namespace asr {

// A name's graph, which may be replaced. A removed name stays for the streams that have chosen it.
class NamedGraph {
 public:
  explicit NamedGraph(std::shared_ptr<LoadedGraph> graph) : graph_(std::move(graph)) {}
  std::shared_ptr<LoadedGraph> get() const {
    const std::lock_guard lock(mutex_);
    return graph_;
  }
  void set(std::shared_ptr<LoadedGraph> graph) noexcept {
    const std::lock_guard lock(mutex_);
    graph_.swap(graph);  // the old graph is freed after the lock is released
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<LoadedGraph> graph_;
};

using GraphName = std::shared_ptr<NamedGraph>;

class GraphTable {
 public:
  void set(const std::string &name, std::shared_ptr<LoadedGraph> graph);
  GraphName find(const std::string &name) const;                       // nullptr if not found
  GraphName require(const std::string &name, const char *call) const;  // throws ASR_NOT_FOUND
  void remove(const std::string &name, const char *call);              // throws ASR_NOT_FOUND

 private:
  mutable std::mutex mutex_;
  std::map<std::string, GraphName> graphs_;
};

}  // namespace asr
