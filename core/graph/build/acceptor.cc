// SPDX-License-Identifier: Apache-2.0
#include "core/graph/build/acceptor.h"

#include <fst/arcsort.h>
#include <fst/connect.h>
#include <fst/determinize.h>
#include <fst/encode.h>
#include <fst/minimize.h>
#include <fst/rmepsilon.h>
#include <fst/vector-fst.h>

#include "core/base/error.h"

namespace asr {
namespace {

fst::StdVectorFst to_fst(const Grammar &grammar) {
  fst::StdVectorFst automaton;
  for (uint32_t state = 0; state < grammar.n_states(); ++state) automaton.AddState();
  automaton.SetStart(static_cast<int>(grammar.start));
  for (uint32_t state = 0; state < grammar.n_states(); ++state) {
    const int from = static_cast<int>(state);
    if (grammar.final_costs[state] != kNotFinal) automaton.SetFinal(from, grammar.final_costs[state]);
    for (const GrammarArc &arc : grammar.arcs[state]) {
      automaton.AddArc(from, {static_cast<int>(arc.word), static_cast<int>(arc.word), arc.cost, static_cast<int>(arc.next)});
    }
  }
  return automaton;
}

Grammar from_fst(const fst::StdVectorFst &automaton, std::vector<std::string> words) {
  Grammar grammar;
  grammar.words = std::move(words);
  grammar.start = static_cast<uint32_t>(automaton.Start());
  for (int state = 0; state < automaton.NumStates(); ++state) {
    const uint32_t from = grammar.add_state();
    grammar.final_costs[from] = automaton.Final(state).Value();
    for (fst::ArcIterator<fst::StdVectorFst> arcs(automaton, state); !arcs.Done(); arcs.Next()) {
      const fst::StdArc &arc = arcs.Value();
      grammar.arcs[from].push_back(
          {static_cast<uint32_t>(arc.ilabel), arc.weight.Value(), static_cast<uint32_t>(arc.nextstate)});
    }
  }
  return grammar;
}

}  // namespace

Grammar optimise(const Grammar &grammar, const std::string &source) {
  fst::StdVectorFst automaton = to_fst(grammar);
  fst::RmEpsilon(&automaton);
  fst::Connect(&automaton);
  if (automaton.Start() == fst::kNoStateId)
    fail(ASR_BAD_FILE, "%s: no sentence can be said with it; check its words and rules", source.c_str());
  // Labels and weights are taken as one symbol: determinising a weighted automaton with loops need not end.
  fst::EncodeMapper<fst::StdArc> encoder(fst::kEncodeLabels | fst::kEncodeWeights, fst::ENCODE);
  fst::Encode(&automaton, &encoder);
  fst::StdVectorFst deterministic;
  fst::Determinize(automaton, &deterministic);
  fst::Minimize(&deterministic);
  fst::Decode(&deterministic, encoder);
  fst::RmEpsilon(&deterministic);  // encoding turned final weights into epsilon arcs
  fst::Connect(&deterministic);
  fst::ArcSort(&deterministic, fst::ILabelCompare<fst::StdArc>());
  return from_fst(deterministic, grammar.words);
}

}  // namespace asr
