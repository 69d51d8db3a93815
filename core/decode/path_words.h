// SPDX-License-Identifier: Apache-2.0
// From a path of the search or of a lattice to words with times and costs. Called by the engine for partial and final
// results.
#pragma once

#include <cstdint>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/lattice/alignment.h"
#include "core/lattice/nbest.h"

namespace asr {

struct WordSpan {
  uint32_t word;        // its id
  uint32_t begin, end;  // frames [begin, end)
};

struct PathWords {
  std::vector<WordSpan> words;
  double graph_cost = 0;     // with word insertion costs and the final cost
  double acoustic_cost = 0;  // unscaled
};

// The labels of a path say which words were spoken, but optimising the graph moves a label away from where its word is
// spoken. So times come from the phones: the path's transitions are cut into phones, phones into words by their word
// positions, and the k-th label gets the k-th of these spans. Where the transitions carry no positions, a word lasts from
// its label to the next one. acoustic_scale: the one that the path was searched with.
PathWords words_of_path(const asr_path &path, const TransitionLookup &transition, float acoustic_scale);
PathWords words_of_path(const LatticePath &path, const TransitionLookup &transition);

// How many of the path's first words no path changes that begins with its first n_arcs arcs, nor their times: the label is one
// of these arcs, and the word's last phone is over. has_positions: whether any transition of the graph has a word position.
size_t n_certain_words(const asr_path &path, uint64_t n_arcs, const TransitionLookup &transition, bool has_positions);

}  // namespace asr
