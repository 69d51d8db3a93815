// SPDX-License-Identifier: Apache-2.0
// Fuzzes acoustic models of Kaldi, text and binary.
#include "builder/import/kaldi.h"
#include "tests/fuzz/kaldi_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {kKaldiTextModel, kaldi_binary_model()}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  // kMaxPdfs and kMaxSharedFloats bound tables that a few bytes can request.
  return fuzz::run(data, size, {600, 4096, 2, 50}, [](const std::string &bytes) {
    KaldiOptions options;
    options.model = fuzz::file("final.mdl", bytes);
    options.features_only = true;
    import_kaldi(options);
  });
}
