// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/acceptor.h"

#include <fst/determinize.h>
#include <fst/script/arcsort.h>
#include <fst/script/connect.h>
#include <fst/script/decode.h>
#include <fst/script/encode.h>
#include <fst/script/encodemapper-class.h>
#include <fst/script/fst-class.h>
#include <fst/script/minimize.h>
#include <fst/script/rmepsilon.h>

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

// The words are those of `symbols`.
Grammar from_fst(const VectorFstClass &acceptor, const Grammar &symbols) {
  const fst::Fst<fst::StdArc> &automaton = *acceptor.GetFst<fst::StdArc>();
  Grammar grammar;
  grammar.words = symbols.words;
  grammar.labels = symbols.labels;
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

// State by state, as a grammar of n states can need 2^n of them.
VectorFstClass determinise(const VectorFstClass &acceptor, const std::string &source) {
  fst::DeterminizeFstOptions<fst::StdArc> options;
  options.gc_limit = 0;  // each state is asked for once
  const fst::DeterminizeFst<fst::StdArc> lazy(*acceptor.GetFst<fst::StdArc>(), options);
  VectorFstClass deterministic(acceptor.ArcType());
  fst::MutableFst<fst::StdArc> *automaton = deterministic.GetMutableFst<fst::StdArc>();
  automaton->AddState();
  automaton->SetStart(lazy.Start());  // 0; states are numbered as they are met
  const uint64_t n_before = static_cast<uint64_t>(acceptor.NumStates());
  const uint64_t most_states = kSureDeterministicStates + kMostDeterministicRatio * n_before;
  uint64_t n_arcs = 0;
  for (int state = 0; state < automaton->NumStates(); ++state) {
    automaton->SetFinal(state, lazy.Final(state));
    for (fst::ArcIterator<fst::Fst<fst::StdArc>> arcs(lazy, state); !arcs.Done(); arcs.Next()) {
      while (automaton->NumStates() <= arcs.Value().nextstate) automaton->AddState();
      automaton->AddArc(state, arcs.Value());
      ++n_arcs;
    }
    if (static_cast<uint64_t>(automaton->NumStates()) > most_states || n_arcs > kMostGrammarArcs) {
      fail(ASR_UNSUPPORTED, "%s: its %llu states become more than %llu once its words are told apart; use fewer repetitions",
           source.c_str(), static_cast<unsigned long long>(n_before), static_cast<unsigned long long>(most_states));
    }
  }
  return deterministic;
}

}  // namespace

Grammar optimise(const Grammar &grammar, const std::string &source) {
  VectorFstClass acceptor = to_fst(grammar);
  remove_epsilons(&acceptor);
  if (acceptor.Start() == fst::kNoStateId)
    fail(ASR_BAD_FILE, "%s: no sentence can be said with it; check its words and rules", source.c_str());
  // Labels and weights are taken as one symbol: determinising a weighted automaton with loops need not end.
  fst::script::EncodeMapperClass encoder(acceptor.ArcType(), fst::kEncodeLabels | fst::kEncodeWeights);
  fst::script::Encode(&acceptor, &encoder);
  VectorFstClass deterministic = determinise(acceptor, source);
  fst::script::Minimize(&deterministic);
  fst::script::Decode(&deterministic, encoder);
  remove_epsilons(&deterministic);  // encoding turned final weights into epsilon arcs
  fst::script::ArcSort(&deterministic, fst::script::ILABEL_SORT);
  return from_fst(deterministic, grammar);
}

}  // namespace asr
