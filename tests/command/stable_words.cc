// SPDX-License-Identifier: Apache-2.0
// Tests the guarantees of stable words (tests/api/promises.h) with real speech, in a bundle that the command makes.
#include <gtest/gtest.h>

#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "tests/api/promises.h"

namespace asr::test {
namespace {

// Returns the 16-bit samples of a NIST SPHERE file.
std::vector<int16_t> sphere_samples(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  constexpr size_t kHeader = 1024;
  std::vector<int16_t> samples((std::max(bytes.size(), kHeader) - kHeader) / sizeof(int16_t));
  if (!samples.empty()) memcpy(samples.data(), bytes.data() + kHeader, samples.size() * sizeof(int16_t));
  return samples;
}

struct Folder {
  const std::string path = std::filesystem::temp_directory_path() / ("senone_stable_" + std::to_string(getpid()));
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
};

TEST(StableWords, OfRealSpeechStay) {
  const char *const data = std::getenv("SENONE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  const std::string root = data, an4 = root + "/an4";
  const Folder folder;
  const std::string &bundle = folder.path;
  ASSERT_EQ(run_program("senone", "import sphinx " + root + "/cmusphinx_an4_cont8 " + bundle).exit_code, 0);
  ASSERT_EQ(run_program("senone",
                        "graph --model " + bundle + " --lexicon " + an4 + "/etc/an4.dic --lm " + an4 + "/etc/an4_train.2g.arpa")
                .exit_code,
            0);
  const EnginePointer engine = load_engine(8, 32, bundle);
  size_t n_early = 0, n_words = 0;
  uint32_t seed = 0;
  for (const auto &file : std::filesystem::directory_iterator(an4 + "/sphere")) {
    const std::vector<int16_t> samples = sphere_samples(file.path());
    for (const float lattice_beam : {0.0f, 8.0f}) {
      SCOPED_TRACE(file.path().string());
      const auto results = hear(engine.get(), with_partials(lattice_beam), samples, ++seed);
      n_early += check_promises(results, lattice_beam > 0);
      for (const Result &result : results) n_words += result.kind == ASR_EVENT_FINAL ? result.words.size() : 0;
    }
  }
  EXPECT_GT(n_words, 20u);
  EXPECT_GT(n_early, n_words / 2);
}

}  // namespace
}  // namespace asr::test
