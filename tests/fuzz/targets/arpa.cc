// SPDX-License-Identifier: Apache-2.0
// Fuzzes language models in ARPA text format: reading, pruning, and the grammar of the pruned model.
#include "builder/graph/arpa.h"
#include "builder/graph/grammar.h"
#include "builder/graph/prune.h"
#include "tests/fuzz/grammar_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {kArpa}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const NgramModel model = prune(read_arpa(fuzz::file("lm.arpa", bytes)), 1e-3);
    ngram_grammar(model, {[](const std::string &) { return true; }, "dictionary", true}, "lm.arpa");
  });
}
