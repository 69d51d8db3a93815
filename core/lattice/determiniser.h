// SPDX-License-Identifier: Apache-2.0
// The subset construction behind determinise() and PieceDeterminiser.
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

  // An upper bound of the memory held now, with what finish() will add.
  size_t bytes() const;

  // Goes on from the subsets that wait, up to the states from `open` on, of which more is to come. Memory stays below max_bytes
  // but for one path.
  void advance(const PreparedLattice &lattice, uint32_t open, size_t max_bytes, const StopToken &stop);

  // The same with nothing but the best path.
  void keep_best_path(const PreparedLattice &lattice, uint32_t open);

  // Forgets all that the waiting subsets do not need. Returns how many states at the beginning of the lattice go with it: the
  // others are to be numbered from 0 on.
  uint32_t forget(uint32_t n_states);

  // The result; the determiniser is empty afterwards.
  Determinised finish();

 private:
  static constexpr uint32_t kNone = ElementLists::kNone;
  using List = ElementLists::List;
  struct Subset {
    List list;
    LatticeCost cost;       // of the best word sequence that leads here
    uint32_t result_state;  // kNone until it is taken up
    uint32_t n_arcs;        // of the result that lead here
    LatticeCost lead_cost;  // of what is common to all that follow, up to the state of the result
    Alignment lead_ids;
  };
  struct ResultState {
    uint64_t first_state;  // the lowest of its elements
    uint32_t frame;
    size_t arcs_begin, arcs_end;
    CompactLattice::End end;
  };
  struct Estimated {
    double cost;
    uint32_t frame, subset;
    bool operator<(const Estimated &other) const {  // later in the queue: of equal costs the one nearer to the end is first
      return std::tie(other.cost, frame, other.subset) < std::tie(cost, other.frame, subset);
    }
  };
  // The state that advance() began with, to return to.
  struct Start {
    size_t n_subsets, n_states, n_arcs, n_ids, n_elements, n_pool;
    uint64_t n_assembled_ids;
    std::vector<uint32_t> waiting;
    std::vector<Subset> waiting_subsets;
  };
  struct BestPath {
    uint32_t subset = kNone;  // kNone: there is none
    size_t element = 0;       // of the subset
    std::vector<uint64_t> arcs;
  };

  const DeterminiseOptions options_;
  double beam_;
  bool best_only_ = false;  // one path was followed alone; from there on no others are wanted
  ElementLists lists_;
  ElementLists::Index known_subsets_, known_states_;
  std::vector<uint32_t> waiting_;  // subsets that need more of the lattice
  uint64_t n_forgotten_ = 0;       // states

  // The result so far. Blocks, since copies that make room for more would double its memory.
  std::deque<Subset> subsets_;
  std::deque<ResultState> states_;
  std::deque<CompactArc> arcs_;  // next_state is a subset
  std::deque<uint32_t> ids_;
  uint64_t n_assembled_ids_ = 0;  // of finish(), where arcs have the ids of what they lead to

  // The present advance().
  const PreparedLattice *lattice_ = nullptr;
  std::optional<WordStep> step_;
  std::priority_queue<Estimated> queue_;
  std::vector<uint32_t> step_ids_;
  size_t max_bytes_ = 0;
  bool best_is_complete_ = false;  // as far as there is a lattice
  bool any_is_complete_ = false;

  double total(const LatticeCost &cost) const { return cost.total(options_.acoustic_scale); }
  double estimate(const Subset &subset, const SubsetElement &element) const {
    return total(subset.cost + element.cost + lattice_->to_end[element.state]);
  }

  // determiniser.cc
  void enqueue(uint32_t number);
  bool search();
  void narrow(double cost);
  bool has_room() const;
  bool take_up(uint32_t number);
  enum class Join { kNoRoom, kKnown, kNew };
  Join join_state(uint32_t number);
  uint32_t reach(const Subset &before);
  Alignment take_step_ids();
  void add_arc(uint32_t next_subset, uint32_t word, const LatticeCost &cost, const Alignment &ids);

  // determiniser_result.cc
  Start start() const;
  void return_to(const Start &start);
  void follow_best_path(const Start &start, uint32_t open);
  BestPath find_best_path(uint32_t open) const;
  void wait_at(uint32_t number, uint32_t state, const LatticeCost &cost, const std::vector<uint32_t> &ids);
  CompactLattice assemble() const;
};

}  // namespace asr
