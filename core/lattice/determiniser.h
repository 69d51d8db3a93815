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
  static constexpr uint32_t kNone = ElementLists::kNone;

  explicit Determiniser(const DeterminiseOptions &options);

  double beam() const { return beam_; }

  // Returns an upper bound of the memory, including the needs of finish(), without what keep_within() will drop.
  size_t bytes() const;

  // Room is memory for the result, of which an advance may take the given fraction of what the result so far leaves, and work.
  struct Room {
    size_t max_bytes;
    size_t divisor;  // the fraction is 1 / divisor
    uint64_t max_work;
  };

  // Continues with the waiting subsets, up to the states from `open` on, whose arcs are not all known yet. Memory stays within
  // the room except for one path. If work or memory runs out, narrows the beam to the widest multiple of kWidthStep for which
  // both suffice, or to what was reached if that is more.
  void advance(PreparedLattice &lattice, uint32_t open, const Room &room, const StopToken &stop);

  // Does the same, and brings the waiting subsets to the states from `gate` on: all paths of the lattice pass one of the first
  // of these. A subset before the gate waits there from now on, or goes on with the words before it, whichever is better.
  void commit(PreparedLattice &lattice, uint32_t gate, uint32_t open, const Room &room, const StopToken &stop);

  // Does the same as advance() for the best path alone.
  void keep_best_path(const PreparedLattice &lattice, uint32_t open);

  // Returns the first state of the lattice that waiting subsets need for paths within the limit; kNone if they have no such
  // path.
  uint32_t first_needed(const PreparedLattice &lattice, double limit) const;

  // Narrows the beam of all that follows. The waiting subsets lose what is on no path within the limit, which is that of the
  // beam.
  void narrow_to(double beam, const PreparedLattice &lattice, double limit);

  // Takes over the new numbers of the lattice's states, kNone for those that were removed.
  void renumber(const std::vector<uint32_t> &numbers);

  // Forgets everything that the waiting subsets do not need. Returns the number of states removed from the beginning of the
  // lattice; the caller renumbers the others from 0.
  uint32_t forget(uint32_t n_states);

  // Returns the result; the determiniser is empty afterwards.
  Determinised finish();

 private:
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
  // Sizes of the result so far.
  struct Sizes {
    size_t n_subsets = 0, n_states = 0, n_arcs = 0, n_ids = 0;
    uint64_t n_assembled_ids = 0;
  };
  // Parts that keep_within() drops.
  struct Dropped {
    Sizes sizes;                                      // of the result
    size_t n_waiting = 0, n_elements = 0, n_ids = 0;  // of the waiting subsets' lists
  };
  // Sizes at the beginning of advance(), to roll back to.
  struct Start {
    Sizes sizes;
    size_t n_elements, n_pool;
    std::vector<uint32_t> waiting;
    std::vector<Subset> waiting_subsets;
  };
  // Total costs of the best ways through the result so far, by current knowledge.
  struct ResultCosts {
    std::vector<double> from_start, to_end;  // [states_]
    std::vector<double> waiting_to_end;      // [subsets_]: of waiting subsets, +inf of others
  };
  struct BestPath {
    uint32_t subset = kNone;  // kNone: no path
    size_t element = 0;       // index in the subset
    std::vector<uint64_t> arcs;
  };

  const DeterminiseOptions options_;
  double beam_;
  double kept_beam_;        // beam of the result so far, which is wider than beam_ until keep_within() has run
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
  uint32_t open_ = 0;
  uint32_t gate_ = kNone;     // of commit()
  double prepared_beam_ = 0;  // beam of lattice_->limit
  double limit_ = 0;          // cost of the paths that are followed
  double best_cost_ = 0;      // of these, up to rounding; more than lattice_->best if limits have dropped that path
  bool is_narrower_ = false;  // limit_ is of a narrower beam than the result so far
  uint64_t max_work_ = 0;
  size_t max_bytes_ = 0;
  size_t max_held_bytes_ = 0;
  size_t freed_bytes_ = 0, freed_lists_bytes_ = 0, freed_assembled_bytes_ = 0;  // what keep_within() will drop
  std::vector<SubsetElement> elements_within_;                                  // of the subset that is expanded
  bool best_is_complete_ = false;                                               // up to the end of the known lattice
  bool any_is_complete_ = false;

  double total(const LatticeCost &cost) const { return cost.total(options_.acoustic_scale); }
  double estimate(const Subset &subset, const SubsetElement &element) const {
    return total(subset.cost + element.cost + lattice_->to_end[element.state]);
  }

  // Defined in determiniser.cc
  Sizes sizes() const { return {subsets_.size(), states_.size(), arcs_.size(), ids_.size(), n_assembled_ids_}; }
  static size_t bytes_of(const Sizes &n);
  static size_t list_bytes_of(size_t n_lists, size_t n_elements, size_t n_ids);
  static size_t assembled_bytes_of(const Sizes &n);
  size_t held_bytes() const;
  bool has_bytes(size_t n) const;
  double reach(double beam, const Room &room, const StopToken &stop);
  void enqueue(uint32_t number);
  bool search();
  void stop_at(double cost);
  bool has_room() const;
  bool take_up(uint32_t number);
  bool wait(uint32_t number);
  enum class Join { kNoRoom, kKnown, kNew };
  Join join_state(uint32_t number);
  uint32_t next_subset(const Subset &before);
  Alignment take_step_ids();
  uint64_t n_assembled_ids(size_t state, const CompactArc &arc) const;
  void add_arc(uint32_t next_subset, uint32_t word, const LatticeCost &cost, const Alignment &ids);

  // Defined in determiniser_result.cc
  Start start() const;
  void return_to(const Start &start);
  void follow_best_path(const Start &start, uint32_t open);
  BestPath find_best_path(uint32_t open) const;
  void wait_at(uint32_t number, uint32_t state, const LatticeCost &cost, const std::vector<uint32_t> &ids);
  std::vector<uint32_t> states_in_order() const;
  CompactLattice assemble() const;

  // Defined in determiniser_width.cc
  double find_width(const Start &begun, double reached, const Room &room, const StopToken &stop);
  void keep_waiting_within(double limit);
  template <typename Renumber>
  void keep_waiting_lists(const Renumber &renumber);
  double limit_of(double beam) const {
    return beam < prepared_beam_ ? lattice_->best + beam + lattice_->slack : lattice_->limit;
  }
  double arc_cost(const CompactArc &arc) const {
    const Subset &next = subsets_[arc.next_state];
    return total(arc.cost + next.passed_cost + next.lead_cost);
  }
  double cost_after(const CompactArc &arc, const ResultCosts &costs) const;
  ResultCosts result_costs() const;
  Dropped beyond(const ResultCosts &costs, double limit) const;
  void keep_within(const ResultCosts &costs, double limit);
  void keep_within_beam();
};

}  // namespace asr
