// SPDX-License-Identifier: Apache-2.0
// Fuzzes grammars of asr_ctc_grammar_save, and searches them. The checksum is corrected, so that damage reaches what is before
// it.
#include <cstring>

#include "builder/ctc/phrase_search.h"
#include "core/base/file.h"
#include "tests/fuzz/target.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

namespace {

constexpr size_t kMagicBytes = 8;

std::string with_checksum(std::string bytes) {
  if (bytes.size() < kMagicBytes + sizeof(uint64_t)) return bytes;
  const size_t at = bytes.size() - sizeof(uint64_t);
  const uint64_t sum = checksum(bytes.data() + kMagicBytes, at - kMagicBytes);
  memcpy(bytes.data() + at, &sum, sizeof(sum));
  return bytes;
}

}  // namespace

std::vector<std::string> seeds() {
  const std::string path = directory() + "/seed";
  std::vector<std::string> grammars;
  for (const bool has_loop : {false, true}) {
    std::vector<PhraseArc> arcs{{0, 1, 0, 0}, {1, 2, 1, 1}, {0, 2, 2, 2}, {2, 3, -1, -1}};
    if (has_loop) arcs.push_back({3, 0, -1, -1});
    write_phrase_graph(make_phrase_graph(3, 3, arcs, {3}, "seed"), path);
    grammars.push_back(test::slurp(path));
  }
  return grammars;
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const auto graph =
        std::make_shared<const PhraseGraph>(read_phrase_graph(fuzz::file("grammar", fuzz::with_checksum(bytes))));
    const size_t row_length = std::max(graph->n_tokens, graph->blank) + size_t{1};
    if (row_length > 1000 || graph->n_states() > 1000) return;
    PhraseSearch search(graph, {});
    const std::vector<float> rows(4 * row_length, -1);
    search.feed(rows.data(), 4, row_length);
    const PhraseResult result = search.result();
    if (result.has_best && !(result.best_cost > 3.9 && result.best_cost < 4.1)) fuzz::finding("a cost of %g", result.best_cost);
    if (result.ids.size() > 4) fuzz::finding("%zu ids in four rows", result.ids.size());
  });
}
