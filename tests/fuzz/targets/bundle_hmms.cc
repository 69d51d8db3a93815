// SPDX-License-Identifier: Apache-2.0
// Fuzzes hmms.bin of a bundle.
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  const std::string path = directory() + "/hmms.bin";
  std::vector<std::string> seeds;
  for (const HmmSet &set : {test::small_hmm_set(), test::small_placed_hmm_set()}) {
    write_hmm_set(set, path);
    seeds.push_back(test::slurp(path));
  }
  return seeds;
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const HmmSet set = read_hmm_set(fuzz::file("hmms.bin", bytes));
    const ContextTable table(set);
    table.find(0, 0, 0, WordPosition::kBegin);
    for (const uint32_t neighbour :
         {table.neighbour(0, WordPosition::kEnd), table.silence_neighbour(), table.edge_neighbour()}) {
      table.find_between(0, neighbour, neighbour, WordPosition::kSingle);
    }
  });
}
