// SPDX-License-Identifier: Apache-2.0
// Fuzzes language models in CMU Sphinx's binary trie format.
#include "builder/graph/trie_lm.h"
#include "tests/fuzz/target.h"
#include "tests/unit/import/sphinx_writer.h"

namespace asr::fuzz {

namespace {

// Makes a bigram model of 3 words and 3 bigrams in the trie format: counts, one table, unigrams and a sentinel, packed bigrams.
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

std::vector<std::string> seeds() { return {small_trie()}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) { read_trie_lm(fuzz::file("lm.bin", bytes)); });
}
