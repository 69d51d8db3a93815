// SPDX-License-Identifier: Apache-2.0
// Fuzzes decision trees of Kaldi.
#include "builder/import/kaldi_tree.h"
#include "tests/fuzz/kaldi_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {kKaldiTree}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const kaldi::Tree tree(fuzz::file("tree", bytes));
    tree.pdf(std::vector<uint32_t>(tree.width(), 1), 0);
    uint64_t n_steps = 0;
    tree.classes(1, tree.width() - 1, {0, 1, 2}, &n_steps);
  });
}
