// SPDX-License-Identifier: Apache-2.0
// Fuzzes `senone import kaldi`: model, phones, tree, mfcc.conf, matrix and statistics together.
#include "builder/import/kaldi.h"
#include "tests/fuzz/kaldi_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  const std::string phones = "<eps> 0\na 1\nb 2\n";
  return {join({kKaldiTextModel, phones, "ContextDependency 1 0 ToPdf TE -1 1 ( CE 0 )\nEndContextDependency\n",
                "--use-energy=false\n--num-ceps=2\n", "[ 1 0 0 0 0 0\n 0 1 0 0 0 0 ]\n", "[ 10 20 5\n 1 1 0 ]\n"})};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {600, 4096, 4, 200}, [](const std::string &bytes) {
    const std::vector<std::string> pieces = fuzz::split(bytes, 6);
    KaldiOptions options;
    options.model = fuzz::file("final.mdl", pieces[0]);
    const auto optional = [&](size_t i, const char *name) { return pieces[i].empty() ? "" : fuzz::file(name, pieces[i]); };
    options.phones = optional(1, "phones.txt");
    options.tree = optional(2, "tree");
    options.mfcc_conf = optional(3, "mfcc.conf");
    options.lda = optional(4, "final.mat");
    options.cmvn_stats = optional(5, "cmvn");
    options.deltas = true;
    import_kaldi(options);
  });
}
