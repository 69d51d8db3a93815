// SPDX-License-Identifier: Apache-2.0
// The two forms of a lattice. The engine converts a back end's raw lattice (asr_raw_lattice) to a Lattice, and
// determinise() converts that to a CompactLattice. All results for users are made from it. Costs are negated natural
// logarithms. Graph costs (with word insertion costs) and acoustic costs (unscaled) are always separate.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace asr {

struct LatticeCost {
  double graph = 0, acoustic = 0;

  double total(double acoustic_scale) const { return graph + acoustic_scale * acoustic; }
  LatticeCost operator+(const LatticeCost &other) const { return {graph + other.graph, acoustic + other.acoustic}; }
  LatticeCost operator-(const LatticeCost &other) const { return {graph - other.graph, acoustic - other.acoustic}; }
  bool operator==(const LatticeCost &other) const { return graph == other.graph && acoustic == other.acoustic; }
};

inline constexpr LatticeCost kNoEnd = {std::numeric_limits<double>::infinity(), 0};  // final cost of a state where no path ends
inline bool is_end(const LatticeCost &final_cost) { return final_cost.graph < std::numeric_limits<double>::infinity(); }

struct LatticeArc {
  uint32_t next_state;     // higher than the arc's own state
  uint32_t transition_id;  // 0 = consumes no frame
  uint32_t word;           // 0 = none
  LatticeCost cost;
};

// A state-level lattice: an arc consumes at most one frame. Arcs of state s: arcs[arc_begin[s]] ... arcs[arc_begin[s + 1] - 1].
struct Lattice {
  std::vector<uint64_t> arc_begin{0};  // [n_states + 1]
  std::vector<LatticeArc> arcs;
  std::vector<uint32_t> frames;          // [n_states]: frames consumed before the state
  std::vector<LatticeCost> final_costs;  // [n_states]; kNoEnd
  uint32_t n_states() const { return static_cast<uint32_t>(frames.size()); }
};

// A run of transition_ids of the lattice.
struct Alignment {
  uint64_t begin = 0;
  uint32_t size = 0;
};

struct CompactArc {
  uint32_t next_state;  // higher than the arc's own state
  uint32_t word;        // 0 only in lattices read from files
  LatticeCost cost;
  Alignment alignment;
};

// A word-level lattice. From determinise() it is deterministic: a state has at most one arc per word. So a word
// sequence has at most one path, with its best alignment. State 0 is the start; a lattice without states is empty (no
// path).
struct CompactLattice {
  struct End {
    LatticeCost cost = kNoEnd;
    Alignment alignment;  // ids consumed after the last word's arc
  };
  std::vector<uint64_t> arc_begin{0};  // [n_states + 1]
  std::vector<CompactArc> arcs;
  std::vector<uint32_t> frames;  // [n_states]: frames consumed before the state
  std::vector<End> ends;         // [n_states]
  std::vector<uint32_t> transition_ids;

  uint32_t n_states() const { return static_cast<uint32_t>(frames.size()); }
  const uint32_t *begin(const Alignment &alignment) const { return transition_ids.data() + alignment.begin; }
};

}  // namespace asr
