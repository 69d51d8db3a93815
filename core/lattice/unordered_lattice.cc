// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/unordered_lattice.h"

#include <algorithm>
#include <functional>
#include <queue>

#include "core/base/error.h"

namespace asr {
namespace {

constexpr uint32_t kNone = 0xffffffffu;

class Sorter {
 public:
  explicit Sorter(const UnorderedLattice &lattice) : lattice_(lattice) {
    collect_numbers();
    order_arcs();
  }

  CompactLattice run() {
    find_order();
    CompactLattice result;
    result.transition_ids = lattice_.transition_ids;
    result.frames.assign(order_.size(), kNone);
    result.ends.resize(order_.size());
    result.frames[0] = 0;
    for (const uint32_t state : order_) {
      const uint32_t frame = result.frames[place_[state]];
      for (size_t i = first_arc_[state]; i < first_arc_[state + 1]; ++i) {
        const UnorderedLattice::Arc &arc = lattice_.arcs[arcs_[i]];
        const uint32_t next = place_[index_of(arc.to)];
        result.arcs.push_back({next, arc.word, arc.cost, arc.alignment});
        const uint32_t next_frame = frame + arc.alignment.size;
        if (next_frame < frame) fail(ASR_BAD_FILE, "paths to state %u have too many frames; it is damaged", arc.to);
        if (result.frames[next] != kNone && result.frames[next] != next_frame) {
          fail(ASR_BAD_FILE, "paths with different numbers of frames lead to state %u; it is damaged", arc.to);
        }
        result.frames[next] = next_frame;
      }
      result.arc_begin.push_back(result.arcs.size());
    }
    for (const UnorderedLattice::Ending &ending : lattice_.endings) {
      const uint32_t place = place_[index_of(ending.state)];
      if (place == kNone) continue;
      if (is_end(result.ends[place].cost)) fail(ASR_BAD_FILE, "state %u ends twice; it is damaged", ending.state);
      result.ends[place] = ending.end;
    }
    return result;
  }

 private:
  const UnorderedLattice &lattice_;
  std::vector<uint32_t> numbers_;  // file numbers of all states, ascending; a state's index refers to this array
  std::vector<size_t> arcs_;       // arc indices, grouped by source state
  std::vector<size_t> first_arc_;  // [n_states + 1]: in arcs_
  std::vector<uint32_t> order_;    // indices of the reachable states, sorted
  std::vector<uint32_t> place_;    // [n_states]: index in order_; kNone

  uint32_t index_of(uint32_t number) const {
    return static_cast<uint32_t>(std::lower_bound(numbers_.begin(), numbers_.end(), number) - numbers_.begin());
  }

  void collect_numbers() {
    numbers_.push_back(lattice_.start);
    for (const auto &arc : lattice_.arcs) numbers_.insert(numbers_.end(), {arc.from, arc.to});
    for (const auto &ending : lattice_.endings) numbers_.push_back(ending.state);
    std::sort(numbers_.begin(), numbers_.end());
    numbers_.erase(std::unique(numbers_.begin(), numbers_.end()), numbers_.end());
  }

  void order_arcs() {
    first_arc_.assign(numbers_.size() + 1, 0);
    for (const auto &arc : lattice_.arcs) ++first_arc_[index_of(arc.from) + 1];
    for (size_t s = 0; s < numbers_.size(); ++s) first_arc_[s + 1] += first_arc_[s];
    std::vector<size_t> next = first_arc_;
    arcs_.resize(lattice_.arcs.size());
    for (size_t a = 0; a < arcs_.size(); ++a) arcs_[next[index_of(lattice_.arcs[a].from)]++] = a;
  }

  // Returns the number of arcs into each reachable state; one more for the start itself.
  std::vector<uint32_t> count_ways() const {
    std::vector<uint32_t> ways(numbers_.size());
    std::vector<uint32_t> stack = {index_of(lattice_.start)};
    ways[stack[0]] = 1;
    while (!stack.empty()) {
      const uint32_t state = stack.back();
      stack.pop_back();
      for (size_t i = first_arc_[state]; i < first_arc_[state + 1]; ++i) {
        const uint32_t next = index_of(lattice_.arcs[arcs_[i]].to);
        if (ways[next]++ == 0) stack.push_back(next);
      }
    }
    return ways;
  }

  void find_order() {
    std::vector<uint32_t> ways = count_ways();
    const auto n_reached = static_cast<size_t>(std::count_if(ways.begin(), ways.end(), [](uint32_t n) { return n > 0; }));
    place_.assign(numbers_.size(), kNone);
    std::priority_queue<uint32_t, std::vector<uint32_t>, std::greater<>> ready;
    const auto take_way = [&](uint32_t state) {
      if (--ways[state] == 0) ready.push(state);
    };
    take_way(index_of(lattice_.start));
    while (!ready.empty()) {
      const uint32_t state = ready.top();
      ready.pop();
      place_[state] = static_cast<uint32_t>(order_.size());
      order_.push_back(state);
      for (size_t i = first_arc_[state]; i < first_arc_[state + 1]; ++i) take_way(index_of(lattice_.arcs[arcs_[i]].to));
    }
    if (order_.size() != n_reached) fail(ASR_BAD_FILE, "its arcs go round in a cycle; it is damaged");
  }
};

}  // namespace

CompactLattice UnorderedLattice::sorted() const { return Sorter(*this).run(); }

}  // namespace asr
