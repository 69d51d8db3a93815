// SPDX-License-Identifier: Apache-2.0
// GraphChoices holds the graph names chosen for a stream's next utterances (asr_set_graph), each with the frame that the stream
// had been fed to. A choice is for utterances of audio fed later. The user chooses on any thread; the engine's thread takes.
#pragma once

#include <deque>
#include <memory>
#include <mutex>
#include <utility>

#include "core/engine/graph_table.h"

namespace asr {

class GraphChoices {
 public:
  explicit GraphChoices(GraphName first) : first_(std::move(first)), taken_(first_) {}

  const GraphName &first() const { return first_; }

  // The user's side. fed_to() returns the first frame that was not fed; it never decreases.
  template <typename FedTo>
  void choose(GraphName name, FedTo fed_to) {
    const std::lock_guard lock(mutex_);
    const uint64_t frame = fed_to();
    if (waiting_.empty() || waiting_.back().frame < frame) waiting_.push_back({frame, nullptr});
    waiting_.back().name = std::move(name);
  }

  // The engine's side: returns the graph of an utterance whose first sound is in this frame; frames must not decrease.
  std::shared_ptr<LoadedGraph> take(uint64_t frame) {
    const std::lock_guard lock(mutex_);
    pass_locked(frame);
    return taken_->get();
  }
  // Declares that no utterance will begin before this frame.
  void pass(uint64_t frame) {
    const std::lock_guard lock(mutex_);
    pass_locked(frame);
  }
  // Returns the frame of the first choice not yet taken; the largest number if there is none.
  uint64_t next_frame() const {
    const std::lock_guard lock(mutex_);
    return waiting_.empty() ? UINT64_MAX : waiting_.front().frame;
  }

 private:
  struct Choice {
    uint64_t frame;
    GraphName name;
  };

  void pass_locked(uint64_t frame) {
    for (; !waiting_.empty() && waiting_.front().frame <= frame; waiting_.pop_front()) taken_ = waiting_.front().name;
  }

  const GraphName first_;
  mutable std::mutex mutex_;
  GraphName taken_;
  std::deque<Choice> waiting_;
};

}  // namespace asr
