// SPDX-License-Identifier: Apache-2.0
// Utterance decodes one utterance of a stream: it holds the search channel on the device, and the progress. Only the engine's
// thread uses it.
#pragma once

#include <memory>
#include <vector>

#include "core/decode/endpointer.h"
#include "core/session/results.h"

namespace asr {

class Utterance {
 public:
  // Begins a channel on the device. first_frame: in the stream, counted from its first sample.
  Utterance(const LoadedModel &model, std::shared_ptr<LoadedGraph> graph, const StreamOptions &options, uint64_t first_frame,
            std::shared_ptr<const FrameMap> frame_map = nullptr);

  // Returns how many of n rows may be advanced before the next look at a result: for a PARTIAL, or for an endpoint.
  size_t room_for(size_t n) const;
  void take(size_t n);  // at most room_for() rows
  bool at_partial() const { return partial_frames_ > 0 && n_frames_ % partial_frames_ == 0; }
  bool at_check() const { return endpointer_ && n_frames_ == endpointer_->next_check(); }
  // These take the channel's best path.
  PathTail tail(const asr_path &path) const;
  HeardPath heard(const asr_path &path) const;
  std::vector<WordSpan> words(const asr_path &path) const;
  HeardPath background_heard(const asr_path &background) const;  // of the background's best path
  std::vector<uint32_t> states(const asr_path &path) const;      // see add_states; after keep_states() alone
  bool ends_at(const PathTail &tail, const std::function<double()> &cost_to_end) {
    return endpointer_->ends_at(tail, cost_to_end);
  }

  bool may_be_cut_here() const { return endpointer_ && endpointer_->may_be_cut_after(n_frames_); }
  // Cut is the place where an utterance that ends in the middle of speech is cut: after the last word that all paths share.
  struct Cut {
    uint32_t frame;  // of the utterance
    size_t n_words;
  };
  // common: the best path, with its common arcs. nullopt: the utterance is not cut, or there is no such word.
  std::optional<Cut> cut(const PathTail &tail, const std::function<asr_path()> &common) const;
  CutPath cut(const asr_path &path, const Cut &at) const;
  void shorten(uint32_t n_frames) { n_frames_ = n_frames; }
  bool is_cut(const PathTail &tail) const { return endpointer_->is_cut(tail); }

  bool has_probably_ended(const PathTail &tail) const { return endpointer_->has_probably_ended(tail); }

  uint64_t first_frame() const { return first_frame_; }
  uint64_t end_frame() const { return first_frame_ + n_frames_; }

  // Workers that read results keep a share of the channel.
  const std::shared_ptr<asr_backend_channel> &channel() const { return channel_; }

  // Channel of the background, advanced over the same rows; nullptr if results are not compared with it.
  const std::shared_ptr<asr_backend_channel> &background() const { return background_; }
  uint32_t n_lanes() const { return background_ ? 2 : 1; }

  const Decoding &decoding() const { return decoding_; }

  // Makes an event from the channel's best path.
  EventPointer result(asr_event_kind kind, const asr_path &path) const;

  // Counts the frames of a window, after which the device has left n_left. Returns true now and then, when pieces may have
  // settled with those that it has searched.
  bool advanced(size_t n_frames, size_t n_left);
  // Takes the settled arcs of the best paths from the channels, which would keep them. Results need less of them.
  void take_settled_paths(const Device &device);
  void keep_states() { keeps_states_ = true; }
  // The lattice's pieces, which leave its channel; nullptr without a lattice_beam.
  const std::shared_ptr<LatticePieces> &pieces() const { return pieces_; }

 private:
  std::shared_ptr<asr_backend_channel> begin_channel(LoadedGraph *graph, asr_search_options search,
                                                     const LoadedModel &model) const;
  void begin_channels(const LoadedModel &model);

  const Decoding decoding_;
  const uint64_t first_frame_;
  std::shared_ptr<asr_backend_channel> channel_, background_;
  std::shared_ptr<LatticePieces> pieces_;  // for a lattice
  std::optional<Endpointer> endpointer_;   // if the stream has endpoints
  struct SettledPath {
    SpokenPath spoken;
    PathTail tail;
    HeardPath heard, background_heard;  // if results are compared with the background
    std::vector<uint32_t> states;       // if they are kept
  };
  SettledPath settled_;
  bool keeps_states_ = false;
  size_t n_given_ = 0, n_advanced_ = 0;  // frames of windows that have ended, and of these the searched ones
  uint32_t partial_frames_ = 0, n_frames_ = 0;
};

}  // namespace asr
