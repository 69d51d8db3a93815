// SPDX-License-Identifier: Apache-2.0
// Tests `senone listen` with a libportaudio.so.2 that plays a recording (portaudio/stub.c).
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"
#include "tests/build/tone_model.h"

namespace asr::test {
namespace {

namespace fs = std::filesystem;

constexpr char kHeader[] = "listening to Desk microphone\n";

class Listen : public testing::Test {
 protected:
  void SetUp() override {
    setenv("LD_LIBRARY_PATH", SENONE_STUB_PORTAUDIO, 1);
    play("low mid high");
  }
  void TearDown() override {
    for (const char *name : {"LD_LIBRARY_PATH", "STUB_RECORDING", "STUB_PORTAUDIO"}) unsetenv(name);
  }

  static void play(const std::string &words) { setenv("STUB_RECORDING", tone_recording(words).c_str(), 1); }
  static void behave(const char *kind) { setenv("STUB_PORTAUDIO", kind, 1); }

  // Returns what `senone listen` prints on both outputs, without PortAudio's own noise if that is left out as it ought to be.
  static Outcome listen(const std::string &arguments) {
    return run_program("senone", "listen --device cpu --model " + tone_bundle() + " " + arguments);
  }
};

TEST_F(Listen, WordsOfTheMicrophone) {
  const Outcome outcome = listen("--seconds 5");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, std::string(kHeader) + "low mid high\n");
}

TEST_F(Listen, PartialsAndTimes) {
  const Outcome outcome = listen("--seconds 5 --partials --times --endpoint command");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("... "), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("  low mid high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("    0."), std::string::npos) << outcome.output;
}

TEST_F(Listen, MicrophonesByNumberAndName) {
  EXPECT_EQ(listen("--list").output, "  1   Headset\n  2 * Desk microphone\n");
  EXPECT_EQ(listen("--seconds 1 --input 1").output.substr(0, 21), "listening to Headset\n");
  EXPECT_EQ(listen("--seconds 1 --input Head").output.substr(0, 21), "listening to Headset\n");
  const Outcome outcome = listen("--input Loud");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.output,
            "senone: listen: --input Loud: no microphone has this number or name; `senone listen --list` lists them\n");
}

TEST_F(Listen, WithoutMicrophoneOrLibrary) {
  behave("none");
  const char kNone[] = "senone: listen: PortAudio finds no microphone; connect one, and check that you may use it\n";
  Outcome outcome = listen("");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_EQ(outcome.output, kNone);
  EXPECT_EQ(listen("--list").output, kNone);
  const fs::path empty = fs::path(testing::TempDir()) / "no_portaudio";
  fs::create_directories(empty);
  std::ofstream(empty / "libportaudio.so.2") << "no library";  // found before that of the system
  setenv("LD_LIBRARY_PATH", empty.c_str(), 1);
  outcome = listen("");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("install PortAudio (Debian: libportaudio2)"), std::string::npos) << outcome.output;
  fs::remove_all(empty);
}

TEST_F(Listen, AMicrophoneThatGoesLeavesItsWords) {
  behave("gone");
  const Outcome outcome = listen("");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("low mid high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("Desk microphone has stopped: Device unavailable; "), std::string::npos) << outcome.output;
}

TEST_F(Listen, AMicrophoneWithoutARateIsRefused) {
  behave("no rate");
  const Outcome outcome = listen("");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_NE(outcome.output.find("Desk microphone cannot be opened: "), std::string::npos) << outcome.output;
}

TEST_F(Listen, LostAudioIsToldOnce) {
  behave("lost");
  const Outcome outcome = listen("--seconds 5");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_NE(outcome.output.find("senone: warning: some audio was lost"), std::string::npos) << outcome.output;
}

// On a terminal, which `script` makes, the last line is drawn again and again.
TEST_F(Listen, ATerminalHasAMeter) {
  const std::string command = std::string("script -qec '" SENONE_EMULATOR SENONE_BUILD_DIR "/bin/senone listen --device cpu ") +
                              "--seconds 4 --model " + tone_bundle() + "' /dev/null </dev/null";
  FILE *const pipe = popen(command.c_str(), "r");
  ASSERT_NE(pipe, nullptr);
  std::string output;
  for (int c = fgetc(pipe); c != EOF; c = fgetc(pipe)) output += static_cast<char>(c);
  EXPECT_EQ(pclose(pipe), 0);
  EXPECT_NE(output.find("\r\033[K[------------]"), std::string::npos) << output;  // silence
  EXPECT_NE(output.find("\r\033[K[########----]"), std::string::npos) << output;  // a tone
  EXPECT_NE(output.find("\r\033[Klow mid high\r\n"), std::string::npos) << output;
}

TEST_F(Listen, AGrammarInPlaceOfTheGraph) {
  const fs::path folder = fs::path(testing::TempDir()) / "listen_grammar";
  fs::create_directories(folder);
  std::ofstream(folder / "tones.dict") << kToneLexicon;
  std::ofstream(folder / "ends.gram") << "#JSGF V1.0;\ngrammar ends;\npublic <end> = high low | low;\n";
  play("high low");
  const std::string grammar = "--device cpu --seconds 4 --model " + tone_model() + " --jsgf " + (folder / "ends.gram").string();
  const Outcome outcome = run_program("senone", "listen " + grammar + " --lexicon " + (folder / "tones.dict").string());
  EXPECT_EQ(outcome.output, std::string(kHeader) + "high low\n");
  const Outcome refused = run_program("senone", "listen " + grammar);
  EXPECT_EQ(refused.exit_code, 2);
  EXPECT_NE(refused.output.find("--jsgf needs the model's dictionary; give --lexicon"), std::string::npos) << refused.output;
  fs::remove_all(folder);
}

}  // namespace
}  // namespace asr::test
