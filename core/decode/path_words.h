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

// The labels of a path give the spoken words, but graph optimisation moves labels away from their words' times. So times come
// from the phones: transitions are grouped into phones, and phones into words by their word positions. The k-th label gets the
// k-th of these spans. If transitions carry no positions, a word lasts from its label to the next one. acoustic_scale: the
// scale of the search.
PathWords words_of_path(const asr_path &path, const TransitionLookup &transition, float acoustic_scale);
PathWords words_of_path(const LatticePath &path, const TransitionLookup &transition);

// Returns how many of the path's first words, with their times, are in every path that begins with its first n_arcs arcs. The
// label of such a word is on one of these arcs, and its last phone is complete. has_positions: some transition of the graph has
// a word position.
size_t n_certain_words(const asr_path &path, uint64_t n_arcs, const TransitionLookup &transition, bool has_positions);

}  // namespace asr
