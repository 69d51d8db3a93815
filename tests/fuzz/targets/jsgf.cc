// SPDX-License-Identifier: Apache-2.0
// Fuzzes grammars in JSGF: reading, expanding, and determinising.
#include "builder/graph/jsgf.h"
#include "builder/graph/acceptor.h"
#include "builder/graph/grammar.h"
#include "tests/fuzz/grammar_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {kJsgf}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  // kMaxGrammarStates and kMaxGrammarArcs bound the expansion: n rules that use each other twice make 2^n states.
  const fuzz::Budget budget = {1200, 4096, 20, 100};
  return fuzz::run(data, size, budget, [](const std::string &bytes) {
    const Rules rules = read_jsgf(fuzz::file("grammar.jsgf", bytes), LetterCase::kLower);
    const Vocabulary vocabulary = {[](const std::string &) { return true; }, "dictionary", false};
    optimise(rules_grammar(rules, "", vocabulary, "grammar.jsgf"), "grammar.jsgf");
  });
}
