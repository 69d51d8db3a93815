// SPDX-License-Identifier: Apache-2.0
#include "core/lattice/rescore.h"

#include <cmath>
#include <map>

#include "core/base/error.h"

namespace asr {
namespace {

// A state of the result combines a state of the lattice with one of each automaton. States made from one lattice state are
// adjacent in the result, in the order in which they were reached.
class Rescorer {
 public:
  Rescorer(const CompactLattice &lattice, WordScores &old_scores, WordScores &new_scores, const RescoreBounds &bounds)
      : lattice_(lattice), old_(old_scores), new_(new_scores), bounds_(bounds), places_(lattice.n_states()) {}

  CompactLattice run() {
    place(0, {old_.start(), new_.start()});
    for (uint32_t s = 0; s < lattice_.n_states(); ++s) {
      first_of_.push_back(static_cast<uint32_t>(states_.size()));
      for (const Histories &histories : places_[s].histories) {
        bounds_.stop.check();
        add_state(s, histories);
      }
    }
    return without_dead_ends();
  }

 private:
  using Histories = std::pair<uint32_t, uint32_t>;  // states of the old and the new automaton
  struct Places {
    std::vector<Histories> histories;
    std::map<Histories, uint32_t> index_of;
  };
  struct Arc {
    uint64_t source;      // state in the lattice
    uint32_t next_place;  // index among the states of the source's next state
    double cost_change;
  };
  struct State {
    uint32_t source;
    size_t arcs_end;
    double end_cost_change;  // +infinity: not an end
  };

  const CompactLattice &lattice_;
  WordScores &old_, &new_;
  const RescoreBounds bounds_;
  size_t n_places_ = 0;
  std::vector<Places> places_;      // [lattice state]
  std::vector<uint32_t> first_of_;  // [lattice state]: its first state
  std::vector<State> states_;
  std::vector<Arc> arcs_;

  uint32_t place(uint32_t s, const Histories &histories) {
    Places &places = places_[s];
    const auto [found, is_new] = places.index_of.emplace(histories, static_cast<uint32_t>(places.histories.size()));
    if (is_new && ++n_places_ > bounds_.max_states) {
      fail(ASR_UNSUPPORTED, "the lattice comes to more than %zu states with the new word costs; prune it", bounds_.max_states);
    }
    if (is_new) places.histories.push_back(histories);
    return found->second;
  }

  static double change(double old_cost, double new_cost) {
    if (std::isinf(old_cost)) {
      fail(ASR_INVALID_ARGUMENT,
           "the old language model does not allow the words of the lattice; give the one that the graph was made of");
    }
    return new_cost - old_cost;
  }

  void add_state(uint32_t s, const Histories &histories) {
    for (uint64_t a = lattice_.arc_begin[s]; a < lattice_.arc_begin[s + 1]; ++a) {
      const CompactArc &arc = lattice_.arcs[a];
      Histories next = histories;
      double cost_change = 0;
      if (arc.word != 0) {
        const double old_cost = old_.advance(histories.first, arc.word, &next.first);
        cost_change = change(old_cost, new_.advance(histories.second, arc.word, &next.second));
      }
      if (!std::isinf(cost_change)) arcs_.push_back({a, place(arc.next_state, next), cost_change});
      if (arcs_.size() > bounds_.max_arcs) {
        fail(ASR_UNSUPPORTED, "the lattice comes to more than %zu arcs with the new word costs; prune it", bounds_.max_arcs);
      }
    }
    double end_cost_change = kNoEnd.graph;
    if (is_end(lattice_.ends[s].cost)) end_cost_change = change(old_.end(histories.first), new_.end(histories.second));
    states_.push_back({s, arcs_.size(), end_cost_change});
  }

  uint32_t next_state(const Arc &arc) const { return first_of_[lattice_.arcs[arc.source].next_state] + arc.next_place; }

  // [states_]: new number of each state that reaches an end.
  std::vector<uint32_t> number_states() const {
    std::vector<uint32_t> numbers(states_.size(), 0);
    for (size_t i = states_.size(); i-- > 0;) {
      numbers[i] = !std::isinf(states_[i].end_cost_change);
      for (size_t a = i == 0 ? 0 : states_[i - 1].arcs_end; a < states_[i].arcs_end && numbers[i] == 0; ++a) {
        numbers[i] = numbers[next_state(arcs_[a])];
      }
    }
    uint32_t n_alive = 0;
    for (uint32_t &number : numbers) number = number == 0 ? kDead : n_alive++;
    return numbers;
  }
  static constexpr uint32_t kDead = 0xffffffffu;

  CompactLattice without_dead_ends() const {
    const std::vector<uint32_t> numbers = number_states();
    CompactLattice result;
    result.transition_ids = lattice_.transition_ids;
    if (numbers[0] == kDead) return result;
    for (size_t i = 0; i < states_.size(); ++i) {
      if (numbers[i] == kDead) continue;
      const State &state = states_[i];
      for (size_t a = i == 0 ? 0 : states_[i - 1].arcs_end; a < state.arcs_end; ++a) {
        CompactArc arc = lattice_.arcs[arcs_[a].source];
        arc.next_state = numbers[next_state(arcs_[a])];
        arc.cost.graph += arcs_[a].cost_change;
        if (arc.next_state != kDead) result.arcs.push_back(arc);
      }
      CompactLattice::End end;
      if (!std::isinf(state.end_cost_change)) {
        end = lattice_.ends[state.source];
        end.cost.graph += state.end_cost_change;
      }
      result.arc_begin.push_back(result.arcs.size());
      result.frames.push_back(lattice_.frames[state.source]);
      result.ends.push_back(end);
    }
    return result;
  }
};

}  // namespace

CompactLattice rescore(const CompactLattice &lattice, WordScores &old_scores, WordScores &new_scores,
                       const RescoreBounds &bounds) {
  if (lattice.n_states() == 0) return lattice;
  return Rescorer(lattice, old_scores, new_scores, bounds).run();
}

}  // namespace asr
