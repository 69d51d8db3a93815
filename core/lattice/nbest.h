// SPDX-License-Identifier: Apache-2.0
// Finds paths of a lattice, best first: the result of recognition and its alternatives.
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
  std::vector<uint32_t> word_frames;     // [words.size()]: frames consumed before the word's arc
  std::vector<uint32_t> transition_ids;  // one per frame
  LatticeCost cost;                      // including the end cost
};

// Returns the n paths of least total cost, best first; fewer if the others cost more than `beam` above the best. Their words
// differ if determinise() made the lattice. At equal costs, ends come before arcs and arcs keep their order. There are fewer,
// too, if they or the search for them would take more than kMaxPathBytes. Throws ASR_CANCELLED if it is stopped.
std::vector<LatticePath> n_best_paths(const CompactLattice &lattice, double acoustic_scale, size_t n,
                                      double beam = std::numeric_limits<double>::infinity(), const StopToken &stop = {});

// Passes the same paths to `visit` as they are found, until it returns false. Returns false if memory or `visit` ended it.
bool visit_best_paths(const CompactLattice &lattice, double acoustic_scale, size_t n, double beam,
                      const std::function<bool(LatticePath)> &visit, const StopToken &stop = {});

// Returns the first of these paths. An empty lattice has an empty path.
LatticePath best_path(const CompactLattice &lattice, double acoustic_scale);

// Returns the least total cost of the paths with exactly these words; nullopt if there is no such path, or if n_steps becomes
// 0: the states and arcs that may be visited, which are subtracted.
std::optional<double> cost_of_words(const CompactLattice &lattice, const std::vector<uint32_t> &words, double acoustic_scale,
                                    uint64_t *n_steps);

}  // namespace asr
