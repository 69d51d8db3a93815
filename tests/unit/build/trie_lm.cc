// SPDX-License-Identifier: Apache-2.0
// Tests the trie reader on Debian's en-us.lm.bin, against a sample of its ARPA form, and on damaged copies of a small model.
#include "builder/graph/trie_lm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <unordered_map>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

const char kEnUs[] = "/usr/share/pocketsphinx/model/en-us/en-us.lm.bin";
const char kTurtle[] = "/usr/share/pocketsphinx/test/data/turtle.lm.bin";

bool exists(const std::string &path) { return std::ifstream(path).good(); }

TEST(TrieLm, AgreesWithTheArpaForm) {
  const char *data = std::getenv("SENONE_TEST_DATA");
  if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
  if (!exists(kEnUs)) GTEST_SKIP() << "the package pocketsphinx-en-us is not installed";
  const NgramModel model = read_language_model(kEnUs);
  std::unordered_map<std::string, uint32_t> ids;
  for (uint32_t i = 0; i < model.words.size(); ++i) ids[model.words[i]] = i;
  std::ifstream sample(std::string(data) + "/cmusphinx_en-us/en-us.arpa.sample");
  ASSERT_TRUE(sample.good());
  size_t order = 0, n_checked = 0;
  for (std::string line; std::getline(sample, line);) {
    if (line.size() > 2 && line[0] == '\\' && line[2] == '-') order = line[1] - '0';
    std::istringstream fields(line);
    double log10 = 0;
    std::vector<std::string> words(order);
    if (order == 0 || !(fields >> log10)) continue;
    for (std::string &word : words) fields >> word;
    uint32_t index = ids.at(words[0]);
    for (size_t k = 1; k < order; ++k) {
      index = model.find_child(k - 1, index, ids.at(words[k]));
      ASSERT_NE(index, kNoNgram) << line;
    }
    ASSERT_NEAR(-model.levels[order - 1].cost[index] / std::log(10), log10, 1e-4) << line;
    double backoff = 0;
    if (fields >> backoff) {
      ASSERT_NEAR(-model.levels[order - 1].backoff[index] / std::log(10), backoff, 1e-4) << line;
    }
    ++n_checked;
  }
  EXPECT_GE(n_checked, 1000u);
  EXPECT_EQ(model.levels[0].size(), 72547u);
  EXPECT_EQ(model.levels[2].size(), 1669625u);
}

TEST(TrieLm, SmallModel) {
  if (!exists(kTurtle)) GTEST_SKIP() << "the package pocketsphinx-testdata is not installed";
  const NgramModel model = read_trie_lm(kTurtle);
  ASSERT_GE(model.order(), 2u);
  const uint32_t go = model.find_word("go"), forward = model.find_word("forward");
  ASSERT_NE(go, kNoNgram);
  EXPECT_LT(word_cost(model, {0, go}, forward), word_cost(model, {}, forward));
}

TEST(TrieLm, DamageIsAnError) {
  if (!exists(kTurtle)) GTEST_SKIP() << "the package pocketsphinx-testdata is not installed";
  const std::string whole = read_file(kTurtle);
  const test::Scratch scratch;
  const std::string path = scratch / "damaged.lm.bin";
  const auto write = [&](const std::string &bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), std::streamsize(bytes.size()));
  };
  for (size_t size = 0; size < whole.size(); size += 1 + whole.size() / 97) {
    write(whole.substr(0, size));
    EXPECT_THROW(read_trie_lm(path), Error) << size;
  }
  for (size_t at = 0; at < whole.size(); at += at < 64 ? 1 : 1 + whole.size() / 499) {  // damage may go unnoticed
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0xff);
    write(damaged);
    try {
      read_trie_lm(path);
    } catch (const Error &error) {
      EXPECT_NE(std::string(error.what()).find(path), std::string::npos);
    }
  }
}

}  // namespace
}  // namespace asr
