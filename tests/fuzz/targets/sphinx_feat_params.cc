// SPDX-License-Identifier: Apache-2.0
// Fuzzes feat.params of CMU Sphinx, and the tables of the described front end.
#include "builder/import/sphinx_feat_params.h"
#include "core/feature/mfcc_tables.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  return {
      "-lowerf 130\n-upperf 6800\n-nfilt 25\n-transform dct\n-lifter 22\n-feat 1s_c_d_dd\n"
      "-svspec 0-12/13-25/26-38\n-agc none\n-cmn batch\n-cmninit 41.00,-5.29\n-wlen 0.025\n-samprate 16000\n",
      "-feat s2_4x -nfft 512 -frate 100 -alpha 0.97 -ncep 13 -cmn none -varfloor 0.001 -remove_dc yes"};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  const fuzz::Budget budget = {64, 1024, 2, 100};  // for kMaxMel bands in windows of up to a second
  return fuzz::run(data, size, budget, [](const std::string &bytes) {
    sphinx::FeatParams params = sphinx::read_feat_params(fuzz::file("feat.params", bytes), 0);
    FeatureTables(params.front_end, {1.0});
  });
}
