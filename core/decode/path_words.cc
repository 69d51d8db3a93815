// SPDX-License-Identifier: Apache-2.0
#include "core/decode/path_words.h"

#include <algorithm>

namespace asr {
namespace {

bool position_is(const Transition &t, WordPosition position) { return t.position == static_cast<uint8_t>(position); }

bool ends_word(const Transition &t) { return position_is(t, WordPosition::kEnd) || position_is(t, WordPosition::kSingle); }

SpokenPath joined(SpokenPath before, const asr_path &path, uint64_t n_arcs, const TransitionLookup &transition) {
  before.add(path.arcs, n_arcs, transition);
  return before;
}

}  // namespace

void SpokenPath::add(const asr_path_arc *arcs, uint64_t n, const TransitionLookup &transition) {
  for (uint64_t i = 0; i < n; ++i) {
    const asr_path_arc &arc = arcs[i];
    acoustic_cost_ += static_cast<double>(arc.acoustic_cost);
    if (arc.transition_id != 0) add_frame(transition(arc.transition_id));
    if (arc.word != 0) add_word(arc.word, arc.frame);
  }
}

void SpokenPath::add_frame(const Transition &now) {
  if (n_frames_ == 0 || phone_begins(before_, now)) {
    if (n_frames_ != 0 && ends_word(before_)) in_word_ = false;
    if (now.position == kAnyPosition) in_word_ = false;
    if (position_is(now, WordPosition::kBegin) || position_is(now, WordPosition::kSingle)) {
      in_word_ = true;
      spans_.push_back({n_frames_, n_frames_});
    }
  }
  ++n_frames_;
  if (in_word_) spans_.back().end = n_frames_;
  before_ = now;
}

void SpokenPath::add_word(uint32_t word, uint32_t frame) {
  words_.push_back(word);
  word_frames_.push_back(frame);
}

std::vector<WordSpan> SpokenPath::words() const {
  std::vector<WordSpan> words;
  const uint32_t end = spans_.empty() ? 0 : spans_.back().end;
  for (size_t k = 0; k < words_.size(); ++k) {
    Span span{end, end};
    if (spans_.empty()) {
      span = {word_frames_[k], k + 1 < words_.size() ? word_frames_[k + 1] : n_frames_};
    } else if (k < spans_.size()) {
      span = spans_[k];
    }
    words.push_back({words_[k], span.begin, span.end});
  }
  return words;
}

size_t SpokenPath::n_certain(bool has_positions) const {
  if (!has_positions) return words_.size() - (!words_.empty() ? 1 : 0);  // the last one goes on
  const bool last_goes_on = !spans_.empty() && spans_.back().end == n_frames_;
  return std::min(words_.size(), spans_.size() - (last_goes_on ? 1 : 0));
}

PathWords words_of_path(const LatticePath &path, const TransitionLookup &transition) {
  SpokenPath spoken;
  for (const uint32_t id : path.transition_ids) spoken.add_frame(transition(id));
  for (size_t k = 0; k < path.words.size(); ++k) spoken.add_word(path.words[k], path.word_frames[k]);
  return {spoken.words(), path.cost.graph, path.cost.acoustic};
}

PathWords words_of_path(const asr_path &path, const TransitionLookup &transition, float acoustic_scale,
                        const SpokenPath &before) {
  const SpokenPath spoken = joined(before, path, path.n_arcs, transition);
  const double acoustic_cost = spoken.acoustic_cost();
  // Computed from the total, since paths omit epsilon arcs without a word, which also have costs.
  return {spoken.words(), path.total_cost - static_cast<double>(acoustic_scale) * acoustic_cost, acoustic_cost};
}

CutPath cut_path(const asr_path &path, uint32_t frame, size_t n_words, size_t n_words_before, float acoustic_scale,
                 float word_insertion_cost) {
  CutPath cut;
  cut.path = path;
  cut.path.total_cost -= static_cast<double>(path.final_cost);
  size_t n = n_words_before;
  for (uint64_t i = 0; i < path.n_arcs; ++i) {
    asr_path_arc arc = path.arcs[i];
    const bool is_before = arc.frame < frame;
    const bool is_word = arc.word != 0 && n < n_words;
    if (is_word) ++n;
    if (arc.word != 0 && !is_word) cut.path.total_cost -= static_cast<double>(word_insertion_cost);
    if (!is_before) {
      cut.path.total_cost -= static_cast<double>(arc.graph_cost) + static_cast<double>(acoustic_scale * arc.acoustic_cost);
      arc = {frame, 0, arc.word, 0, 0};
    }
    if (!is_word) arc.word = 0;
    if (is_before || is_word) cut.arcs.push_back(arc);
  }
  cut.path.arcs = cut.arcs.data();
  cut.path.n_arcs = cut.path.n_common_arcs = cut.arcs.size();
  cut.path.n_frames = frame;
  cut.path.reached_final = 0;
  cut.path.final_cost = 0;
  return cut;
}

size_t n_certain_words(const asr_path &path, uint64_t n_arcs, const TransitionLookup &transition, bool has_positions,
                       const SpokenPath &before) {
  return joined(before, path, n_arcs, transition).n_certain(has_positions);
}

}  // namespace asr
