// SPDX-License-Identifier: Apache-2.0
#include "builder/graph/acceptor.h"

#include <fst/script/arcsort.h>
#include <fst/script/connect.h>
#include <fst/script/decode.h>
#include <fst/script/encode.h>
#include <fst/script/encodemapper-class.h>
#include <fst/script/fst-class.h>
#include <fst/script/minimize.h>
#include <fst/script/rmepsilon.h>

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "builder/graph/hash.h"
#include "core/base/error.h"
#include "core/base/limits.h"

namespace asr {
namespace {

using fst::script::VectorFstClass;

VectorFstClass to_fst(const Grammar &grammar) {
  VectorFstClass acceptor(fst::StdArc::Type());
  fst::MutableFst<fst::StdArc> *automaton = acceptor.GetMutableFst<fst::StdArc>();
  for (uint32_t state = 0; state < grammar.n_states(); ++state) automaton->AddState();
  automaton->SetStart(static_cast<int>(grammar.start));
  for (uint32_t state = 0; state < grammar.n_states(); ++state) {
    const int from = static_cast<int>(state);
    if (grammar.final_costs[state] != kNotFinal) automaton->SetFinal(from, grammar.final_costs[state]);
    for (const GrammarArc &arc : grammar.arcs[state]) {
      automaton->AddArc(from, {static_cast<int>(arc.word), static_cast<int>(arc.word), arc.cost, static_cast<int>(arc.next)});
    }
  }
  return acceptor;
}

// The words are numbered as in `symbols`.
Grammar from_fst(const VectorFstClass &acceptor, const Grammar &symbols) {
  const fst::Fst<fst::StdArc> &automaton = *acceptor.GetFst<fst::StdArc>();
  Grammar grammar;
  grammar.words = symbols.words;
  grammar.labels = symbols.labels;
  grammar.garbage = symbols.garbage;
  grammar.start = static_cast<uint32_t>(automaton.Start());
  for (fst::StateIterator<fst::Fst<fst::StdArc>> states(automaton); !states.Done(); states.Next()) {
    const uint32_t from = grammar.add_state();
    grammar.final_costs[from] = automaton.Final(states.Value()).Value();
    for (fst::ArcIterator<fst::Fst<fst::StdArc>> arcs(automaton, states.Value()); !arcs.Done(); arcs.Next()) {
      const fst::StdArc &arc = arcs.Value();
      grammar.arcs[from].push_back(
          {static_cast<uint32_t>(arc.ilabel), arc.weight.Value(), static_cast<uint32_t>(arc.nextstate)});
    }
  }
  return grammar;
}

void remove_epsilons(VectorFstClass *acceptor) {
  const auto all = fst::script::WeightClass::Zero(acceptor->WeightType());
  fst::script::RmEpsilon(acceptor, {fst::AUTO_QUEUE, true, all, fst::kNoStateId, fst::kShortestDelta});
  fst::script::Connect(acceptor);
}

// Determinises an automaton; its states are the sets of states reached by the same symbols. It replaces OpenFst's function in
// order to count its work: n states can need 2^n sets of up to n states each.
class Determiniser {
 public:
  Determiniser(const VectorFstClass &acceptor, const std::string &source)
      : from_(*acceptor.GetFst<fst::StdArc>()),
        n_before_(static_cast<uint64_t>(acceptor.NumStates())),
        source_(source),
        result_(acceptor.ArcType()),
        to_(*result_.GetMutableFst<fst::StdArc>()) {}

  VectorFstClass run() {
    to_.SetStart(state_of({from_.Start()}));
    for (int state = 0; state < to_.NumStates(); ++state) {
      expand(state);
      check_work();
    }
    return std::move(result_);
  }

 private:
  using Subset = std::vector<int>;  // ascending
  struct SubsetHash {
    size_t operator()(const Subset &subset) const {
      uint64_t hash = 0;
      for (const int state : subset) hash = mix_hash(hash, static_cast<uint64_t>(state));
      return hash;
    }
  };

