// SPDX-License-Identifier: Apache-2.0
// Fuzzes `senone graph`: builds a graph from a dictionary and a JSGF grammar or a language model, writes it and reads it back.
#include "builder/graph/acceptor.h"
#include "builder/graph/build.h"
#include "builder/graph/grammar.h"
#include "builder/graph/jsgf.h"
#include "builder/graph/trie_lm.h"
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "tests/fuzz/grammar_seeds.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {

namespace {

Grammar grammar_of(const std::string &text, const Vocabulary &vocabulary) {
  if (text.substr(0, 5) != "#JSGF") {
    return optimise(ngram_grammar(read_language_model(file("lm", text)), vocabulary, "lm"), "lm");
  }
  const Rules rules = read_jsgf(file("grammar.jsgf", text), LetterCase::kAsIs);
  return optimise(rules_grammar(rules, "", vocabulary, "grammar.jsgf"), "grammar.jsgf");
}

}  // namespace

void build(const std::vector<std::string> &pieces) {
  const HmmSet set = test::small_hmm_set();
  size_t n_left_out = 0;
  const Lexicon lexicon = read_sphinx_lexicon(file("words.dict", pieces[0]), set, &n_left_out);
  const Vocabulary vocabulary = {[&](const std::string &word) { return lexicon.contains(word); }, "words.dict", true};
  const Grammar grammar = grammar_of(pieces[1], vocabulary);
  GraphSizes sizes{};
  const auto silent = [](double, const std::string &) {};
  write_graph(build_graph(set, lexicon, grammar, {}, silent, &sizes), directory() + "/graph.bin");
  try {
    Graph(directory() + "/graph.bin");
  } catch (const Error &error) {
    finding("the graph that was built is refused: %s", error.what());
  }
}

std::vector<std::string> seeds() { return {join({kDictionary, kJsgf}), join({kDictionary, kArpa})}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {1500, 1 << 14, 30, 2000};
  return fuzz::run(data, size, budget, [](const std::string &bytes) { fuzz::build(fuzz::split(bytes, 2)); });
}
