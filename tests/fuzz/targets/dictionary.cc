// SPDX-License-Identifier: Apache-2.0
// Fuzzes pronunciation dictionaries in CMU Sphinx form.
#include "builder/graph/lexicon.h"
#include "tests/fuzz/grammar_seeds.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {"a A B\nb(2) B\nb B A\n", "A\tA\n;; comment\n", kDictionary}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    size_t n_left_out = 0;
    read_sphinx_lexicon(fuzz::file("words.dict", bytes), test::small_hmm_set(), &n_left_out);
  });
}
