// SPDX-License-Identifier: Apache-2.0
// Fuzzes options of Kaldi's compute-mfcc-feats, or compute-plp-feats if they have an order of prediction, and the tables of the
// described front end.
#include "builder/import/kaldi.h"
#include "core/feature/mfcc_tables.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  return {"--use-energy=false\n--sample-frequency=8000 # a comment\n--num-mel-bins=20\n",
          "--lpc-order=14\n--compress-factor=0.3\n--cepstral-scale=10\n--cepstral-lifter=22\n--num-ceps=13\n"};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {64, 1024, 2, 100}, [](const std::string &bytes) {
    const std::string path = fuzz::file("mfcc.conf", bytes);
    const bool is_plp = bytes.find("--lpc-order") != std::string::npos;
    FeatureTables(is_plp ? read_plp_conf(path) : read_mfcc_conf(path), {1.0});
  });
}
