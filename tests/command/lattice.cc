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

Outcome lattice_command(const std::string &arguments) { return run_program("senone", "lattice " + arguments); }

std::string written(const std::string &name, const std::string &text) {
  std::string path = tone_bundle() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

// A bad entry of a text archive costs itself.
TEST(LatticeCommand, EveryLatticeIsTried) {
  const std::string words = written("some.words", "<eps> 0\na 1\nb 2\n");
  const std::string good = "0 1 1 1,2,5_6\n1 0,0,8\n\n", bad = "0 1 1 x,2\n1 0,0,8\n\n",
                    unlisted = "0 1 7 1,2,5_6\n1 0,0,8\n\n";
  const std::string archive =
      written("some.lat", "u1\n" + good + "u2\n" + bad + "u3\n" + unlisted + "u1\n" + good + "u4\n" + good);
  const Outcome best = lattice_command("best ark:" + archive + " --acoustic-scale 1 --words " + words);
  EXPECT_EQ(best.exit_code, 1);
  for (const std::string &line :
       {std::string("u1 a\n"), std::string("u4 a\n"), "senone: u2: " + archive + ":6: a number is not one",
        ", u3: " + words + ": the lattice has word 7", std::string(", u1: entries 1 and 4 both have this key"),
        archive + ": 3 of 5 lattices failed"}) {
    EXPECT_NE(best.output.find(line), std::string::npos) << line << best.output;
  }
  const std::string out = tone_bundle() + "/pruned.lat";
  const Outcome pruned = lattice_command("prune ark:" + archive + " " + out + " --text --beam 5 --acoustic-scale 1");
  EXPECT_EQ(pruned.exit_code, 1);
  EXPECT_NE(pruned.output.find("2 of 5 lattices failed"), std::string::npos) << pruned.output;
  const Outcome kept = lattice_command("stats " + out);
  EXPECT_EQ(kept.exit_code, 0);
  EXPECT_EQ(kept.output.rfind("3 lattices, ", 0), 0u) << kept.output;
  for (const char *name : {"scp:x", "ark:-", "'lattice-copy x |'", "ark:"}) {
    EXPECT_EQ(lattice_command(std::string("stats ") + name).exit_code, 2) << name;
  }
}

TEST(LatticeCommand, EqualWordSequencesComeOnce) {
  const std::string words = written("dup.words", "<eps> 0\na 1\nb 2\n");
  std::string text = "u\n";  // three positions of ten equal arcs: 1000 paths of "a b a", and one of "b b a"
  for (int position = 0; position < 3; ++position) {
    for (int i = 0; i < 10; ++i) {
      text += std::to_string(position) + " " + std::to_string(position + 1) + (position == 1 ? " 2 " : " 1 ") +
              std::to_string(i) + ",0,1\n";
    }
  }
  text += "0 1 2 40,0,1\n3 0,0,\n\n";
  const Outcome outcome =
      lattice_command("nbest -n 5 " + written("dup.lat", text) + " --acoustic-scale 1 --costs --words " + words);
  EXPECT_EQ(outcome.output, "u-1 0.0000 0.0000 0.0000 a b a\nu-2 40.0000 40.0000 0.0000 b b a\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

}  // namespace
}  // namespace asr::test
