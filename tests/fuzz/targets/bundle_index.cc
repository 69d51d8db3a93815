// SPDX-License-Identifier: Apache-2.0
// Fuzzes senone.json of a bundle, and the tables of its front end.
#include "core/feature/mfcc_tables.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

// The seed lists no files: these have targets of their own.
std::vector<std::string> seeds() {
  write_bundle_index(test::small_bundle(), directory(), {});
  return {test::slurp(directory() + "/senone.json")};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {64, 1024, 2, 100}, [](const std::string &bytes) {
    fuzz::file("senone.json", bytes);
    FeatureTables(read_bundle(fuzz::directory()).front_end, {1.0});
  });
}
