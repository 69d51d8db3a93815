// SPDX-License-Identifier: Apache-2.0
// The expansion walks junctions, the points between two phones. A junction is a position in the lexical graph, the
// phone before it and the set of phones that may follow. The preceding HMM was chosen for exactly these right
// neighbours. So the right context is guessed on entering a phone and kept by the junction after it. No phone has more
// copies than different HMMs.
//
// The phrases of a class are unknown here: any phone may begin one, and any phone or silence may end it. So each use of a class
// has ports for every preceding phone and every following one, whether or not the phrases need them.
#include "builder/graph/context_expansion.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <unordered_map>

#include "builder/graph/right_contexts.h"
#include "core/base/error.h"

namespace asr {
namespace {

struct Junction {
  uint32_t place;       // state of the lexical graph
  uint32_t left;        // neighbour
  uint32_t neighbours;  // set id of the phones that may follow
  bool after_word;      // directly after a word, filler or at the start: fillers may follow
};

class Expander {
 public:
  Expander(const LexicalGraph &lexical, const HmmSet &set, const ContextTable &contexts, const std::vector<Filler> &fillers,
           const TransitionScales &scales)
      : lexical_(lexical),
        set_(set),
        table_(contexts),
        fillers_(fillers),
        contexts_(set, contexts),
        states_(set, scales, &graph_) {
    follow_.assign(lexical.n_states(), kUnset);
    follow_at_once_.assign(lexical.n_states(), kUnset);
  }

  Expansion run(const BuildProgress &progress) {
    graph_.start = boundary(lexical_.start, contexts_.edge_neighbour());
    return finish(progress);
  }

  Expansion run_class(uint32_t end) {
    class_end_ = end;
    follow_[end] = follow_at_once_[end] = contexts_.id(contexts_.all());
    graph_.start = graph_.add_state();
    class_sink_ = graph_.add_state();
    graph_.final_costs[class_sink_] = 0;
    std::vector<StateArc> arcs;
    for (const uint32_t left : members(contexts_.all())) {
      for (const uint32_t first : members(contexts_[follow(lexical_.start)])) {
        const uint32_t begin = junction({lexical_.start, left, contexts_.id(only(first)), false});
        arcs.push_back({kPortArc, port({0, left, only(first)}), 0, begin});
      }
    }
    graph_.set_arcs(graph_.start, arcs);
    return finish([](double, const std::string &) {});
  }

 private:
  Expansion finish(const BuildProgress &progress) {
    for (size_t done = 0; !todo_.empty(); ++done) {
      const auto [state, at] = todo_.front();
      todo_.pop_front();
      expand(state, at);
      if (graph_.arcs.size() > lexical_.max_expanded_arcs) {
        fail(ASR_UNSUPPORTED,
             "the grammar comes to more than %llu arcs with all neighbours of its phones; let fewer short words follow each "
             "other",
             static_cast<unsigned long long>(lexical_.max_expanded_arcs));
      }
      const size_t n_known = done + 1 + todo_.size();
      if (done % 65536 == 0) progress(double(done) / double(n_known), format("expanding contexts: %zu of %zu", done, n_known));
    }
    return {std::move(graph_), states_.transitions(), std::move(ports_)};
  }

  static constexpr uint32_t kUnset = 0xffffffffu;
  struct Span {
    uint32_t begin, size;
  };
  const LexicalGraph &lexical_;
  const HmmSet &set_;
  const ContextTable &table_;
  const std::vector<Filler> &fillers_;
  StateGraph graph_;
  RightContexts contexts_;
  HmmStates states_;
  std::vector<uint32_t> follow_;          // [lexical state] set id of the neighbours that may follow
  std::vector<uint32_t> follow_at_once_;  // follow_ without epsilon arcs
  FlatMap<uint32_t> junction_of_;
  std::deque<std::pair<uint32_t, Junction>> todo_;
  FlatMap<Span> entries_of_;
  GrowingArray<StateArc> entry_pool_;
  std::vector<Port> ports_;
  std::unordered_map<uint64_t, std::vector<uint32_t>> ports_by_left_;  // port numbers, counted from 1
  std::unordered_map<uint32_t, uint32_t> returns_of_;                  // [lexical state]: state of its ports
  uint32_t class_end_ = kUnset, class_sink_ = kUnset;

