// SPDX-License-Identifier: Apache-2.0
// Fuzzes `senone import kaldi`: model, phones, tree, mfcc.conf, matrix, statistics and positions in words together.
#include "builder/import/kaldi.h"
#include "tests/fuzz/kaldi_seeds.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

std::vector<std::string> seeds() {
  const std::string phones = "<eps> 0\na 1\nb 2\n";
  const std::string conf = "--use-energy=false\n--num-ceps=2\n", matrix = "[ 1 0 0 0 0 0\n 0 1 0 0 0 0 ]\n",
                    statistics = "[ 10 20 5\n 1 1 0 ]\n";
  return {join({kKaldiTextModel, phones, "ContextDependency 1 0 ToPdf TE -1 1 ( CE 0 )\nEndContextDependency\n", conf, matrix,
                statistics}),
          join({kKaldiTextModel, "<eps> 0\na_B 1\na_E 2\n",
                "ContextDependency 3 1 ToPdf TE 1 3 ( NULL CE 0 SE 0 [ 1 ]\n{ CE 1 CE 1 } )\nEndContextDependency\n", conf,
                matrix, statistics, "1 begin\na_E end\n"})};
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {600, 4096, 4, 200}, [](const std::string &bytes) {
    const std::vector<std::string> pieces = fuzz::split(bytes, 7);
    KaldiOptions options;
    options.model = fuzz::file("final.mdl", pieces[0]);
    const auto optional = [&](size_t i, const char *name) { return pieces[i].empty() ? "" : fuzz::file(name, pieces[i]); };
    options.phones = optional(1, "phones.txt");
    options.tree = optional(2, "tree");
    options.mfcc_conf = optional(3, "mfcc.conf");
    options.lda = optional(4, "final.mat");
    options.cmvn_stats = optional(5, "cmvn");
    options.word_boundary = optional(6, "word_boundary.int");
    options.deltas = true;
    import_kaldi(options);
  });
}
