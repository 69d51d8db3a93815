// SPDX-License-Identifier: Apache-2.0
// Fuzzes options of Kaldi's compute-mfcc-feats, and the tables of the described front end.
#include "builder/import/kaldi.h"
#include "core/feature/mfcc_tables.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {"--use-energy=false\n--sample-frequency=8000 # a comment\n--num-mel-bins=20\n"}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {64, 1024, 2, 100},
                   [](const std::string &bytes) { FeatureTables(read_mfcc_conf(fuzz::file("mfcc.conf", bytes)), {1.0}); });
}
