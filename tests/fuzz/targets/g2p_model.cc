// SPDX-License-Identifier: Apache-2.0
// Fuzzes models of senone g2p, and pronounces words with them. The checksum is corrected, so that damage reaches the data
// behind it.
#include <cstring>

#include "builder/g2p/pronounce.h"
#include "core/base/file.h"
#include "tests/fuzz/target.h"
#include "tests/unit/g2p/toy_dictionary.h"
#include "tests/unit/scratch.h"

namespace asr::fuzz {

namespace {

constexpr size_t kChecksumAt = 40;

std::string with_checksum(std::string bytes) {
  if (bytes.size() < kChecksumAt + sizeof(uint64_t)) return bytes;
  memset(bytes.data() + kChecksumAt, 0, sizeof(uint64_t));
  const uint64_t sum = checksum(bytes.data(), bytes.size());
  memcpy(bytes.data() + kChecksumAt, &sum, sizeof(sum));
  return bytes;
}

}  // namespace

std::vector<std::string> seeds() {
  std::vector<std::string> models;
  for (const uint32_t order : {1u, 3u}) {
    const std::string path = directory() + "/seed.g2p";
    write_g2p_model(test::toy_model(order), path);
    models.push_back(test::slurp(path));
  }
  return models;
}
}  // namespace asr::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  using namespace asr;
  fuzz::Budget budget;
  budget.megabytes = 256;  // for kMaxSpellingArcs and kMaxSpellingSteps
  budget.seconds = 4;
  return fuzz::run(data, size, budget, [](const std::string &bytes) {
    const G2pModel model = read_g2p_model(fuzz::file("m.g2p", fuzz::with_checksum(bytes)));
    std::string word;
    for (size_t i = 0; i < model.letters.size() && i < 24; ++i) word += letter_text(model.letters[i]);
    double sum = 0;
    for (const G2pResult &result : pronounce(model, word, {10})) {
      if (result.phones.empty() || !(result.posterior > 0)) fuzz::finding("a pronunciation without phones or share");
      sum += result.posterior;
    }
    if (sum > 1 + 1e-6) fuzz::finding("shares sum to %g", sum);
  });
}
