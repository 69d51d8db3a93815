// SPDX-License-Identifier: Apache-2.0
// Fuzzes senone.json of a bundle, and the tables of its front end.
#include "core/feature/mfcc_tables.h"
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

// The seeds list no files: these have targets of their own. The second has PLP.
std::vector<std::string> seeds() {
  std::vector<std::string> seeds;
  Bundle bundle = test::small_bundle();
  for (const FrontEnd &front_end : {bundle.front_end, htk_plp_front_end()}) {
    bundle.front_end = front_end;
    bundle.front_end.floor_gain = front_end.lpc_order > 0;
    write_bundle_index(bundle, directory(), {});
    seeds.push_back(test::slurp(directory() + "/senone.json"));
  }
  return seeds;
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {64, 1024, 2, 100}, [](const std::string &bytes) {
    fuzz::file("senone.json", bytes);
    FeatureTables(read_bundle(fuzz::directory()).front_end, {1.0});
  });
}
