// SPDX-License-Identifier: Apache-2.0
#include "core/decode/path_words.h"

#include <algorithm>

namespace asr {
namespace {

struct Span {
  uint32_t begin, end;  // frames
};

bool position_is(const Transition &t, WordPosition position) { return t.position == static_cast<uint8_t>(position); }

// The words that the phones spell out, the last perhaps cut off by the end of the path. Empty without word positions.
std::vector<Span> spans_of_phones(const asr_path &path, const TransitionLookup &transition) {
  std::vector<Span> spans;
  const Transition *before = nullptr;
  bool in_word = false;
  for (uint64_t i = 0; i < path.n_arcs; ++i) {
    const asr_path_arc &arc = path.arcs[i];
    if (arc.transition_id == 0) continue;
    const Transition &now = transition(arc.transition_id);
    if (before == nullptr || phone_begins(*before, now)) {
      if (before != nullptr && (position_is(*before, WordPosition::kEnd) || position_is(*before, WordPosition::kSingle))) {
        in_word = false;
      }
      if (now.position == kAnyPosition) in_word = false;
      if (position_is(now, WordPosition::kBegin) || position_is(now, WordPosition::kSingle)) {
        in_word = true;
        spans.push_back({arc.frame, arc.frame});
      }
    }
    if (in_word) spans.back().end = arc.frame + 1;
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

}  // namespace

PathWords words_of_path(const asr_path &path, const TransitionLookup &transition, float acoustic_scale) {
  PathWords result;
  std::vector<uint32_t> label_frames;
  for (uint64_t i = 0; i < path.n_arcs; ++i) {
    const asr_path_arc &arc = path.arcs[i];
    result.acoustic_cost += static_cast<double>(arc.acoustic_cost);
    if (arc.word == 0) continue;
    result.words.push_back({arc.word, 0, 0});
    label_frames.push_back(arc.frame);
  }
  // Not the sum over the arcs: epsilon arcs without a word have costs too and are not listed.
  result.graph_cost = path.total_cost - static_cast<double>(acoustic_scale) * result.acoustic_cost;

  std::vector<Span> spans = spans_of_phones(path, transition);
  if (spans.empty()) spans = spans_of_labels(label_frames, path.n_frames);
  const uint32_t end = spans.empty() ? 0 : spans.back().end;
  for (size_t k = 0; k < result.words.size(); ++k) {
    const Span span = k < spans.size() ? spans[k] : Span{end, end};
    result.words[k].begin = span.begin;
    result.words[k].end = span.end;
  }
  return result;
}

}  // namespace asr
