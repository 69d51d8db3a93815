// SPDX-License-Identifier: Apache-2.0
#include "core/decode/path_words.h"

#include <algorithm>

namespace asr {
namespace {

struct Span {
  uint32_t begin, end;  // frames
};

bool position_is(const Transition &t, WordPosition position) { return t.position == static_cast<uint8_t>(position); }

// Returns the words spelled out by the phones; the end of the path may cut off the last. Empty without word positions.
// transition_ids: one per frame.
std::vector<Span> spans_of_phones(const std::vector<uint32_t> &transition_ids, const TransitionLookup &transition) {
  std::vector<Span> spans;
  const Transition *before = nullptr;
  bool in_word = false;
  for (uint32_t frame = 0; frame < transition_ids.size(); ++frame) {
    const Transition &now = transition(transition_ids[frame]);
    if (before == nullptr || phone_begins(*before, now)) {
      if (before != nullptr && (position_is(*before, WordPosition::kEnd) || position_is(*before, WordPosition::kSingle))) {
        in_word = false;
      }
      if (now.position == kAnyPosition) in_word = false;
      if (position_is(now, WordPosition::kBegin) || position_is(now, WordPosition::kSingle)) {
        in_word = true;
        spans.push_back({frame, frame});
      }
    }
    if (in_word) spans.back().end = frame + 1;
    before = &now;
  }
  return spans;
}

std::vector<Span> spans_of_labels(const std::vector<uint32_t> &label_frames, uint32_t n_frames) {
  std::vector<Span> spans;
  for (size_t k = 0; k < label_frames.size(); ++k) {
    spans.push_back({label_frames[k], k + 1 < label_frames.size() ? label_frames[k + 1] : n_frames});
  }
  return spans;
}

std::vector<WordSpan> spans_of_words(const LatticePath &path, const TransitionLookup &transition) {
  std::vector<Span> spans = spans_of_phones(path.transition_ids, transition);
  if (spans.empty()) spans = spans_of_labels(path.word_frames, static_cast<uint32_t>(path.transition_ids.size()));
  const uint32_t end = spans.empty() ? 0 : spans.back().end;
  std::vector<WordSpan> words;
  for (size_t k = 0; k < path.words.size(); ++k) {
    const Span span = k < spans.size() ? spans[k] : Span{end, end};
    words.push_back({path.words[k], span.begin, span.end});
  }
  return words;
}

// Returns the first n_arcs arcs of a path, with acoustic costs only.
LatticePath first_arcs(const asr_path &path, uint64_t n_arcs) {
  LatticePath arcs;
  for (uint64_t i = 0; i < n_arcs; ++i) {
    const asr_path_arc &arc = path.arcs[i];
    arcs.cost.acoustic += static_cast<double>(arc.acoustic_cost);
    if (arc.transition_id != 0) arcs.transition_ids.push_back(arc.transition_id);
    if (arc.word == 0) continue;
    arcs.words.push_back(arc.word);
    arcs.word_frames.push_back(arc.frame);
  }
  return arcs;
}

}  // namespace

PathWords words_of_path(const LatticePath &path, const TransitionLookup &transition) {
  return {spans_of_words(path, transition), path.cost.graph, path.cost.acoustic};
}

PathWords words_of_path(const asr_path &path, const TransitionLookup &transition, float acoustic_scale) {
  LatticePath arcs = first_arcs(path, path.n_arcs);
  // Computed from the total, since `arcs` omits epsilon arcs without a word, which also have costs.
  arcs.cost.graph = path.total_cost - static_cast<double>(acoustic_scale) * arcs.cost.acoustic;
  return words_of_path(arcs, transition);
}

size_t n_certain_words(const asr_path &path, uint64_t n_arcs, const TransitionLookup &transition, bool has_positions) {
  const LatticePath arcs = first_arcs(path, n_arcs);
  const auto n_frames = static_cast<uint32_t>(arcs.transition_ids.size());
  const std::vector<Span> spans =
      has_positions ? spans_of_phones(arcs.transition_ids, transition) : spans_of_labels(arcs.word_frames, n_frames);
  const bool last_goes_on = !spans.empty() && spans.back().end == n_frames;
  return std::min(arcs.words.size(), spans.size() - (last_goes_on ? 1 : 0));
}

}  // namespace asr
