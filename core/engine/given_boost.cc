// SPDX-License-Identifier: Apache-2.0
#include "core/engine/given_boost.h"

#include <algorithm>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/engine/loaded_graph.h"

namespace asr {

std::shared_ptr<const GraphBoost> GivenBoost::of(const std::shared_ptr<LoadedGraph> &graph) const {
  {
    const std::lock_guard lock(mutex_);
    for (const auto &[known, boost] : of_) {
      if (!known.owner_before(graph) && !graph.owner_before(known)) return boost;
    }
  }
  std::shared_ptr<const GraphBoost> boost = std::make_shared<GraphBoost>(given_, graph->index());
  const std::lock_guard lock(mutex_);
  of_.erase(std::remove_if(of_.begin(), of_.end(), [](const auto &entry) { return entry.first.expired(); }), of_.end());
  of_.emplace_back(graph, boost);
  return boost;
}

void StandingBoosts::add(std::shared_ptr<const GivenBoost> boost, size_t n_bytes) {
  const std::lock_guard lock(mutex_);
  if (n_bytes_ + n_bytes > kMaxBoostBytes) {
    fail(ASR_UNSUPPORTED, "asr_engine_boost: the phrases would have %zu bytes; the most is %zu", n_bytes_ + n_bytes,
         kMaxBoostBytes);
  }
  boosts_.push_back(std::move(boost));
  n_bytes_ += n_bytes;
}

void StandingBoosts::clear() noexcept {
  const std::lock_guard lock(mutex_);
  boosts_.clear();
  n_bytes_ = 0;
}

void StandingBoosts::append_to(GivenBoosts *boosts) const {
  const std::lock_guard lock(mutex_);
  boosts->insert(boosts->end(), boosts_.begin(), boosts_.end());
}

}  // namespace asr
