// SPDX-License-Identifier: Apache-2.0
// Fuzzes hmms.bin of a bundle.
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  const std::string path = directory() + "/hmms.bin";
  write_hmm_set(test::small_hmm_set(), path);
  return {test::slurp(path)};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const HmmSet set = read_hmm_set(fuzz::file("hmms.bin", bytes));
    ContextTable(set).find(0, 0, 0, WordPosition::kBegin);
  });
}
