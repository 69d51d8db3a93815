// SPDX-License-Identifier: Apache-2.0
// Fuzzes classes: a grammar that uses $c and a list of phrases for it are compiled separately and joined, and the graph is read
// back.
#include <numeric>

#include "builder/graph/jsgf.h"
#include "builder/graph/open_graph.h"
#include "builder/graph/phrases.h"
#include "core/base/error.h"
#include "core/graph/graph.h"
#include "tests/fuzz/grammar_seeds.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {

namespace {

const char kUse[] = "#JSGF V1.0;\ngrammar use;\npublic <top> = open [$c] door | ($c)+ a | $c $c;\n";

Grammar rules_of(const std::string &text, const Vocabulary &vocabulary) {
  const Rules rules = text.substr(0, 5) == "#JSGF" ? parse_jsgf(text, "grammar", LetterCase::kAsIs)
                                                   : parse_phrases(text, "grammar", LetterCase::kAsIs);
  return rules_grammar(rules, "", vocabulary, "grammar");
}

void join_graphs(const std::vector<std::string> &pieces) {
  const HmmSet set = test::small_hmm_set();
  const ContextTable contexts(set);
  size_t n_left_out = 0;
  const Lexicon lexicon = parse_sphinx_lexicon(pieces[0], "words.dict", set, &n_left_out);
  const auto is_class = [](const std::string &word) { return word == "$c"; };
  const Vocabulary of_list = {[&](const std::string &word) { return lexicon.contains(word); }, "words.dict", true};
  const Vocabulary of_use = {[&](const std::string &word) { return lexicon.contains(word) || is_class(word); }, "words.dict",
                             true};
  Grammar use = rules_of(pieces[1], of_use);
  for (const std::string &word : use.words) use.is_class.push_back(is_class(word));
  const ClassGrammar list = class_grammar(rules_of(pieces[2], of_list), "list");
  const OpenGraph open = build_open_graph(set, contexts, lexicon, use, {});
  const OpenGraph phrases = build_class_graph(set, contexts, lexicon, list, {});
  std::vector<uint32_t> words(use.words.size()), list_words(list.grammar.words.size());
  std::iota(words.begin(), words.end(), 0);
  std::iota(list_words.begin() + 1, list_words.end(), static_cast<uint32_t>(words.size()));
  std::vector<std::vector<ClassFilling>> fillings(words.size());
  for (size_t i = 0; i < words.size(); ++i) {
    if (use.is_class[i]) fillings[i].push_back({&phrases, list_words, 0});
  }
  const auto n_words = static_cast<uint32_t>(words.size() + list_words.size());
  write_graph(join_classes(open, words, fillings, set.n_pdfs, n_words, "grammar"), directory() + "/graph.bin");
  try {
    Graph(directory() + "/graph.bin");
  } catch (const Error &error) {
    finding("the graph that was joined is refused: %s", error.what());
  }
}

}  // namespace

std::vector<std::string> seeds() {
  return {join({kDictionary, kUse, "a b\nthe window {w}\ndoor\n"}),
          join({kDictionary, "$c a\n$c {t}\n", "a {x}\nb a\nb a door\n"})};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {1500, 1 << 15, 30, 4000};
  return fuzz::run(data, size, budget, [](const std::string &bytes) { fuzz::join_graphs(fuzz::split(bytes, 3)); });
}
