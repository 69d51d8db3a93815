// SPDX-License-Identifier: Apache-2.0
// The programs of samples/ run and print what they should.
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

struct Outcome {
  std::string output;  // stdout and stderr
  int status;
};

Outcome run_sample(const std::string &name, const std::string &arguments) {
  FILE *pipe = popen((std::string(SENONE_BUILD_DIR "/bin/") + name + " " + arguments + " 2>&1").c_str(), "r");
  EXPECT_NE(pipe, nullptr);
  Outcome outcome;
  std::array<char, 256> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) outcome.output += buffer.data();
  outcome.status = pclose(pipe);
  return outcome;
}

std::string raw_file(const std::string &words) {
  const std::string path = tone_bundle() + "/recording.raw";
  const std::vector<int16_t> samples = speak(words);
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char *>(samples.data()), std::streamsize(2 * samples.size()));
  return path;
}

TEST(Samples, HelloPrintsTheWords) {
  const Outcome outcome = run_sample("hello", tone_bundle() + " " + raw_file("low mid high"));
  EXPECT_EQ(outcome.output, "low mid high\n");
  EXPECT_EQ(outcome.status, 0);
}

TEST(Samples, HelloSaysWhatIsWrong) {
  const Outcome no_bundle = run_sample("hello", "/no/such/bundle " + raw_file("low"));
  EXPECT_NE(no_bundle.output.find("/no/such/bundle"), std::string::npos) << no_bundle.output;
  EXPECT_NE(no_bundle.status, 0);
  EXPECT_NE(run_sample("hello", "").status, 0);
}

TEST(Samples, CallbackPrintsPartialsAndTimes) {
  const Outcome outcome = run_sample("callback", tone_bundle() + " " + raw_file("high low high"));
  EXPECT_EQ(outcome.status, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("   0.50 ... high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("  low\n"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace asr::test
