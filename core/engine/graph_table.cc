// SPDX-License-Identifier: Apache-2.0
#include "core/engine/graph_table.h"

#include "core/base/error.h"

namespace asr {
namespace {

[[noreturn]] void fail_missing(const std::string &name, const char *call) {
  fail(ASR_NOT_FOUND, "%s: the engine has no graph \"%s\"; add it with asr_engine_add_graph", call, name.c_str());
}

}  // namespace

void GraphTable::set(const std::string &name, std::shared_ptr<LoadedGraph> graph) {
  auto added = std::make_shared<NamedGraph>(graph);
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
  if (!found) fail_missing(name, call);
  return found;
}

void GraphTable::remove(const std::string &name, const char *call) {
  GraphName removed;  // destroyed after the lock is released
  const std::lock_guard lock(mutex_);
  const auto found = graphs_.find(name);
  if (found == graphs_.end()) fail_missing(name, call);
  removed = std::move(found->second);
  graphs_.erase(found);
}

}  // namespace asr
