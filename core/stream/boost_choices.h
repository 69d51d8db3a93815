// SPDX-License-Identifier: Apache-2.0
// BoostChoices holds the boosts that a stream's user requested (asr_boost), each with the frame that the stream had been fed
// to. A boost is for the first utterance with a result that ends later. The user calls on any thread; the engine takes.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/lattice/boost.h"

namespace asr {

class BoostChoices {
 public:
  // is_one_utterance: all calls are for the result of a stream's only utterance.
  explicit BoostChoices(bool is_one_utterance) : is_one_utterance_(is_one_utterance) {}

  // The user's side. fed_to() returns the first frame that was not fed; it never decreases.
  template <typename FedTo>
  void choose(Boost boost, size_t n_bytes, FedTo fed_to) {
    const std::lock_guard lock(mutex_);
    const uint64_t frame = fed_to();
    if (boost.phrases.empty()) return;
    if (n_valid_ + n_bytes > kMostBoostBytes || n_kept_ + n_bytes > kMostKeptBytes) {
      fail(ASR_UNSUPPORTED, "asr_boost: the phrases that wait for an utterance would have %zu bytes; the most is %zu",
           n_valid_ + n_bytes, kMostBoostBytes);
    }
    waiting_.push_back({frame, n_bytes, n_forgotten_, std::make_shared<Boost>(std::move(boost))});
    n_valid_ += n_bytes;
    n_kept_ += n_bytes;
  }
  // Removes earlier choices. An utterance that ended before this frame may still take choices made before it.
  template <typename FedTo>
  void forget(FedTo fed_to) {
    const std::lock_guard lock(mutex_);
    const uint64_t frame = fed_to();
    while (!waiting_.empty() && (is_one_utterance_ || waiting_.back().frame == frame)) {
      let_go(waiting_.back());
      waiting_.pop_back();
    }
    ++n_forgotten_;
    n_valid_ = 0;
    waiting_.push_back({frame, 0, n_forgotten_, nullptr});
  }

  // The engine's side: returns the boosts of an utterance that ends before this frame, and of earlier utterances without a
  // result.
  Boosts take(uint64_t end_frame) {
    const std::lock_guard lock(mutex_);
    take_before(end_frame);
    Boosts boosts;
    for (const Choice &choice : taken_) boosts.push_back(choice.boost);
    return boosts;
  }
  // Declares that no later utterance ends before this frame.
  void pass_to(uint64_t frame) {
    const std::lock_guard lock(mutex_);
    take_before(frame);
  }
  // Declares that the utterance has its result.
  void pass() noexcept {
    const std::lock_guard lock(mutex_);
    clear_taken();
  }

 private:
  struct Choice {
    uint64_t frame;
    size_t n_bytes;                      // size of the text
    uint64_t n_forgotten;                // number of earlier calls that removed boosts
    std::shared_ptr<const Boost> boost;  // nullptr: removes the earlier ones
  };
  static constexpr size_t kMostKeptBytes = 16 * kMostBoostBytes;  // including removed boosts that no utterance has passed yet

  const bool is_one_utterance_;
  std::mutex mutex_;
  std::deque<Choice> waiting_, taken_;
  uint64_t n_forgotten_ = 0;
  size_t n_valid_ = 0, n_kept_ = 0;  // bytes in both without the removed ones; bytes of all

  void let_go(const Choice &choice) noexcept {
    n_kept_ -= choice.n_bytes;
    if (choice.n_forgotten == n_forgotten_) n_valid_ -= choice.n_bytes;
  }
  void clear_taken() noexcept {
    for (const Choice &choice : taken_) let_go(choice);
    taken_.clear();
  }
  void take_before(uint64_t frame) {
    for (; !waiting_.empty() && waiting_.front().frame < frame; waiting_.pop_front()) {
      if (waiting_.front().boost) {
        taken_.push_back(std::move(waiting_.front()));
      } else {
        clear_taken();
      }
    }
  }
};

}  // namespace asr
