// SPDX-License-Identifier: Apache-2.0
// Fuzzes grammars in the XML form of SRGS: the XML reader, and expansion with tags.
#include "builder/graph/srgs.h"
#include "builder/graph/grammar.h"
#include "tests/fuzz/grammar_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {kSrgs}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {1200, 4096, 20, 100};
  return fuzz::run(data, size, budget, [](const std::string &bytes) {
    const Vocabulary vocabulary = {[](const std::string &) { return true; }, "dictionary", false};
    rules_grammar(parse_srgs(bytes, "grammar.grxml", LetterCase::kLower), "", vocabulary, "grammar.grxml");
  });
}
