// SPDX-License-Identifier: Apache-2.0
// GivenBoost is a boost that a caller gave: for an utterance (Timeline), or for all utterances of a graph or of an engine
// (StandingBoosts). Any thread may call.
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/lattice/boost.h"

namespace asr {

class LoadedGraph;

class GivenBoost {
 public:
  explicit GivenBoost(Boost given, bool is_standing = false) : given_(std::move(given)), is_standing_(is_standing) {}

  const Boost &given() const { return given_; }
  bool is_standing() const { return is_standing_; }  // of all utterances, whose results need not tell each what is unheard
  // Returns the boost with the words of a graph. The first call for a graph looks them up, which takes milliseconds for
  // thousands of phrases, so that the callers' threads make it where they can.
  std::shared_ptr<const GraphBoost> of(const std::shared_ptr<LoadedGraph> &graph) const;

 private:
  const Boost given_;
  const bool is_standing_;
  mutable std::mutex mutex_;
  mutable std::vector<std::pair<std::weak_ptr<LoadedGraph>, std::shared_ptr<const GraphBoost>>> of_;
};

using GivenBoosts = std::vector<std::shared_ptr<const GivenBoost>>;

// Boosts that hold until they are removed.
class StandingBoosts {
 public:
  // Throws ASR_UNSUPPORTED if the texts would have more than kMaxBoostBytes.
  void add(std::shared_ptr<const GivenBoost> boost, size_t n_bytes);
  void clear() noexcept;
  void append_to(GivenBoosts *boosts) const;

 private:
  mutable std::mutex mutex_;
  GivenBoosts boosts_;
  size_t n_bytes_ = 0;
};

}  // namespace asr
