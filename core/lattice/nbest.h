// SPDX-License-Identifier: Apache-2.0
// Paths of a lattice, best first: the result of recognition and its alternatives.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include "core/base/stop.h"
#include "core/lattice/lattice.h"

namespace asr {

struct LatticePath {
  std::vector<uint32_t> words;           // without 0
  std::vector<uint32_t> word_frames;     // of each word: frames consumed before its arc
  std::vector<uint32_t> transition_ids;  // one a frame
  LatticeCost cost;                      // with that of the end
};

// The n paths of least total cost, best first, fewer if there are no more that cost at most `beam` more than the best. Their
// words differ if determinise() made the lattice. Where costs are equal, ends come before arcs and arcs in their order. Throws
// ASR_CANCELLED if it is stopped.
std::vector<LatticePath> n_best_paths(const CompactLattice &lattice, double acoustic_scale, size_t n,
                                      double beam = std::numeric_limits<double>::infinity(), const StopToken &stop = {});

// The same, each handed to `visit` as it is found: for paths that are too many to keep. While it looks for more, the search
// keeps 16 bytes for each arc of those found.
void visit_best_paths(const CompactLattice &lattice, double acoustic_scale, size_t n, double beam,
                      const std::function<void(LatticePath)> &visit, const StopToken &stop = {});

// The first of these. An empty lattice has an empty path.
LatticePath best_path(const CompactLattice &lattice, double acoustic_scale);

// The least total cost of the paths with exactly these words; none if there is no such path.
std::optional<double> cost_of_words(const CompactLattice &lattice, const std::vector<uint32_t> &words, double acoustic_scale);

}  // namespace asr
