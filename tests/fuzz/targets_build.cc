// SPDX-License-Identifier: Apache-2.0
// What graphs are built from: language models, grammars, dictionaries, word lists.
#include "core/graph/build/build.h"
#include "core/graph/build/jsgf.h"
#include "core/graph/build/lexicon.h"
#include "core/graph/build/trie_lm.h"
#include "tests/fuzz/fuzz.h"
#include "tests/unit/import/sphinx_writer.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {
namespace {

constexpr char kArpa[] =
    "text before\n\\data\\\nngram 1=4\nngram 2=3\nngram 3=1\n\n\\1-grams:\n-1.5 <s> -0.3\n-0.7 a -0.2\n-0.9 b\n-1 </s>\n\n"
    "\\2-grams:\n-0.4 <s> a -0.1\n-0.5 a b\n-0.6 b </s>\n\n\\3-grams:\n-0.2 <s> a b\n\n\\end\\\n";

constexpr char kJsgf[] =
    "#JSGF V1.0;\ngrammar test;\n/* a comment */\npublic <top> = [please] (/0.3/ open | /0.7/ close) <thing>+ | <thing>*;\n"
    "<thing> = the (door | window) {tag};\n";

// A bigram model of 3 words and 3 bigrams in the trie format: counts, one table, unigrams and a sentinel, packed bigrams.
std::string small_trie() {
  test::Bytes out;
  out.raw(std::string("Trie Language Model") + '\x02');
  out.u32(3);
  out.u32(3);
  out.u32(1);
  for (int i = 0; i < 65536; ++i) out.f32(-1000.0f - static_cast<float>(i % 50));
  const uint32_t first_child[] = {0, 1, 2, 3};
  for (const uint32_t next : first_child) {
    out.f32(-20000);
    out.f32(-3000);
    out.u32(next);
  }
  constexpr uint32_t kWordBits = 2, kEntryBits = kWordBits + 16;
  std::string packed(((1 + 3) * kEntryBits + 7) / 8 + 8, '\0');
  for (uint32_t i = 0; i < 3; ++i) {
    const uint32_t entry = (i + 1) % 3 | (i * 7) << kWordBits;
    for (uint32_t bit = 0; bit < kEntryBits; ++bit) {
      const uint32_t at = i * kEntryBits + bit;
      packed[at / 8] = static_cast<char>(packed[at / 8] | (entry >> bit & 1) << at % 8);
    }
  }
  out.raw(packed);
  const std::string words("</s>\0<s>\0a\0", 11);
  out.u32(static_cast<uint32_t>(words.size()));
  out.raw(words);
  return out.text;
}

}  // namespace

void add_build_targets(std::vector<Target> &targets) {
  targets.push_back({"arpa", {kArpa}, [](const std::string &p) { read_language_model(p); }});
  targets.push_back({"trie-lm", {small_trie()}, [](const std::string &p) { read_trie_lm(p); }});
  targets.push_back({"jsgf", {kJsgf}, [](const std::string &p) { read_jsgf(p, LetterCase::kLower); }});
  targets.push_back({"dictionary", {"a A B\nb(2) B\nb B A\n", "A\tA\n;; comment\n"}, [](const std::string &p) {
                       size_t n_left_out = 0;
                       read_sphinx_lexicon(p, test::small_hmm_set(), &n_left_out);
                     }});
  targets.push_back({"word-list", {"one\ntwo\n# comment\n"}, [](const std::string &p) { read_word_list(p); }});
}

}  // namespace asr::fuzz
