// SPDX-License-Identifier: Apache-2.0
// Tests the files of text that the command itself reads: however they are packed and written they give the same results, and
// files of another format are refused by its name. tests/unit/text/every_reader.cc does the same with the readers of builder/.
#include <fstream>
#include <functional>
#include <sstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"
#include "tests/unit/text/foreign.h"
#include "tests/unit/text/packed.h"

namespace asr::test {
namespace {

const std::string &folder() {
  static const std::string path = tone_bundle() + "/";
  return path;
}

std::string write(const std::string &name, const std::string &bytes) {
  std::ofstream(folder() + name, std::ios::binary) << bytes;
  return folder() + name;
}

// The output of a command but for the lines that have times.
std::string without_times(const std::string &output) {
  std::istringstream lines(output);
  std::string kept;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("real-time factor") == std::string::npos && line.find(" s for ") == std::string::npos) kept += line + "\n";
  }
  return kept;
}

struct Use {
  const char *name;
  std::string text;                                               // of the file
  std::function<std::string(const std::string &path)> arguments;  // of the command that reads it
};

// A lattice of "a" or, at a higher cost, "café".
const char kLattice[] = "u \n0 1 1 1,0,1\n0 1 2 2,0,1\n1 0,0,\n\n";
const char kWords[] = "<eps> 0\na 1\ncaf\u00e9 2\n";

std::vector<Use> uses() {
  const std::string ref = write("ref.txt", "u a caf\u00e9\nv b\n"), words = write("table.txt", kWords);
  const std::string lattice = write("u.lat.txt", kLattice), lattice_ref = write("lattice.ref", "u caf\u00e9\n");
  const std::string recognize = "recognize --device cpu --quiet --model " + tone_bundle() + " ";
  const std::string low = tone_recording("low"), mid = tone_recording("mid");
  const std::string list = write("two.list", low + " u\n" + mid + " v\n");
  return {
      {"REF of wer", "u a caf\u00e9\nv b\n", [=](const std::string &path) { return "wer " + path + " " + ref; }},
      {"HYP of wer", "a caf\u00e9 (u)\nb (v)\n", [=](const std::string &path) { return "wer --align " + ref + " " + path; }},
      {"standard input of wer", "u a caf\u00e9\nv b\n", [=](const std::string &path) { return "wer " + ref + " - <" + path; }},
      {"CTM of wer", "u 1 0 1 a 0.5\nu 1 1 1 caf\u00e9 0.9\nv 1 0 1 c 0.5\n",
       [=](const std::string &path) { return "wer --nce " + ref + " " + path; }},
      {"list of recordings", "# a list\n" + low + " u\n" + mid + "\n",
       [=](const std::string &path) { return recognize + "--list " + path; }},
      {"list of phrases", "low\n# caf\u00e9\nmid high\n",
       [=](const std::string &path) { return recognize + low + " --boost " + path; }},
      {"utterances and their speakers", "u s\nv s\n",
       [=](const std::string &path) { return recognize + "--adapt fmllr --list " + list + " --utt2spk " + path; }},
      {"speakers and their warps", "u 1.0\nv 1.1\n",
       [=](const std::string &path) { return recognize + "--list " + list + " --warps " + path; }},
      {"lattices", kLattice,
       [=](const std::string &path) { return "lattice best --acoustic-scale 1 --words " + words + " " + path; }},
      {"words of lattices", kWords,
       [=](const std::string &path) { return "lattice best --acoustic-scale 1 --words " + path + " " + lattice; }},
      {"transcripts of lattices", "u caf\u00e9\n",
       [=](const std::string &path) { return "lattice stats --words " + words + " --ref " + path + " " + lattice; }},
      {"dictionary to train on", "caf\u00e9 K A F E\nfac F A K\nkaf K A F\n",
       [=](const std::string &path) { return "g2p --holdout 0.4 --order 2 --json --train " + path; }},
  };
}

TEST(TextFilesOfTheCommand, FormsOfAFileAreTheSame) {
  for (const Use &use : uses()) {
    const std::string path = write("given", use.text);
    const Outcome expected = run_program("senone", use.arguments(path));
    EXPECT_EQ(expected.exit_code, 0) << use.name << ": " << expected.output;
    for (const auto &[form, bytes] : forms_of(use.text)) {
      write("given", bytes);
      const Outcome outcome = run_program("senone", use.arguments(path));
      EXPECT_EQ(outcome.exit_code, expected.exit_code) << use.name << ": " << form;
      EXPECT_EQ(without_times(outcome.output), without_times(expected.output)) << use.name << ": " << form;
    }
  }
}

TEST(TextFilesOfTheCommand, NameAFileOfAnotherFormat) {
  const std::vector<Foreign> foreign_ones = foreign_files();
  for (const Use &use : uses()) {
    for (const char *name : {"a binary OpenFst graph", "a binary language model of KenLM", "a ZIP archive", "text in UTF-16"}) {
      const auto foreign = std::find_if(foreign_ones.begin(), foreign_ones.end(),
                                        [name](const Foreign &one) { return std::string(one.name) == name; });
      const Outcome outcome = run_program("senone", use.arguments(write("given", foreign->bytes)));
      EXPECT_NE(outcome.exit_code, 0) << use.name << ": " << name;
      EXPECT_NE(outcome.output.find(std::string(": is ") + name + ", not "), std::string::npos) << outcome.output;
      EXPECT_EQ(outcome.output.find("damaged"), std::string::npos) << outcome.output;
    }
  }
}

TEST(TextFilesOfTheCommand, AccentsAndCaseOfWordsAreCompared) {
  const std::string ref = write("ref.txt", "u \u00c9t\u00e9 stra\u00dfe\n");
  const std::string hyp = write("hyp.txt", "u e\u0301te\u0301 STRASSE\n");
  const Outcome ignored = run_program("senone", "wer --ignore-case " + ref + " " + hyp);
  EXPECT_NE(ignored.output.find("word error rate 0.00 %"), std::string::npos) << ignored.output;
  const Outcome kept = run_program("senone", "wer " + ref + " " + hyp);
  EXPECT_NE(kept.output.find("rate 100.00 %: 2 errors"), std::string::npos) << kept.output;
  EXPECT_NE(kept.output.find("note: 2 of the substitutions differ in case alone; --ignore-case"), std::string::npos)
      << kept.output;
  EXPECT_EQ(ignored.output.find("note"), std::string::npos) << ignored.output;
}

TEST(TextFilesOfTheCommand, IdsWithBlanksAreRefusedWhereBlanksSeparate) {
  const std::string recording = tone_recording("low");
  const std::string named = folder() + "my low.raw";
  std::ofstream(named, std::ios::binary) << std::ifstream(recording, std::ios::binary).rdbuf();
  const std::string recognize = "recognize --device cpu --quiet --model " + tone_bundle() + " '" + named + "' ";
  for (const std::string &output :
       {std::string("--ctm"), "--hyp " + folder() + "out.hyp", "--lattice " + folder() + "out.lat"}) {
    const Outcome outcome = run_program("senone", recognize + output);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_NE(outcome.output.find("\"my low\" cannot be the id of a recording"), std::string::npos) << outcome.output;
  }
  const Outcome text = run_program("senone", recognize + recording);
  EXPECT_EQ(text.exit_code, 0);
  EXPECT_NE(text.output.find("my low\tlow\n"), std::string::npos) << text.output;
}

}  // namespace
}  // namespace asr::test
