// SPDX-License-Identifier: Apache-2.0
// Tests `senone lattice` with lattices or transcripts that exceed the limits of its tables.
#include <fstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Files of a lattice of n words in Kaldi's text form, each "a" or, at a slightly higher cost, "b"; its words.txt; its best path
// as a transcript.
struct Files {
  const std::string folder = tone_bundle() + "/";
  const std::string lattice = folder + "long.lat.txt", words = folder + "long.words.txt", ref = folder + "long.ref";

  explicit Files(int n) {
    std::ofstream lattice_file(lattice), ref_file(ref);
    lattice_file << "u\n";
    ref_file << "u";
    for (int i = 0; i < n; ++i) {
      for (const int word : {1, 2}) lattice_file << i << " " << i + 1 << " " << word << " " << word << ",0,1\n";
      ref_file << " a";
    }
    lattice_file << n << " 0,0,\n\n";
    ref_file << "\n";
    std::ofstream(words) << "<eps> 0\na 1\nb 2\n";
  }
};

TEST(LatticeCommand, TheTableOfOracleErrorsHasALimit) {
  const Files small(1000);
  const Outcome good =
      run_program("senone", "lattice stats " + small.lattice + " --words " + small.words + " --ref " + small.ref);
  EXPECT_EQ(good.exit_code, 0) << good.output;
  EXPECT_NE(good.output.find("oracle word error rate 0.00 %: 0 errors"), std::string::npos) << good.output;
  const Files large(5000);
  const Outcome bad =
      run_program("senone", "lattice stats " + large.lattice + " --words " + large.words + " --ref " + large.ref);
  EXPECT_EQ(bad.exit_code, 1);
  EXPECT_EQ(bad.output, "senone: " + large.lattice +
                            ", u: 5001 states by 5000 words of the transcript are too many; prune the lattice, or cut the "
                            "recording\n");
}

// Compares up to 10,000 paths of as many words.
TEST(LatticeCommand, ComparingLongLatticesTakesFewerPaths) {
  const Files files(10000);
  const Outcome outcome =
      run_program("senone", "lattice compare --acoustic-scale 1 --beam 2.5 " + files.lattice + " " + files.lattice);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("of 1 not all word sequences were looked for"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("1843 word sequences within 2.5 of the best: 0 missing"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace asr::test
