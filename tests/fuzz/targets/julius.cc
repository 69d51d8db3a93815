// SPDX-License-Identifier: Apache-2.0
// Fuzzes Julius' binary HMMs.
#include "builder/import/htk.h"
#include "tests/fuzz/target.h"
#include "tests/unit/import/htk_writer.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {test::small_binhmm(false), test::small_binhmm(true)}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {600, 4096, 2, 50}, [](const std::string &bytes) {
    HtkOptions options;
    options.models = {fuzz::file("binhmm", bytes)};
    options.features_only = true;
    import_julius(options);
  });
}
