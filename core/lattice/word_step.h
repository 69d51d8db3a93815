// SPDX-License-Identifier: Apache-2.0
// WordStep is one step of determinise(): from the lattice states of a word sequence to the states after one more word.
#pragma once

#include <cstddef>
#include <vector>

#include "core/base/stop.h"
#include "core/lattice/prepared_lattice.h"

namespace asr {

// A lattice state that a word sequence leads to, by its best path there. cost and ids exclude the part common to all paths of
// the sequence.
struct SubsetElement {
  uint32_t state;
  Alignment ids;  // in a pool owned by determinise()
  LatticeCost cost;
};

class WordStep {
 public:
  struct Limits {
    uint64_t max_work;  // limit over all steps
    double cost;  // of complete paths that are followed, if the lattice's arcs are ordered by cost; otherwise the lattice's
    StopToken stop;
  };

  // Arcs of the states from `open` on are not followed: most are not in the lattice yet.
  WordStep(const PreparedLattice &prepared, double acoustic_scale, uint32_t open, const Limits &limits);

  // Follows arcs without words from the elements, and then one arc with a word. Only paths that cost at most `beam` more than
  // the best are followed, each completed by its best way to an end. The result does not depend on the way to the elements, so
  // it is the same for all word sequences that lead to them. Memory grows by less than max_bytes.
  void begin(const SubsetElement *elements, size_t n_elements, const uint32_t *pool, double beam, size_t max_bytes);

  // Returns true if begin() stopped at one of its limits; all other results are then undefined.
  bool ran_out() const { return ran_out_; }

  // Returns true if there is no such path and no end.
  bool leads_nowhere() const { return group_.empty() && opened_.empty(); }

  // Returns true if such a path leads to an open state before its word. The words found are then incomplete.
  bool reaches_open() const { return !opened_.empty(); }

  // Returns the total cost of the best complete path through an open state, or with a word before.
  double open_estimate() const;
  double word_estimate() const;
  // Appends the best paths to the open states, by ascending state, with all of their costs and ids.
  void append_open_elements(std::vector<SubsetElement> *elements, std::vector<uint32_t> *pool);
  size_t n_open_elements() const { return opened_.size(); }
  size_t n_open_ids() const;  // sum over these

  // Cost of the best way to end without another word; kNoEnd.
  const LatticeCost &end_cost() const { return end_.path.cost; }
  void append_end_ids(uint32_t from, std::vector<uint32_t> *ids) const { append_ids(end_.path.node, from, ids); }

  // Moves to the first or next word, in ascending order; false after the last.
  bool next_word();
  uint32_t word() const { return arcs_[first_].word; }
  double estimate() const { return estimate_; }  // total cost of the best complete path that goes on with the word

  // Before next_word() the following functions describe paths. These lead to the source states of the next words' arcs,
  // and to the state where the best way ends. After it they describe the paths that end with an arc of the word.
  const LatticeCost &cost() const { return cost_; }  // common part: cost of the best path
  uint32_t n_ids() const { return n_ids_; }          // length of the common part
  void append_ids(uint32_t from, std::vector<uint32_t> *ids) const { append_ids(chain_[n_ids_], from, ids); }
  void append_elements(std::vector<SubsetElement> *elements, std::vector<uint32_t> *pool);  // by ascending state
  size_t n_elements() const { return group_.size(); }
  size_t n_element_ids() const;  // sum over all elements

  uint64_t work() const { return work_; }                             // arcs followed and ids handled so far
  size_t bytes() const { return bytes_of(max_nodes_, max_arcs_); }    // upper bound, without arrays of the lattice's size

 private:
  // The ids of a path form a chain of nodes that ends in node 0.
  struct Node {
    uint32_t before, id;
    uint32_t depth;  // ids in the chain
    uint32_t mark;
  };
  struct Path {
    LatticeCost cost;
    double total;
    uint32_t node;
  };
  struct Visit {
    Path path;
    uint32_t id;  // appended to the path's nodes, unless 0
    uint32_t round = 0;
  };
  struct Reached {
    uint32_t state;
    Path path;
  };
  struct WordArc {
    uint32_t word, from;
    Reached next;
  };

  const PreparedLattice &prepared_;
  const double acoustic_scale_;
  const uint32_t open_;
  const Limits limits_;
  bool ran_out_ = false;
  uint64_t work_ = 0;
  size_t max_nodes_ = 0, max_arcs_ = 0;  // so far
  std::vector<Node> nodes_;
  std::vector<Visit> visits_;      // [state]
  uint32_t round_ = 0;             // visits of other rounds are stale
  std::vector<uint64_t> waiting_;  // one bit per state: visited, arcs not followed yet
  uint64_t n_waiting_ = 0;
  Reached end_;
  std::vector<Reached> opened_;
  std::vector<WordArc> arcs_;
  double limit_ = 0;

  size_t first_ = 0, last_ = 0;  // arcs of the current word
  std::vector<Reached> group_;   // the paths that cost(), n_ids() ... describe
  LatticeCost cost_;
  uint32_t n_ids_ = 0;
  double estimate_ = 0;
  uint32_t mark_ = 0;
  std::vector<uint32_t> chain_;  // nodes of the first path, by depth

  Path path(const LatticeCost &cost, uint32_t node) const { return {cost, cost.total(acoustic_scale_), node}; }
  // Upper bound of the memory. Arcs are grouped, once each. While vectors grow, they take at most three times the size of their
  // content.
  static size_t bytes_of(size_t n_nodes, size_t n_arcs) {
    return 3 * (n_nodes * (sizeof(Node) + sizeof(uint32_t)) + n_arcs * (sizeof(WordArc) + sizeof(Reached) + sizeof(uint32_t)));
  }
  uint32_t add_node(uint32_t before, uint32_t id);
  int compare_ids(uint32_t node_a, uint32_t id_a, uint32_t node_b, uint32_t id_b);
  bool better(const Path &a, uint32_t id_a, const Path &b, uint32_t id_b);
  void visit(uint32_t state, const Path &path, uint32_t id);
  void follow(uint32_t state);
  void follow_waiting(size_t first_block, size_t max_bytes);
  void sort_arcs();
  void group_sources();
  void find_common();
  void append_ids(uint32_t node, uint32_t from_depth, std::vector<uint32_t> *ids) const;
};

}  // namespace asr
