// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/acceptor.h"

#include <fst/script/arcsort.h>
#include <fst/script/connect.h>
#include <fst/script/decode.h>
#include <fst/script/determinize.h>
#include <fst/script/encode.h>
#include <fst/script/encodemapper-class.h>
#include <fst/script/fst-class.h>
#include <fst/script/minimize.h>
#include <fst/script/rmepsilon.h>

#include "core/base/error.h"

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

Grammar from_fst(const VectorFstClass &acceptor, std::vector<std::string> words) {
  const fst::Fst<fst::StdArc> &automaton = *acceptor.GetFst<fst::StdArc>();
  Grammar grammar;
  grammar.words = std::move(words);
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

VectorFstClass determinise(const VectorFstClass &acceptor) {
  const auto all = fst::script::WeightClass::Zero(acceptor.WeightType());
  VectorFstClass deterministic(acceptor.ArcType());
  fst::script::Determinize(acceptor, &deterministic, {fst::kDelta, all});
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
  VectorFstClass deterministic = determinise(acceptor);
  fst::script::Minimize(&deterministic);
  fst::script::Decode(&deterministic, encoder);
  remove_epsilons(&deterministic);  // encoding turned final weights into epsilon arcs
  fst::script::ArcSort(&deterministic, fst::script::ILABEL_SORT);
  return from_fst(deterministic, grammar.words);
}

}  // namespace asr
