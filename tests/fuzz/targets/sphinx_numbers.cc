// SPDX-License-Identifier: Apache-2.0
// Fuzzes means, variances, mixture weights, transition matrices and feature transforms of CMU Sphinx; the first byte selects
// one.
#include <algorithm>

#include "builder/import/sphinx_s3.h"
#include "core/base/error.h"
#include "tests/fuzz/target.h"
#include "tests/unit/import/sphinx_writer.h"

namespace asr::fuzz {

// Containers in both byte orders. They have no checksums, which would refuse nearly every damage at once.
std::vector<std::string> seeds() {
  const std::vector<float> numbers = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  std::vector<std::string> all;
  for (const char kind : {'g', 'w', 't', 'f'}) {
    const std::vector<uint32_t> counts = kind == 'g' ? std::vector<uint32_t>{2, 2, 2, 1, 2} : std::vector<uint32_t>{2, 2, 3};
    all.push_back(kind + test::s3_file(counts, numbers, false, false));
    all.push_back(kind + test::s3_file(counts, numbers, true, false));
    all.push_back(kind + test::s3_file(counts, numbers, false, true));
  }
  return all;
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  return fuzz::run(data, size, {}, [](const std::string &bytes) {
    const std::string path = fuzz::file("numbers", bytes.substr(std::min<size_t>(bytes.size(), 1)));
    switch (bytes.empty() ? 0 : bytes[0]) {
      case 'g':
        sphinx::read_gaussians(path);
        break;
      case 'w':
        sphinx::read_mixture_weights(path, 1e-7);
        break;
      case 't':
        sphinx::read_transition_matrices(path, 1e-4);
        break;
      default:
        sphinx::read_feature_transform(path);
    }
  });
}
