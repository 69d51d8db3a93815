// SPDX-License-Identifier: Apache-2.0
// Tests the output of the programs of samples/.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/file.h"
#include "core/model/bundle.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

TEST(Samples, HelloPrintsTheWords) {
  const Outcome outcome = run_program("hello", tone_bundle() + " " + tone_recording("low mid high"));
  EXPECT_EQ(outcome.output, "low mid high\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST(Samples, HelloSaysWhatIsWrong) {
  const Outcome no_bundle = run_program("hello", "/no/such/bundle " + tone_recording("low"));
  EXPECT_NE(no_bundle.output.find("/no/such/bundle"), std::string::npos) << no_bundle.output;
  EXPECT_NE(no_bundle.exit_code, 0);
  for (const char *name : {"hello", "callback", "nbest_lattice", "own_decoder"}) {
    const std::string usage = std::string("usage: ") + name + " BUNDLE FILE.raw";
    EXPECT_EQ(run_program(name, "").output.rfind(usage, 0), 0u);
    const Outcome no_audio = run_program(name, tone_bundle() + " /no/such.raw");
    EXPECT_EQ(no_audio.output, "/no/such.raw: No such file or directory\n");
    EXPECT_NE(no_audio.exit_code, 0);
  }
}

// Each tone has a senone, and the pauses have one, so that a path through senones is the words. Pauses may begin and end with a
// few frames of others, whose features have parts of the tones.
TEST(Samples, OwnDecoderFindsTheTones) {
  const Outcome outcome = run_program("own_decoder", tone_bundle() + " " + tone_recording("low mid high low"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::istringstream lines(outcome.output);
  std::vector<int> tones;
  double begin = 0, end = 0, last_end = 0;
  for (int senone = 0; lines >> begin >> end >> senone; last_end = end) {
    EXPECT_EQ(begin, last_end);
    if (end - begin > 0.25) tones.push_back(senone);
  }
  ASSERT_EQ(tones.size(), 4u) << outcome.output;
  EXPECT_EQ(tones[0], tones[3]);
  EXPECT_TRUE(tones[0] != tones[1] && tones[1] != tones[2] && tones[2] != tones[0]) << outcome.output;
  EXPECT_EQ(run_program("own_decoder", "/no/such " + tone_recording("low")).exit_code, 1);
}

TEST(Samples, GpuSamplesSayWhatIsMissing) {
  for (const char *name : {"cuda", "ocl_nvidia", "ocl_amd"}) {
    setenv("SENONE_PLUGINS", "cpu", 1);
    const std::string program = std::string(name) + "_gpu";
    const Outcome outcome = run_program(program, tone_bundle() + " " + tone_recording("low"));
    const Outcome named = run_program(program, tone_bundle() + " " + tone_recording("low") + " " + name + ":7");
    unsetenv("SENONE_PLUGINS");
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    EXPECT_NE(outcome.output.find(program + ": no device " + name + " here: it needs an "), std::string::npos)
        << outcome.output;
    EXPECT_NE(named.output.find("no device " + std::string(name) + ":7 here"), std::string::npos) << named.output;
    EXPECT_EQ(run_program(program, "").exit_code, 2);
  }
}

TEST(Samples, ManyStreamsPrintsWordsAndLatencies) {
  const Outcome outcome =
      run_program("many_streams", tone_bundle() + " 100 200 " + tone_recording("low high") + " " + tone_recording("mid"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("\t100 times\tlow high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("\t100 times\tmid\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("200 streams on "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("words after the end of speech: median "), std::string::npos) << outcome.output;
  EXPECT_EQ(run_program("many_streams", tone_bundle() + " 0 200 x.raw").exit_code, 2);
  EXPECT_EQ(run_program("many_streams", tone_bundle() + " 1 2 /no/such.raw").output,
            "many_streams: /no/such.raw: cannot be opened\n");
}

TEST(Samples, CaptionsArePrintedAsTheyAreSaid) {
  const std::string arguments = tone_bundle() + " " + tone_recording("low high") + " ";
  const Outcome vtt = run_program("captions", arguments + "vtt 0");
  EXPECT_EQ(vtt.exit_code, 0) << vtt.output;
  EXPECT_EQ(vtt.output.rfind("WEBVTT\n\n00:00:0", 0), 0u) << vtt.output;
  EXPECT_NE(vtt.output.find("\nlow high\n\n"), std::string::npos) << vtt.output;
  const Outcome srt = run_program("captions", arguments + "srt 20");
  EXPECT_EQ(srt.output.rfind("1\n00:00:00,", 0), 0u) << srt.output;
  EXPECT_NE(srt.output.find(" --> 00:00:0"), std::string::npos) << srt.output;
  EXPECT_EQ(run_program("captions", arguments).exit_code, 2);
  const Outcome no_audio = run_program("captions", tone_bundle() + " /no/such.raw srt");
  EXPECT_EQ(no_audio.output, "captions: /no/such.raw: cannot be opened\n");
  EXPECT_EQ(no_audio.exit_code, 1);
  const Outcome folder = run_program("captions", tone_bundle() + " /usr srt");
  EXPECT_EQ(folder.output, "captions: /usr: cannot be read: Is a directory\n");
  EXPECT_EQ(folder.exit_code, 1);
  for (const char *speed : {"fast", "1x", "''", "-1", "nan"}) {
    EXPECT_EQ(run_program("captions", arguments + "srt " + speed).exit_code, 2) << speed;
  }
}

TEST(Samples, CaptionsThatCannotBeWritten) {
  const std::string arguments = tone_bundle() + " " + tone_recording("low high") + " ";
  for (const char *format : {"vtt", "srt"}) {
    const Outcome full = run_program("captions", arguments + format + " 0 2>&1 >/dev/full #");
    EXPECT_EQ(full.output, "captions: standard output: cannot be written: No space left on device\n") << format;
    EXPECT_EQ(full.exit_code, 1);
  }
}

TEST(Samples, CaptionsEscapeMarkUp) {
  const std::string bundle = tone_bundle() + "_marked", words = bundle + "/words.txt";
  std::filesystem::copy(tone_bundle(), bundle, std::filesystem::copy_options::recursive);
  std::string text = read_file(words);
  text.replace(text.find("low"), 3, "<l&w>");
  std::ofstream(words) << text;
  write_bundle_index(read_bundle_index(bundle), bundle, {"acoustic.bin", "graph.bin", "words.txt", "phones.txt"});
  const std::string arguments = bundle + " " + tone_recording("low high") + " ";
  EXPECT_NE(run_program("captions", arguments + "vtt 0").output.find("\n&lt;l&amp;w&gt; high\n"), std::string::npos);
  EXPECT_NE(run_program("captions", arguments + "srt 0").output.find("\n<l&w> high\n"), std::string::npos);
  std::filesystem::remove_all(bundle);
}

TEST(Samples, LatticeRescores) {
  const std::string arguments = tone_bundle() + " " + tone_recording("low high");
  const Outcome plain = run_program("lattice", arguments);
  EXPECT_EQ(plain.exit_code, 0) << plain.output;
  EXPECT_EQ(plain.output.rfind(" 1 ", 0), 0u) << plain.output;
  // Without changed costs, rescoring keeps the path, its cost and the confidences.
  const std::string rescored = plain.output.substr(plain.output.find("rescored "));
  const std::string best = plain.output.substr(2, plain.output.find("  low high\n") - 2);
  EXPECT_EQ(std::stod(rescored.substr(9)), std::stod(best)) << plain.output;
  EXPECT_NE(rescored.find("  low\n"), std::string::npos) << plain.output;
  EXPECT_NE(rescored.find("  high\n"), std::string::npos) << plain.output;
  EXPECT_EQ(rescored.find("  mid\n"), std::string::npos) << plain.output;
  // A word with a large negative cost is recognised wherever the lattice has it.
  const Outcome changed = run_program("lattice", arguments + " mid=-1000");
  EXPECT_NE(changed.output.substr(changed.output.find("rescored ")).find("  1.000  mid\n"), std::string::npos)
      << changed.output;
  EXPECT_EQ(run_program("lattice", arguments + " mid=x").output, "lattice: mid=x: is not WORD=COST\n");
}

TEST(Samples, CallbackPrintsPartialsAndTimes) {
  const Outcome outcome = run_program("callback", tone_bundle() + " " + tone_recording("high low high"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find(" ... high"), std::string::npos)
      << outcome.output;  // the last partial result, if others were not read in time
  EXPECT_NE(outcome.output.find("  low\n"), std::string::npos) << outcome.output;
}

TEST(Samples, NbestLatticePrintsAlternativesConfidencesAndArcs) {
  const Outcome outcome = run_program("nbest_lattice", tone_bundle() + " " + tone_recording("low high"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output.rfind(" 1 ", 0), 0u) << outcome.output;
  EXPECT_NE(outcome.output.find("  low high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("  1.000  high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("  0 -> 1  low\n"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace asr::test
