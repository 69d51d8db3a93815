// SPDX-License-Identifier: Apache-2.0
// Determiniser is the subset construction behind determinise() and PieceDeterminiser.
#pragma once

#include <deque>
#include <optional>
#include <queue>
#include <tuple>
#include <vector>

#include "core/lattice/determinise.h"
#include "core/lattice/element_lists.h"
#include "core/lattice/word_step.h"

namespace asr {

class Determiniser {
 public:
  explicit Determiniser(const DeterminiseOptions &options);

  double beam() const { return beam_; }

  // Returns an upper bound of the current memory, including the needs of finish().
  size_t bytes() const;

  // Continues with the waiting subsets, up to the states from `open` on, whose arcs are not all known yet. Memory stays below
  // max_bytes except for one path.
  void advance(const PreparedLattice &lattice, uint32_t open, size_t max_bytes, const StopToken &stop);

  // Does the same, and brings the waiting subsets to the states from `gate` on: all paths of the lattice pass one of the first
  // of these. A subset before the gate waits there from now on, or goes on with the words before it, whichever is better.
  void commit(const PreparedLattice &lattice, uint32_t gate, uint32_t open, size_t max_bytes, const StopToken &stop);

  // Does the same as advance() for the best path alone.
  void keep_best_path(const PreparedLattice &lattice, uint32_t open);

  // Forgets everything that the waiting subsets do not need. Returns the number of states removed from the beginning of the
  // lattice; the caller renumbers the others from 0.
  uint32_t forget(uint32_t n_states);

  // Returns the result; the determiniser is empty afterwards.
  Determinised finish();

 private:
  static constexpr uint32_t kNone = ElementLists::kNone;
  using List = ElementLists::List;
  struct Subset {
    List list = {};
    LatticeCost cost;       // cost of the best word sequence that leads here
    uint32_t result_state;  // kNone until the subset is expanded
    uint32_t n_arcs;        // arcs of the result that lead here
    LatticeCost lead_cost;  // common part of all continuations, up to the state of the result
    Alignment lead_ids;
    // The way from where the arcs lead to the gates that the subset has passed: it comes before `lead`, and counts in `cost`.
    LatticeCost passed_cost = {};
    std::vector<Alignment> passed_ids = {};
    uint64_t n_passed_ids = 0;
  };
  struct ResultState {
    uint64_t first_state;  // lowest lattice state of its elements
    uint32_t frame;
    size_t arcs_begin, arcs_end;
    CompactLattice::End end;
  };
  struct Estimated {
    double cost;
    uint32_t frame, subset;
    bool operator<(const Estimated &other) const {  // priority: at equal cost the subset nearer to the end comes first
      return std::tie(other.cost, frame, other.subset) < std::tie(cost, other.frame, subset);
    }
  };
  // Sizes at the beginning of advance(), to roll back to.
  struct Start {
    size_t n_subsets, n_states, n_arcs, n_ids, n_elements, n_pool;
    uint64_t n_assembled_ids;
    std::vector<uint32_t> waiting;
    std::vector<Subset> waiting_subsets;
  };
  struct BestPath {
    uint32_t subset = kNone;  // kNone: no path
    size_t element = 0;       // index in the subset
    std::vector<uint64_t> arcs;
  };

  const DeterminiseOptions options_;
  double beam_;
  bool best_only_ = false;  // only one path was followed; no others are wanted from there on
  ElementLists lists_;
  ElementLists::Index known_subsets_, known_states_;
  std::vector<uint32_t> waiting_;  // subsets that need more of the lattice
  uint64_t n_forgotten_ = 0;       // number of forgotten states

  // The result so far. Deques, since a growing vector would double its memory while it is copied.
  std::deque<Subset> subsets_;
  std::deque<ResultState> states_;
  std::deque<CompactArc> arcs_;  // next_state is a subset
  std::deque<uint32_t> ids_;
  uint64_t n_assembled_ids_ = 0;  // ids of finish(), where arcs include the ids of the subsets they lead to

  // Members used during one advance().
  const PreparedLattice *lattice_ = nullptr;
  std::optional<WordStep> step_;
  std::priority_queue<Estimated> queue_;
  std::vector<uint32_t> step_ids_;
  size_t max_bytes_ = 0;
  uint32_t gate_ = kNone;          // of commit()
  bool best_is_complete_ = false;  // up to the end of the known lattice
  bool any_is_complete_ = false;

  double total(const LatticeCost &cost) const { return cost.total(options_.acoustic_scale); }
  double estimate(const Subset &subset, const SubsetElement &element) const {
    return total(subset.cost + element.cost + lattice_->to_end[element.state]);
  }

  // Defined in determiniser.cc
  void enqueue(uint32_t number);
  bool search();
  void narrow(double cost);
  bool has_room() const;
  bool take_up(uint32_t number);
  bool wait(uint32_t number);
  enum class Join { kNoRoom, kKnown, kNew };
  Join join_state(uint32_t number);
  uint32_t reach(const Subset &before);
  Alignment take_step_ids();
  void add_arc(uint32_t next_subset, uint32_t word, const LatticeCost &cost, const Alignment &ids);

  // Defined in determiniser_result.cc
  Start start() const;
  void return_to(const Start &start);
  void follow_best_path(const Start &start, uint32_t open);
  BestPath find_best_path(uint32_t open) const;
  void wait_at(uint32_t number, uint32_t state, const LatticeCost &cost, const std::vector<uint32_t> &ids);
  CompactLattice assemble() const;
};

}  // namespace asr
