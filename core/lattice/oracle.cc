// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/oracle.h"

#include <algorithm>
#include <limits>

namespace asr {
namespace {

constexpr uint32_t kUnreached = std::numeric_limits<uint32_t>::max() / 2;
constexpr uint64_t kNoArc = std::numeric_limits<uint64_t>::max();

// EditTable holds errors(s, j), the fewest errors between a path from the start to state s and the first j words of the
// reference. The last step is an arc into the state or, without one, a deletion of word j.
class EditTable {
 public:
  EditTable(const CompactLattice &lattice, const std::vector<uint32_t> &reference)
      : lattice_(lattice), reference_(reference), cells_(size_t{lattice.n_states()} * (reference.size() + 1)) {
    if (lattice.n_states() > 0) at(0, 0) = {0, 0, kNoArc};
    for (uint32_t s = 0; s < lattice.n_states(); ++s) {
      for (size_t j = 1; j <= reference.size(); ++j) lower(s, j, {at(s, j - 1).n_errors + 1, s, kNoArc});
      for (uint64_t a = lattice.arc_begin[s]; a < lattice.arc_begin[s + 1]; ++a) follow(s, a);
    }
  }

  uint32_t errors(uint32_t s) { return at(s, reference_.size()).n_errors; }

  std::vector<uint32_t> words(uint32_t s) {
    std::vector<uint32_t> words;
    for (size_t j = reference_.size(); s != 0 || j != 0;) {
      const Cell &cell = at(s, j);
      if (cell.arc == kNoArc) {
        --j;
        continue;
      }
      const CompactArc &arc = lattice_.arcs[cell.arc];
      if (arc.word != 0) words.push_back(arc.word);
      if (cell.pairs) --j;
      s = cell.from;
    }
    std::reverse(words.begin(), words.end());
    return words;
  }

 private:
  struct Cell {
    uint32_t n_errors = kUnreached, from = 0;
    uint64_t arc = kNoArc;
    bool pairs = false;  // the arc's word is aligned with word j
  };
  const CompactLattice &lattice_;
  const std::vector<uint32_t> &reference_;
  std::vector<Cell> cells_;  // [n_states][reference + 1]

  Cell &at(uint32_t s, size_t j) { return cells_[s * (reference_.size() + 1) + j]; }

  void lower(uint32_t s, size_t j, const Cell &cell) {
    if (cell.n_errors < at(s, j).n_errors) at(s, j) = cell;
  }

  void follow(uint32_t s, uint64_t a) {
    const CompactArc &arc = lattice_.arcs[a];
    for (size_t j = 0; j <= reference_.size(); ++j) {
      const uint32_t n_errors = at(s, j).n_errors;
      if (n_errors >= kUnreached) continue;
      lower(arc.next_state, j, {n_errors + (arc.word != 0), s, a, false});
      if (arc.word == 0 || j == reference_.size()) continue;
      lower(arc.next_state, j + 1, {n_errors + (arc.word != reference_[j]), s, a, true});
    }
  }
};

}  // namespace

Oracle oracle_words(const CompactLattice &lattice, const std::vector<uint32_t> &reference) {
  EditTable table(lattice, reference);
  Oracle oracle{kUnreached, {}};
  uint32_t end = 0;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    if (!is_end(lattice.ends[s].cost) || table.errors(s) >= oracle.n_errors) continue;
    oracle.n_errors = table.errors(s);
    end = s;
  }
  if (oracle.n_errors == kUnreached) return {static_cast<uint32_t>(reference.size()), {}};
  oracle.words = table.words(end);
  return oracle;
}

LatticeSize &LatticeSize::operator+=(const LatticeSize &other) {
  n_states += other.n_states;
  n_arcs += other.n_arcs;
  n_frames += other.n_frames;
  arc_frames += other.arc_frames;
  return *this;
}

LatticeSize lattice_size(const CompactLattice &lattice) {
  LatticeSize size;
  size.n_states = lattice.n_states();
  size.n_arcs = lattice.arcs.size();
  for (const CompactArc &arc : lattice.arcs) size.arc_frames += arc.alignment.size;
  for (uint32_t s = 0; s < lattice.n_states(); ++s) {
    if (!is_end(lattice.ends[s].cost)) continue;
    size.arc_frames += lattice.ends[s].alignment.size;
    size.n_frames = std::max<uint64_t>(size.n_frames, lattice.frames[s] + lattice.ends[s].alignment.size);
  }
  return size;
}

}  // namespace asr
