// SPDX-License-Identifier: Apache-2.0
// Converts a path of the search or of a lattice to words with times and costs. The engine calls it for partial and final
// results.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/lattice/alignment.h"
#include "core/lattice/nbest.h"

namespace asr {

struct WordSpan {
  uint32_t word;        // word id
  uint32_t begin, end;  // frames [begin, end)
};

struct PathWords {
  std::vector<WordSpan> words;
  double graph_cost = 0;     // including word insertion costs and the final cost
  double acoustic_cost = 0;  // unscaled
};

// SpokenPath is what results keep of a path's arcs, which are added in order: its words and where they are. A long path is
// added piece by piece, as it settles, so that its arcs need not be kept.
//
// The labels of a path give the spoken words, but graph optimisation moves labels away from their words' times. So times come
// from the phones: transitions are grouped into phones, and phones into words by their word positions. The k-th label gets the
// k-th of these spans. If transitions carry no positions, a word lasts from its label to the next one.
class SpokenPath {
 public:
  void add(const asr_path_arc *arcs, uint64_t n, const TransitionLookup &transition);
  void add_frame(const Transition &transition);
  void add_word(uint32_t word, uint32_t frame);  // frame: frames consumed before the label

  std::vector<WordSpan> words() const;
  uint32_t n_frames() const { return n_frames_; }
  double acoustic_cost() const { return acoustic_cost_; }  // unscaled

  // Returns how many of the first words, with their times, stay as they are whatever is added. The last phone of such a word is
  // complete. has_positions: some transition of the graph has a word position.
  size_t n_certain(bool has_positions) const;

 private:
  struct Span {
    uint32_t begin, end;  // frames; the end of the path may cut off the last
  };
  std::vector<uint32_t> words_, word_frames_;
  std::vector<Span> spans_;  // words spelled out by the phones; empty without word positions
  double acoustic_cost_ = 0;
  Transition before_{};  // of the last frame
  bool in_word_ = false;
  uint32_t n_frames_ = 0;
};

// Returns the words of a path whose arcs follow those of `before`. acoustic_scale: the scale of the search.
PathWords words_of_path(const asr_path &path, const TransitionLookup &transition, float acoustic_scale,
                        const SpokenPath &before = {});
PathWords words_of_path(const LatticePath &path, const TransitionLookup &transition);

// Returns how many of the path's first words, with their times, are in every path that begins with `before` and its first
// n_arcs arcs.
size_t n_certain_words(const asr_path &path, uint64_t n_arcs, const TransitionLookup &transition, bool has_positions,
                       const SpokenPath &before = {});

// Part of a path up to a frame, with a number of words.
struct CutPath {
  CutPath() = default;
  CutPath(CutPath &&) = default;  // moved arcs stay where they are
  CutPath &operator=(CutPath &&) = default;

  std::vector<asr_path_arc> arcs;
  asr_path path{};  // whose arcs these are
};

// Returns the path up to `frame` with its first n_words words, wherever their labels are; their number includes n_words_before,
// of arcs that the path no longer has. Epsilon arcs that the path leaves out count as before the cut.
CutPath cut_path(const asr_path &path, uint32_t frame, size_t n_words, size_t n_words_before, float acoustic_scale,
                 float word_insertion_cost);

}  // namespace asr
