// SPDX-License-Identifier: Apache-2.0
// The boosts that a stream's user has asked for (asr_boost), each with the frame that the stream had been fed to: they are for
// the first utterance with a result that ends later. The user asks on any thread; the engine takes.
#pragma once

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/lattice/boost.h"

namespace asr {

class BoostChoices {
 public:
  // The user's side. fed_to() gives the first frame of which nothing was fed; it never decreases.
  template <typename FedTo>
  void choose(Boost boost, size_t n_bytes, FedTo fed_to) {
    const std::lock_guard lock(mutex_);
    const uint64_t frame = fed_to();
    if (boost.phrases.empty()) return;
    size_t n_waiting = n_bytes;
    for (const Choice &choice : waiting_) n_waiting += choice.n_bytes;
    if (n_waiting > kMostBoostBytes) {
      fail(ASR_UNSUPPORTED, "asr_boost: the phrases that wait for an utterance have %zu bytes; the most is %zu", n_waiting,
           kMostBoostBytes);
    }
    waiting_.push_back({frame, n_bytes, std::move(boost)});
  }
  // Takes back what was chosen before.
  template <typename FedTo>
  void forget(FedTo fed_to) {
    const std::lock_guard lock(mutex_);
    const uint64_t frame = fed_to();
    while (!waiting_.empty() && waiting_.back().frame == frame) waiting_.pop_back();
    waiting_.push_back({frame, 0, {}});
  }

  // The engine's side: the boosts of an utterance that ends with the frame before this one, and of those before it that had no
  // result.
  std::vector<Boost> take(uint64_t end_frame) {
    const std::lock_guard lock(mutex_);
    for (; !waiting_.empty() && waiting_.front().frame < end_frame; waiting_.pop_front()) {
      Boost &boost = waiting_.front().boost;
      if (boost.phrases.empty()) {
        taken_.clear();
      } else {
        taken_.push_back(std::move(boost));
      }
    }
    return taken_;
  }
  // The utterance has its result.
  void pass() noexcept {
    const std::lock_guard lock(mutex_);
    taken_.clear();
  }

 private:
  struct Choice {
    uint64_t frame;
    size_t n_bytes;  // of the text
    Boost boost;     // without phrases: those before are taken back
  };

  std::mutex mutex_;
  std::deque<Choice> waiting_;
  std::vector<Boost> taken_;
};

}  // namespace asr
