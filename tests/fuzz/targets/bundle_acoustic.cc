// SPDX-License-Identifier: Apache-2.0
// Fuzzes acoustic.bin of a bundle.
#include "tests/fuzz/target.h"
#include "tests/unit/model/small_model.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  std::vector<std::string> all;
  const std::string path = directory() + "/acoustic.bin";
  for (const asr_covariance covariance : {ASR_COVARIANCE_DIAGONAL, ASR_COVARIANCE_FULL}) {
    write_acoustic_model(test::small_acoustic_model(covariance), path);
    all.push_back(test::slurp(path));
  }
  return all;
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    read_acoustic_model(fuzz::file("acoustic.bin", bytes)).validate("acoustic.bin");
  });
}
