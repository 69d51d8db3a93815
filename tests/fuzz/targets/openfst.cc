// SPDX-License-Identifier: Apache-2.0
// Fuzzes decoding graphs in OpenFst files.
#include "builder/import/openfst_file.h"
#include "tests/fuzz/kaldi_seeds.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {openfst(false), openfst(true)}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    read_openfst_graph(fuzz::file("HCLG.fst", bytes), test::small_hmm_set(), 5);
  });
}