  // Looks along chains of epsilon arcs, which are as long as a text whose words may all be skipped.
  uint32_t follow(uint32_t place) {
    for (std::vector<uint32_t> path{place}; !path.empty();) {
      const uint32_t next = unset_after(path.back());
      if (next != kUnset) {
        path.push_back(next);
      } else {
        set_follow(path.back());
        path.pop_back();
      }
    }
    return follow_[place];
  }

  // Returns a place after an epsilon arc that is not known yet; kUnset if there is none.
  uint32_t unset_after(uint32_t place) const {
    if (follow_[place] != kUnset) return kUnset;
    for (uint32_t i = 0; i < lexical_.n_arcs[place]; ++i) {
      const LexicalArc &arc = lexical_.arcs[lexical_.begin[place] + i];
      if (arc.label == 0 && follow_[arc.next] == kUnset) return arc.next;
    }
    return kUnset;
  }

  void set_follow(uint32_t place) {
    if (follow_[place] != kUnset) return;
    NeighbourSet at_once, after_epsilon;
    if (lexical_.final_costs[place] != kNotFinal) at_once.set(contexts_.edge_neighbour());
    for (uint32_t i = 0; i < lexical_.n_arcs[place]; ++i) {
      const LexicalArc &arc = lexical_.arcs[lexical_.begin[place] + i];
      if (is_class_label(arc.label)) {
        at_once |= class_begins();
      } else if (arc.label == kGarbageLabel) {
        at_once.set(contexts_.silence_neighbour());
      } else if (arc.label != 0) {
        at_once.set(neighbour_of(arc.label));
      } else {
        after_epsilon |= contexts_[follow_[arc.next]];
      }
    }
    follow_at_once_[place] = contexts_.id(at_once);
    follow_[place] = contexts_.id(at_once | after_epsilon);
  }

  // Returns the set of phones that may follow if fillers may, too.
  uint32_t follow_with_fillers(uint32_t place) {
    NeighbourSet neighbours = contexts_[follow(place)];
    if (!fillers_.empty()) neighbours.set(contexts_.silence_neighbour());
    return contexts_.id(neighbours);
  }

  // Returns the junction after a filler or at the start.
  uint32_t boundary(uint32_t place, uint32_t left) {
    return junction({place, left, follow_with_fillers(place), !fillers_.empty()});
  }

  // Skips a junction whose only continuation is to back off, and returns the cost. The preceding arcs then do not depend on the
  // abandoned history, and all histories share them.
  float pass_backoffs(Junction *junction) {
    const bool fillers_follow = !fillers_.empty() && contexts_[junction->neighbours][contexts_.silence_neighbour()];
    junction->after_word &= fillers_follow;
    float cost = 0;
    while (!junction->after_word) {
      follow(junction->place);
      if ((contexts_[follow_at_once_[junction->place]] & contexts_[junction->neighbours]).any()) break;
      const LexicalArc *arcs = lexical_.arcs.data() + lexical_.begin[junction->place];  // epsilon arcs come first
      const uint32_t n_arcs = lexical_.n_arcs[junction->place];
      if (n_arcs == 0 || arcs[0].label != 0 || arcs[0].word != 0 || (n_arcs > 1 && arcs[1].label == 0)) break;
      cost += arcs[0].cost;
      junction->place = arcs[0].next;
      junction->neighbours = contexts_.id(contexts_[junction->neighbours] & contexts_[follow(arcs[0].next)]);
    }
    return cost;
  }

  uint32_t junction(const Junction &junction) {
    if (junction.neighbours >= 1u << 22)
      fail(ASR_UNSUPPORTED, "the model and grammar need too many context classes; simplify the grammar");
    const uint64_t key = uint64_t(junction.place) << 32 | uint64_t(junction.neighbours) << 10 | uint64_t(junction.left) << 1 |
                         uint64_t(junction.after_word);
    const auto [state, added] = junction_of_.try_emplace(key);
    if (added) {
      *state = graph_.add_state();
      todo_.emplace_back(*state, junction);
    }
    return *state;
  }

