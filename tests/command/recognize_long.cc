// SPDX-License-Identifier: Apache-2.0
// Tests `senone recognize` with long recordings: memory of hours of silence, and --max-hours.
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

constexpr long kMaxMegabytes = 160;

// Runs the command with its output in a file. Returns the most memory that it took, in MB; -1 if it failed.
long peak_megabytes(const std::string &arguments, const std::string &bundle = tone_bundle()) {
  const std::string command =
      SENONE_EMULATOR SENONE_BUILD_DIR "/bin/senone recognize --device cpu --threads 1 --model " + bundle + " " + arguments;
  const pid_t child = fork();
  if (child == 0) {
    execl("/bin/sh", "sh", "-c", ("exec " + command).c_str(), nullptr);
    _exit(127);
  }
  int status = 0;
  rusage used{};
  EXPECT_EQ(wait4(child, &status, 0, &used), child);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? used.ru_maxrss / 1024 : -1;
}

// Makes a file of zeros, which takes no space on the disk.
std::string silence(double hours) {
  const std::string path = tone_bundle() + "/silence.raw";
  std::ofstream(path).close();
  std::filesystem::resize_file(path, static_cast<uintmax_t>(hours * 3600 * 16000) * 2);
  return path;
}

TEST(RecognizeLong, HoursOfSilenceTakeLittleMemory) {
  const std::string file = silence(4);
  for (const char *options : {"--hyp ", "--lattice-beam 6 --confidence --json --hyp "}) {
    const std::string hyp = tone_bundle() + "/silence.hyp";
    const long peak = peak_megabytes("--quiet " + std::string(options) + hyp + " " + file);
    EXPECT_GT(peak, 0) << options;
    if (kSanitized) continue;
    EXPECT_LT(peak, kMaxMegabytes) << options;
  }
}

// A file of hours is read for its mean first, so no cepstra wait for that.
TEST(RecognizeLong, TheMeanOfTheWholeTakesNoMemory) {
  std::vector<long> peaks;
  for (const double hours : {1.2, 4.2}) {
    const std::string arguments = "--cmn batch --quiet --hyp " + tone_bundle() + "/silence.hyp " + silence(hours);
    peaks.push_back(peak_megabytes(arguments, tone_bundle_with_mean()));
    EXPECT_GT(peaks.back(), 0);
    if (kSanitized) return;
  }
  EXPECT_LT(peaks[1] - peaks[0], 8);
}

// Standard input is read once, and its cepstra are kept.
TEST(RecognizeLong, TheMeanOfTheWholeIsTheSameInTwoPasses) {
  const std::string path = silence(1.01);
  const std::vector<int16_t> samples = speak("low high mid low");
  std::ofstream file(path, std::ios::app | std::ios::binary);
  file.write(reinterpret_cast<const char *>(samples.data()), static_cast<std::streamsize>(samples.size() * sizeof(int16_t)));
  file.close();
  const std::string recognize = "recognize --device cpu --quiet --json --model " + tone_bundle_with_mean() + " ";
  const auto result_of = [&](const std::string &input) {
    const std::string output = run_program("senone", recognize + input).output;
    const size_t begin = output.find("\"audio_s\"");
    EXPECT_NE(begin, std::string::npos) << output.substr(0, 1000);
    return output.substr(std::min(begin, output.size()), output.find('\n') - std::min(begin, output.size()));
  };
  EXPECT_EQ(result_of(path), result_of("- <" + path));
}

TEST(RecognizeLong, TheRestOfALongerOneIsLeftOut) {
  const std::string file = silence(0.01), recognize = "recognize --device cpu --json --model " + tone_bundle() + " ";
  const Outcome cut = run_program("senone", recognize + "--max-hours 0.005 " + file);
  EXPECT_EQ(cut.exit_code, 0) << cut.output;
  EXPECT_NE(cut.output.find("\"audio_s\":18.0"), std::string::npos) << cut.output;
  EXPECT_NE(cut.output.find("is longer than the 0.005 hours of --max-hours: the rest is left out"), std::string::npos);
  const Outcome whole = run_program("senone", recognize + "--max-hours 0.01 " + file);
  EXPECT_NE(whole.output.find("\"audio_s\":36.0"), std::string::npos) << whole.output;
  EXPECT_EQ(whole.output.find("--max-hours"), std::string::npos) << whole.output;
  const Outcome endless = run_program("senone", recognize + "--endpoint command --max-hours 0.005 " + file);
  EXPECT_EQ(endless.output.find("--max-hours"), std::string::npos) << endless.output;
  EXPECT_EQ(run_program("senone", recognize + "--max-hours 0 " + file).exit_code, 2);
}

}  // namespace
}  // namespace asr::test
