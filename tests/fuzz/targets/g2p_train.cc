// SPDX-License-Identifier: Apache-2.0
// Fuzzes dictionaries: trains senone g2p on them and pronounces the first word with the result.
#include "builder/g2p/pronounce.h"
#include "tests/fuzz/target.h"
#include "tests/unit/g2p/toy_dictionary.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {test::toy_dictionary(), "a A\n", "ab A\nab(2) B A\n;; x\n"}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  fuzz::Budget budget;
  budget.megabytes = 256;    // for kMaxSpellingArcs and kMaxSpellingSteps
  budget.bytes_each = 4096;  // a word's positions are the product of its letters and its phones
  budget.seconds = 4;
  budget.microseconds_each = 200;
  return fuzz::run(data, size, budget, [](const std::string &bytes) {
    const Pronunciations dictionary = parse_pronunciations(bytes, "words.dict");
    G2pTraining training;
    const G2pModel model = train_g2p(
        dictionary, {}, 4, "words.dict", [](double) {}, &training);
    pronounce(model, dictionary.words[0].word, {3});
  });
}
