// SPDX-License-Identifier: Apache-2.0
// Tests lattices written by Kaldi.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <map>
#include <sstream>

#include "core/lattice/determinise.h"
#include "core/lattice/kaldi_lattice.h"
#include "core/lattice/nbest.h"
#include "core/lattice/oracle.h"
#include "core/lattice/prune.h"
#include "core/lattice/state_level.h"
#include "tests/unit/scratch.h"

namespace asr {
namespace {

constexpr double kScale = 0.0769;

using Entries = std::vector<std::pair<std::string, CompactLattice>>;

class RealLattices : public testing::Test {
 protected:
  std::string data_;

  void SetUp() override {
    const char *data = std::getenv("SENONE_TEST_DATA");
    if (data == nullptr) GTEST_SKIP() << "SENONE_TEST_DATA is not set";
    data_ = data;
  }

  static Entries read_all(const std::string &path) {
    KaldiLatticeReader reader(path);
    Entries entries;
    for (std::pair<std::string, CompactLattice> entry; reader.next(&entry.first, &entry.second);) entries.push_back(entry);
    return entries;
  }

  Entries kaldi_20k() const { return read_all(data_ + "/kaldi_20k/ref/latgen.b13.l8.lat.ark"); }

  // Reads lines "key number number ...".
  template <typename T>
  std::map<std::string, std::vector<T>> table(const std::string &name) const {
    std::map<std::string, std::vector<T>> rows;
    std::istringstream lines(test::slurp(data_ + name));
    for (std::string line; std::getline(lines, line);) {
      std::istringstream fields(line);
      std::string key;
      fields >> key;
      for (T value; fields >> value;) rows[key].push_back(value);
    }
    return rows;
  }
};

TEST_F(RealLattices, BestPathsAreThoseOfTheDecoder) {
  const auto costs = table<double>("/kaldi_20k/ref/latgen.b13.l8.best_costs.txt");
  const auto words = table<uint32_t>("/kaldi_20k/ref/latgen.b13.l8.words.txt");
  const auto alignments = table<uint32_t>("/kaldi_20k/ref/latgen.b13.l8.ali.txt");
  const Entries entries = kaldi_20k();
  ASSERT_EQ(entries.size(), 60u);
  uint32_t n_same_alignments = 0;
  for (const auto &[key, lattice] : entries) {
    SCOPED_TRACE(key);
    const LatticePath best = best_path(lattice, kScale);
    EXPECT_EQ(best.words, words.at(key));
    n_same_alignments += best.transition_ids == alignments.at(key);
    EXPECT_NEAR(best.cost.graph, costs.at(key)[0], 1e-4 * costs.at(key)[0]);
    EXPECT_NEAR(kScale * best.cost.acoustic, costs.at(key)[1], 1e-5 * costs.at(key)[1]);
  }
  EXPECT_GE(n_same_alignments, 59u);  // the lattice of test-00010 has another one of the same cost
}

// Determinising them again must not change a path.
TEST_F(RealLattices, DeterminisedAgainAreTheSame) {
  for (const auto &[key, lattice] : kaldi_20k()) {
    SCOPED_TRACE(key);
    const Determinised again = determinise(state_level(lattice), {kScale, 8});
    EXPECT_EQ(again.beam, 8);
    const std::vector<LatticePath> before = n_best_paths(lattice, kScale, 50);
    const std::vector<LatticePath> after = n_best_paths(again.lattice, kScale, 50);
    for (size_t i = 0; i < before.size(); ++i) {
      const double cost = before[i].cost.total(kScale);
      if (cost > before[0].cost.total(kScale) + 8 - 1e-3) break;
      ASSERT_LT(i, after.size());
      EXPECT_NEAR(after[i].cost.total(kScale), cost, 1e-6 * cost);
    }
  }
}

TEST_F(RealLattices, ComeBackByteForByte) {
  const std::string path = data_ + "/kaldi_20k/ref/latgen.b13.l8.lat.ark";
  const test::Scratch scratch;
  const std::string binary = scratch / "binary", text = scratch / "text", again = scratch / "again";
  const auto write = [](const std::string &to, const Entries &entries, KaldiForm form) {
    OutputFile file(to);
    for (const auto &[key, lattice] : entries) write_kaldi_lattice(file, key, lattice, form);
    file.commit();
  };
  write(binary, read_all(path), KaldiForm::kBinary);
  write(text, read_all(binary), KaldiForm::kText);
  write(again, read_all(text), KaldiForm::kBinary);
  EXPECT_EQ(test::slurp(again), test::slurp(binary));
}

// Compressed archives of older Kaldi recipes, unpacked with gzip.
TEST_F(RealLattices, OfTheIndonesianModels) {
  const test::Scratch scratch;
  for (const char *model : {"mono", "tri1"}) {
    const std::string packed = data_ + "/kaldi_indonesian/exp/" + model + "/decode/lat.1.gz";
    const std::string path = scratch / model;
    if (std::system(("gzip -dc '" + packed + "' > '" + path + "'").c_str()) != 0) GTEST_SKIP() << "gzip cannot be run";
    const auto n_frames = table<uint32_t>("/kaldi_indonesian/data/test/utt2num_frames");
    const Entries entries = read_all(path);
    EXPECT_EQ(entries.size(), 217u);
    for (const auto &[key, lattice] : entries) {
      const LatticePath best = best_path(lattice, 1.0 / 12);
      EXPECT_EQ(best.transition_ids.size(), n_frames.at(key)[0]) << key;
      EXPECT_FALSE(best.words.empty()) << key;
    }
  }
}

}  // namespace
}  // namespace asr