  const fst::Fst<fst::StdArc> &from_;
  const uint64_t n_before_;
  const std::string &source_;
  VectorFstClass result_;
  fst::MutableFst<fst::StdArc> &to_;
  std::unordered_map<Subset, int, SubsetHash> number_of_;
  std::vector<const Subset *> subset_of_;
  std::vector<std::pair<int, int>> arcs_;    // symbol, next state
  uint64_t n_arcs_ = 0, n_subset_arcs_ = 0;  // arcs made; arcs visited

  int state_of(const Subset &subset) {
    const auto [found, is_new] = number_of_.emplace(subset, to_.NumStates());
    if (is_new) {
      subset_of_.push_back(&found->first);
      to_.AddState();
    }
    return found->second;
  }

  void expand(int state) {
    arcs_.clear();
    for (const int old : *subset_of_[static_cast<size_t>(state)]) {
      if (from_.Final(old) != fst::TropicalWeight::Zero()) to_.SetFinal(state, fst::TropicalWeight::One());
      for (fst::ArcIterator<fst::Fst<fst::StdArc>> arcs(from_, old); !arcs.Done(); arcs.Next()) {
        arcs_.emplace_back(arcs.Value().ilabel, arcs.Value().nextstate);
      }
    }
    n_subset_arcs_ += subset_of_[static_cast<size_t>(state)]->size() + arcs_.size();
    std::sort(arcs_.begin(), arcs_.end());
    arcs_.erase(std::unique(arcs_.begin(), arcs_.end()), arcs_.end());
    Subset next;
    for (size_t i = 0; i < arcs_.size(); ++i) {
      next.push_back(arcs_[i].second);
      const int symbol = arcs_[i].first;
      if (i + 1 < arcs_.size() && arcs_[i + 1].first == symbol) continue;
      to_.AddArc(state, {symbol, symbol, fst::TropicalWeight::One(), state_of(next)});
      next.clear();
      ++n_arcs_;
    }
  }

  void check_work() const {
    const uint64_t max_states = kBaseDeterministicStates + kMaxDeterministicRatio * n_before_;
    if (static_cast<uint64_t>(to_.NumStates()) > max_states || n_arcs_ > kMaxGrammarArcs) {
      fail(ASR_UNSUPPORTED, "%s: its %llu states become more than %llu once its words are told apart; use fewer repetitions",
           source_.c_str(), static_cast<unsigned long long>(n_before_), static_cast<unsigned long long>(max_states));
    }
    if (n_subset_arcs_ > kMaxSubsetArcs) {
      fail(ASR_UNSUPPORTED,
           "%s: too many of its %llu states can be reached by the same words; use fewer repetitions, and alternatives that "
           "begin "
           "differently",
           source_.c_str(), static_cast<unsigned long long>(n_before_));
    }
  }
};

}  // namespace

Grammar optimise(const Grammar &grammar, const std::string &source) {
  VectorFstClass acceptor = to_fst(grammar);
  remove_epsilons(&acceptor);
  if (acceptor.Start() == fst::kNoStateId)
    fail(ASR_BAD_FILE, "%s: no sentence can be said with it; check its words and rules", source.c_str());
  // Encodes label and weight as one symbol, since determinising a weighted automaton with loops need not end.
  fst::script::EncodeMapperClass encoder(acceptor.ArcType(), fst::kEncodeLabels | fst::kEncodeWeights);
  fst::script::Encode(&acceptor, &encoder);
  VectorFstClass deterministic = Determiniser(acceptor, source).run();
  fst::script::Minimize(&deterministic);
  fst::script::Decode(&deterministic, encoder);
  remove_epsilons(&deterministic);  // encoding turned final weights into epsilon arcs
  fst::script::ArcSort(&deterministic, fst::script::ILABEL_SORT);
  return from_fst(deterministic, grammar);
}

}  // namespace asr
