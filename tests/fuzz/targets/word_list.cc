// SPDX-License-Identifier: Apache-2.0
// Fuzzes lists of words and of symbols: a word list and its grammar, words.txt.
#include "builder/graph/grammar.h"
#include "core/model/bundle.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {"one\ntwo\n# comment\n", "<eps> 0\na 1\nb(2) 2\n"}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const std::string path = fuzz::file("words", bytes);
    if (bytes.substr(0, 5) == "<eps>") {
      read_symbols(path);
    } else {
      const Vocabulary vocabulary = {[](const std::string &word) { return word.size() % 2 == 1; }, "dictionary", true};
      word_list_grammar(read_word_list(path), false, vocabulary, path);
    }
  });
}
