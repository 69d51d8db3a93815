// SPDX-License-Identifier: Apache-2.0
// Fuzzes Kaldi's archives of matrices, and scripts that point into them: features, scores, CMVN statistics.
#include "builder/import/kaldi_archive.h"
#include "tests/fuzz/kaldi_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() { return {kaldi_archive(), "key [ 1 2\n 3 4 ]\n", join({kaldi_archive(), "a all.ark:12\n"})}; }
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const std::vector<std::string> pieces = fuzz::split(bytes, 2);
    const std::string archive = fuzz::file("all.ark", pieces[0]);
    if (pieces[1].empty()) {
      kaldi::read_archive<float>("ark:" + archive);
      kaldi::read_archive<double>("ark:" + archive);
    } else {
      std::string script = pieces[1];
      for (size_t at = 0; (at = script.find("all.ark", at)) != std::string::npos; at += archive.size()) {
        script.replace(at, 7, archive);
      }
      kaldi::read_archive<float>("scp:" + fuzz::file("all.scp", script));
    }
  });
}