  // Neighbours that a phrase of a class may begin with; a word may be a filler, too.
  const NeighbourSet &class_begins() const { return contexts_.spoken(); }

  uint32_t neighbour_of(uint32_t label) const { return table_.neighbour(label_phone(label), label_position(label)); }

  static NeighbourSet only(uint32_t neighbour) { return NeighbourSet().set(neighbour); }

  std::vector<uint32_t> members(const NeighbourSet &neighbours) const {
    std::vector<uint32_t> list;
    for (uint32_t i = 0; i < contexts_.n_neighbours(); ++i) {
      if (neighbours[i]) list.push_back(i);
    }
    return list;
  }

  uint32_t port(const Port &port) {
    std::vector<uint32_t> &known = ports_by_left_[uint64_t(port.word) << 32 | port.left];
    for (const uint32_t number : known) {
      if (ports_[number - 1].right == port.right) return number;
    }
    ports_.push_back(port);
    known.push_back(static_cast<uint32_t>(ports_.size()));
    return known.back();
  }

  // Returns the state whose arcs lead through ports to the phones that may follow a class before this lexical state.
  uint32_t returns(uint32_t next) {
    const auto [known, added] = returns_of_.try_emplace(next, 0);
    if (!added) return known->second;
    const uint32_t state = known->second = graph_.add_state();
    std::vector<StateArc> arcs;
    for (const uint32_t last : members(contexts_.spoken())) {
      for (const uint32_t right : members(contexts_[follow_with_fillers(next)])) {
        Junction after{next, last, contexts_.id(only(right)), true};
        const float cost = pass_backoffs(&after);
        arcs.push_back({kPortArc, port({0, last, only(right)}), cost, junction(after)});
      }
    }
    graph_.set_arcs(state, arcs);
    return state;
  }

  Span store(const std::vector<StateArc> &entry) {
    if (entry_pool_.size() + entry.size() >= kMaxGraphArcs)
      fail(ASR_UNSUPPORTED, "the graph has more than 2^32 arcs; prune the language model more");
    entry_pool_.append(entry.data(), entry.size());
    return {static_cast<uint32_t>(entry_pool_.size() - entry.size()), static_cast<uint32_t>(entry.size())};
  }

  // Returns the arcs that enter a phone of the lexical graph after `left`, made once for all equal arcs.
  Span enter_phone(uint32_t label, uint32_t left, uint32_t next) {
    const uint64_t key = uint64_t(next) << 32 | uint64_t(label) << 10 | left;
    const auto [known, added] = entries_of_.try_emplace(key);
    if (!added) return *known;
    const uint32_t phone = label_phone(label);
    const bool after_word = ends_word(label);
    const uint32_t neighbours = after_word ? follow_with_fillers(next) : follow(next);
    std::vector<HmmBranch> branches;
    for (const RightContexts::Class &of : contexts_.classes(phone, label_position(label), left, neighbours)) {
      Junction exit{next, neighbour_of(label), of.neighbours, after_word};
      const float cost = pass_backoffs(&exit);
      branches.push_back({of.hmm, junction(exit), cost});
    }
    return *known = store(states_.enter(phone, static_cast<uint8_t>(label_position(label)), std::move(branches)));
  }

  // A filler skipped without a frame would make a loop of epsilon arcs, so a filler lasts at least a frame.
  Span enter_filler(uint32_t phone, uint32_t next) {
    const uint64_t key = uint64_t(next) << 32 | uint64_t(1) << 31 | phone;
    const auto [known, added] = entries_of_.try_emplace(key);
    if (!added) return *known;
    // The graph that uses a class provides the fillers at its end. So a class distinguishes fillers from words that count as
    // silence.
    const uint32_t left = class_end_ == kUnset ? contexts_.silence_neighbour() : contexts_.filler_neighbour();
    std::vector<StateArc> entry = states_.enter(phone, kAnyPosition, {{set_.phones[phone].hmm, boundary(next, left), 0}});
    const auto is_epsilon = [](const StateArc &arc) { return arc.transition_id == 0; };
    entry.erase(std::remove_if(entry.begin(), entry.end(), is_epsilon), entry.end());
    return *known = store(entry);
  }

