// SPDX-License-Identifier: Apache-2.0
// Tests `senone features` and `senone score`: recognising what they write gives the results of the recordings.
#include <cstring>
#include <fstream>
#include <iterator>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

std::string in_folder(const std::string &name) { return tone_bundle() + "/" + name; }

Outcome run(const std::string &command, const std::string &arguments) {
  return run_program("senone", command + " --device cpu --quiet --model " + tone_bundle() + " " + arguments);
}

// The results of `recognize --json`, without the name of the input and the times.
std::string results(const std::string &arguments) {
  const Outcome outcome = run("recognize", "--json --lattice-beam 8 --confidence " + arguments);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::string all;
  for (size_t at = outcome.output.find("\"text\""); at != std::string::npos; at = outcome.output.find("\"text\"", at + 1)) {
    all += outcome.output.substr(at, outcome.output.find('\n', at) - at) + "\n";
  }
  return all;
}

const std::string &recordings() {
  static const std::string files =
      tone_recording("low mid") + " " + tone_recording("high") + " " + tone_recording("mid high low");
  return files;
}

TEST(MatrixArchives, RowsAndScoresGiveTheResultsOfTheRecordings) {
  const std::string expected = results("--cmn model " + recordings());
  EXPECT_NE(expected.find("mid high low"), std::string::npos) << expected;
  for (const char *form : {"ark", "ark,t"}) {
    const std::string archive = in_folder("rows.ark");
    const Outcome features = run("features", "--out " + std::string(form) + ":" + archive + " " + recordings());
    EXPECT_EQ(features.exit_code, 0) << features.output;
    EXPECT_NE(features.output.find("3 utterances"), std::string::npos) << features.output;
    EXPECT_EQ(results("--features ark:" + archive), expected);
    const Outcome scores = run("score", "--out " + std::string(form) + ":" + archive + " " + recordings());
    EXPECT_EQ(scores.exit_code, 0) << scores.output;
    EXPECT_EQ(results("--loglikes ark:" + archive), expected);
  }
  const std::string list = in_folder("rows.scp");
  EXPECT_EQ(run("features", "--compress --out ark,scp:" + in_folder("c.ark") + "," + list + " " + recordings()).exit_code, 0);
  EXPECT_NE(results("--features scp:" + list).find("mid high low"), std::string::npos);
  const Outcome again = run("score", "--out ark:" + in_folder("rows.ark") + " --features scp:" + list);
  EXPECT_EQ(again.exit_code, 0) << again.output;
}

// Returns the values of the only matrix of a binary archive of Kaldi.
std::vector<float> only_matrix(const std::string &path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const size_t head = bytes.find("FM ") + 3 + 10;  // the token, and both sizes with a byte before each
  std::vector<float> values((bytes.size() - head) / sizeof(float));
  memcpy(values.data(), bytes.data() + head, values.size() * sizeof(float));
  return values;
}

TEST(MatrixArchives, HaveTheRowsOfTheLibrary) {
  const EnginePointer engine = load_engine();
  for (const char *cmn : {"model", "live", "none"}) {
    for (const asr_output output : {ASR_OUTPUT_FEATURES, ASR_OUTPUT_LOGLIKES}) {
      const std::string archive = in_folder("library.ark");
      const Outcome outcome = run(output == ASR_OUTPUT_FEATURES ? "features" : "score",
                                  std::string("--cmn ") + cmn + " --out ark:" + archive + " " + tone_recording("mid high"));
      ASSERT_EQ(outcome.exit_code, 0) << outcome.output;
      asr_stream_config config = giving(output);
      config.cmn = *cmn == 'l' ? ASR_CMN_LIVE : *cmn == 'n' ? ASR_CMN_NONE : ASR_CMN_MODEL;
      const GivenRows given = rows_of(engine.get(), config, speak("mid high"), 1000);
      EXPECT_GT(given.n_rows, 80u);
      EXPECT_EQ(given.values, only_matrix(archive)) << cmn;
    }
  }
}

TEST(MatrixArchives, StandardOutputIsAnArchive) {
  const std::string piped = in_folder("piped.ark"), written = in_folder("written.ark");
  EXPECT_EQ(run("features", "--out ark:- " + recordings() + " 2>/dev/null | cat >" + piped).exit_code, 0);
  EXPECT_EQ(run("features", "--out ark:" + written + " " + recordings()).exit_code, 0);
  EXPECT_EQ(run_program("senone", "--version >/dev/null && cmp " + piped + " " + written).output, "");
}

TEST(MatrixArchives, ABadRecordingCostsItself) {
  std::ofstream(in_folder("bad.wav")) << "RIFF";
  const std::string archive = in_folder("rest.ark");
  const Outcome outcome = run("features", "--out ark:" + archive + " " + in_folder("bad.wav") + " " + recordings());
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("bad.wav: "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("1 of 4 utterances are left out"), std::string::npos) << outcome.output;
  EXPECT_NE(results("--features ark:" + archive).find("mid high low"), std::string::npos);
}

TEST(MatrixArchives, EntriesHaveOneKeyOfOneWord) {
  const std::string low = tone_recording("low"), copy = in_folder("a word.raw");
  const Outcome twice = run("features", "--out ark:" + in_folder("x.ark") + " " + low + " " + low);
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_NE(twice.output.find("\"low\""), std::string::npos) << twice.output;
  std::ofstream(copy, std::ios::binary) << std::ifstream(low, std::ios::binary).rdbuf();
  const Outcome blank = run("score", "--out ark:" + in_folder("x.ark") + " '" + copy + "'");
  EXPECT_EQ(blank.exit_code, 1);
  EXPECT_NE(blank.output.find("--out"), std::string::npos) << blank.output;
  EXPECT_EQ(run("features", "--out x.ark " + low).exit_code, 2);
  EXPECT_EQ(run("features", "--out ark:x.ark").exit_code, 2);
}

}  // namespace
}  // namespace asr::test
