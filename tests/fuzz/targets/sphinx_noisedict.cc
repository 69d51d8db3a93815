// SPDX-License-Identifier: Apache-2.0
// Fuzzes filler dictionaries of CMU Sphinx.
#include "builder/import/sphinx_dictionary.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {"<s> SIL\n</s> SIL\n## comment\n[NOISE] A\n"}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    std::vector<std::string> notes;
    sphinx::parse_noisedict(bytes, "noisedict", test::small_hmm_set(), notes);
  });
}