  // Garbage is a loop of phones without context, as the background (phone_loop.h).
  Span enter_garbage(uint32_t next) {
    const uint64_t key = uint64_t(next) << 32 | kGarbageLabel;
    const auto [known, added] = entries_of_.try_emplace(key);
    if (!added) return *known;
    const float cost = on_cost_grid(std::log(static_cast<double>(set_.phones.size())));
    const uint32_t exit = boundary(next, contexts_.silence_neighbour());
    std::vector<StateArc> entry;
    for (uint32_t phone = 0; phone < set_.phones.size(); ++phone) {
      if (set_.phones[phone].filler) continue;  // fillers follow by themselves
      for (const StateArc &arc : states_.enter(phone, kAnyPosition, {{set_.phones[phone].hmm, exit, cost}})) {
        if (arc.transition_id != 0) entry.push_back(arc);  // a phone lasts a frame at least, as fillers
      }
    }
    return *known = store(entry);
  }

  void expand(uint32_t state, Junction at) {
    const NeighbourSet allowed = contexts_[at.neighbours];
    std::vector<StateArc> arcs;
    if (at.place == class_end_) {
      arcs.push_back({kPortArc, port({0, at.left, allowed}), 0, class_sink_});
      graph_.set_arcs(state, arcs);
      return;
    }
    const auto append = [&](Span entry, uint32_t word, float cost) {
      for (uint32_t i = entry.begin; i < entry.begin + entry.size; ++i) {
        const StateArc &arc = entry_pool_[i];
        arcs.push_back({arc.transition_id, word, cost + arc.cost, arc.next});
      }
    };
    for (uint32_t i = 0; i < lexical_.n_arcs[at.place]; ++i) {
      const LexicalArc arc = lexical_.arcs[lexical_.begin[at.place] + i];
      if (is_class_label(arc.label)) {
        const uint32_t after = returns(arc.next);
        for (const uint32_t first : members(allowed & class_begins())) {
          arcs.push_back({kPortArc, port({label_class(arc.label), at.left, only(first)}), arc.cost, after});
        }
      } else if (arc.label == kGarbageLabel) {
        if (allowed[contexts_.silence_neighbour()]) append(enter_garbage(arc.next), 0, arc.cost);
      } else if (arc.label == 0) {
        if (arc.next == class_end_ && at.left == contexts_.filler_neighbour()) continue;  // see boundary
        const NeighbourSet still_allowed = allowed & contexts_[follow(arc.next)];
        if (still_allowed.none()) continue;
        Junction next{arc.next, at.left, contexts_.id(still_allowed), false};
        const float cost = arc.cost + pass_backoffs(&next);
        arcs.push_back({0, arc.word, cost, junction(next)});
      } else if (allowed[neighbour_of(arc.label)]) {
        append(enter_phone(arc.label, at.left, arc.next), arc.word, arc.cost);
      }
    }
    if (at.after_word) {
      for (const Filler &filler : fillers_) append(enter_filler(filler.phone, at.place), 0, on_cost_grid(filler.cost));
    }
    if (allowed[contexts_.edge_neighbour()]) graph_.final_costs[state] = lexical_.final_costs[at.place];
    graph_.set_arcs(state, arcs);
  }
};

}  // namespace

Expansion expand_contexts(const LexicalGraph &lexical, const HmmSet &set, const ContextTable &contexts,
                          const std::vector<Filler> &fillers, const TransitionScales &scales, const BuildProgress &progress) {
  return Expander(lexical, set, contexts, fillers, scales).run(progress);
}

Expansion expand_class(const LexicalGraph &lexical, uint32_t end, const HmmSet &set, const ContextTable &contexts,
                       const std::vector<Filler> &fillers, const TransitionScales &scales) {
  return Expander(lexical, set, contexts, fillers, scales).run_class(end);
}

}  // namespace asr
