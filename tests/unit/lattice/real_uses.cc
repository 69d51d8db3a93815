// SPDX-License-Identifier: Apache-2.0
// Compares density and oracle errors of Kaldi's own lattices with the figures of Kaldi's tools, and tests confidences of their
// best words.
#include <gtest/gtest.h>

#include <cstdlib>
#include <sstream>

#include "core/lattice/confusion_network.h"
#include "core/lattice/kaldi_lattice.h"
#include "core/lattice/oracle.h"
#include "core/model/bundle.h"
#include "tests/unit/lattice/small_lattice.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

class RealUses : public testing::Test {
 protected:
  std::string folder_;
  std::map<std::string, std::vector<uint32_t>> transcripts_;

  void SetUp() override {
    const char *data = std::getenv("SENONE_TEST_DATA");
    if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
    folder_ = std::string(data) + "/kaldi_20k/";
    std::map<std::string, uint32_t> number_of;
    for (const std::string &word : read_symbols(folder_ + "words.txt")) number_of.emplace(word, uint32_t(number_of.size()));
    std::istringstream lines(test::slurp(folder_ + "test.text"));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream words(line);
      std::string id, word;
      words >> id;
      while (words >> word) transcripts_[id].push_back(number_of.count(word) ? number_of.at(word) : ~0u);
    }
  }

  template <typename Visit>
  void for_each(const Visit &visit) const {
    KaldiLatticeReader reader(folder_ + "ref/latgen.b13.l8.lat.ark");
    CompactLattice lattice;
    for (std::string id; reader.next(&id, &lattice);) visit(transcripts_.at(id), lattice);
  }
};

TEST_F(RealUses, DensityAndOracleErrors) {
  LatticeSize size;
  size_t n_errors = 0, n_words = 0;
  for_each([&](const std::vector<uint32_t> &transcript, const CompactLattice &lattice) {
    size += lattice_size(lattice);
    n_errors += oracle_words(lattice, transcript).n_errors;
    n_words += transcript.size();
  });
  EXPECT_EQ(size.n_frames, 25826u);
  EXPECT_NEAR(double(size.arc_frames) / double(size.n_frames), 7.6, 0.05);
  EXPECT_EQ(n_errors, 2u);  // 0.24 %
  EXPECT_EQ(n_words, 851u);
}

// At the acoustic scale of the search, posteriors predict about the actual number of errors.
TEST_F(RealUses, ExpectedErrorsAreNearTheReal) {
  double expected_errors = 0;
  size_t n_errors = 0;
  for_each([&](const std::vector<uint32_t> &transcript, const CompactLattice &lattice) {
    const std::vector<WordPlace> best = best_words(lattice, 0.0769);
    const std::vector<double> confidences = word_confidences(lattice, best, 0.0769);
    std::vector<uint32_t> words;
    for (size_t i = 0; i < best.size(); ++i) {
      EXPECT_GE(confidences[i], 0);
      EXPECT_LE(confidences[i], 1 + 1e-9);
      words.push_back(best[i].word);
    }
    expected_errors += fold_onto(lattice, best, 0.0769).expected_errors;
    n_errors += test::edit_distance(words, transcript);
  });
  EXPECT_EQ(n_errors, 36u);
  EXPECT_GT(expected_errors, 18);
  EXPECT_LT(expected_errors, 72);
}

}  // namespace
}  // namespace asr
