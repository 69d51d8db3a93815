// SPDX-License-Identifier: Apache-2.0
// Timeline holds how far a stream's input was fed, and what the user asked for at which position of it: ends and cancellations
// of utterances, graphs and boosts. The user's calls are stamped with the present position; the engine, which is behind, takes
// them when it comes there. A Timeline belongs to an Intake, whose lock guards it.
//
// Positions count values of the intake; the engine counts frames. A request that is made within a frame is for the next one.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <utility>
#include <vector>

#include "core/base/error.h"
#include "core/base/limits.h"
#include "core/engine/given_boost.h"
#include "core/engine/loaded_graph.h"

namespace asr {

class Timeline {
 public:
  // frame_values: values per frame shift. graph: that of utterances before the first choice. is_one_utterance: all boosts are
  // for the result of a stream's only utterance.
  Timeline(size_t frame_values, GraphName graph, bool is_one_utterance)
      : frame_values_(frame_values), is_one_utterance_(is_one_utterance), graph_(std::move(graph)) {}

  uint64_t position() const { return position_; }
  void advance(size_t n_values) { position_ += n_values; }

  // asr_end_utterance: values beyond an end are not taken before it is passed.
  void end() {
    if (ends_.empty() || ends_.back() < position_) ends_.push_back(position_);
    last_end_ = position_;
    has_end_ = true;
  }
  bool has_end() const { return !ends_.empty(); }
  uint64_t next_end() const { return ends_.empty() ? UINT64_MAX : ends_.front(); }
  void pass_end() { ends_.pop_front(); }
  bool is_at_end() const { return has_end_ && last_end_ == position_; }  // nothing was fed since the last end

  // asr_cancel_utterance: an utterance that begins before the kept frame has no result, unless that is posted.
  void cancel() { cancelled_ = position_; }
  uint64_t kept_frame() const { return frame_of(cancelled_); }

  // asr_set_graph: a choice is for utterances of later audio. take_graph() returns the graph of an utterance whose first sound
  // is in this frame; frames must not decrease.
  void choose_graph(GraphName graph) {
    if (graphs_.empty() || graphs_.back().frame < frame_of(position_)) graphs_.push_back({frame_of(position_), nullptr});
    graphs_.back().name = std::move(graph);
  }
  std::shared_ptr<LoadedGraph> take_graph(uint64_t frame) {
    pass_graphs(frame);
    return graph_->get();
  }
  const GraphName &taken_graph() const { return graph_; }  // the name of the graph that was taken last
  const GraphName &last_graph() const { return graphs_.empty() ? graph_ : graphs_.back().name; }  // chosen for later audio
  uint64_t next_graph_frame() const { return graphs_.empty() ? UINT64_MAX : graphs_.front().frame; }

  // asr_boost: a boost is for the first utterance with a result that ends later. n_bytes: of its text.
  void boost(std::shared_ptr<const GivenBoost> boost, size_t n_bytes) {
    if (boost->given().phrases.empty()) return;
    if (n_valid_ + n_bytes > kMaxBoostBytes || n_kept_ + n_bytes > kMaxKeptBytes) {
      fail(ASR_UNSUPPORTED, "asr_boost: the phrases that wait for an utterance would have %zu bytes; the most is %zu",
           n_valid_ + n_bytes, kMaxBoostBytes);
    }
    boosts_.push_back({frame_of(position_), n_bytes, n_forgotten_, std::move(boost)});
    n_valid_ += n_bytes;
    n_kept_ += n_bytes;
  }
  // Removes earlier boosts. An utterance that ended before this position may still take those made before it.
  void forget_boosts() {
    while (!boosts_.empty() && (is_one_utterance_ || boosts_.back().frame == frame_of(position_))) {
      let_go(boosts_.back());
      boosts_.pop_back();
    }
    ++n_forgotten_;
    n_valid_ = 0;
    boosts_.push_back({frame_of(position_), 0, n_forgotten_, nullptr});
  }
  // Returns the boosts of an utterance that ends before this frame, and of earlier utterances without a result.
  GivenBoosts take_boosts(uint64_t end_frame) {
    take_boosts_before(end_frame);
    GivenBoosts boosts;
    for (const BoostChoice &choice : taken_boosts_) boosts.push_back(choice.boost);
    return boosts;
  }
  void pass_boosts() noexcept {  // the utterance has its result
    for (const BoostChoice &choice : taken_boosts_) let_go(choice);
    taken_boosts_.clear();
  }

  // No utterance will begin before this frame, nor any later one end.
  void pass_to(uint64_t frame) {
    pass_graphs(frame);
    take_boosts_before(frame);
  }

 private:
  struct GraphChoice {
    uint64_t frame;
    GraphName name;
  };
  struct BoostChoice {
    uint64_t frame;
    size_t n_bytes;
    uint64_t n_forgotten;                     // number of earlier calls that removed boosts
    std::shared_ptr<const GivenBoost> boost;  // nullptr: removes the earlier ones
  };
  static constexpr size_t kMaxKeptBytes = 16 * kMaxBoostBytes;  // including removed boosts that no utterance has passed yet

  uint64_t frame_of(uint64_t position) const { return (position + frame_values_ - 1) / frame_values_; }
  void pass_graphs(uint64_t frame) {
    for (; !graphs_.empty() && graphs_.front().frame <= frame; graphs_.pop_front()) graph_ = graphs_.front().name;
  }
  void take_boosts_before(uint64_t frame) {
    for (; !boosts_.empty() && boosts_.front().frame < frame; boosts_.pop_front()) {
      if (boosts_.front().boost) {
        taken_boosts_.push_back(std::move(boosts_.front()));
      } else {
        pass_boosts();
      }
    }
  }
  void let_go(const BoostChoice &choice) noexcept {
    n_kept_ -= choice.n_bytes;
    if (choice.n_forgotten == n_forgotten_) n_valid_ -= choice.n_bytes;
  }

  const size_t frame_values_;
  const bool is_one_utterance_;
  uint64_t position_ = 0;
  std::deque<uint64_t> ends_;
  uint64_t last_end_ = 0, cancelled_ = 0;
  bool has_end_ = false;
  GraphName graph_;  // the choice that was passed last
  std::deque<GraphChoice> graphs_;
  std::deque<BoostChoice> boosts_, taken_boosts_;
  uint64_t n_forgotten_ = 0;
  size_t n_valid_ = 0, n_kept_ = 0;  // bytes in both without the removed ones; bytes of all
};

}  // namespace asr
