// SPDX-License-Identifier: Apache-2.0
// Tests that `senone recognize` hears the same words in the same audio, whatever file or pipe it comes in, and that it names
// what it does not hear. docs/audio.md has the table.
#include <sndfile.h>
#include <sys/wait.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>

#include "core/base/file.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"
#include "tests/unit/audio/wav_writer.h"

namespace asr::test {
namespace {

const char kSpoken[] = "low high mid low";

std::string with_model(const std::string &arguments) {
  return "recognize --device cpu --model " + tone_bundle() + " " + arguments;
}

Outcome recognize_command(const std::string &arguments) { return run_program("senone", with_model(arguments)); }

bool has(const Outcome &outcome, const std::string &text) { return outcome.output.find(text) != std::string::npos; }

std::string written(const std::string &name, const std::string &bytes) {
  std::string path = tone_bundle() + "/" + name;
  std::ofstream(path, std::ios::binary) << bytes;
  return path;
}

// The words, with silence after them, so that live input ends the utterance.
std::vector<int> spoken(uint32_t n_channels = 1) {
  std::vector<int> samples;
  for (const int16_t sample : speak(kSpoken)) samples.insert(samples.end(), n_channels, sample);
  return samples;
}

// Expects the words by all ways: file, standard input, live input.
void expect_words(const std::string &path, const std::string &options = "", const std::string &warning = "",
                  const std::string &words = kSpoken) {
  const std::string line = words + "\n";
  for (const std::string &input : {path, "- <" + path, "--endpoint command - <" + path, "- <" + path + " --chunk 77"}) {
    const Outcome outcome = recognize_command(options + " " + input);
    EXPECT_EQ(outcome.exit_code, 0) << input << ": " << outcome.output;
    EXPECT_TRUE(has(outcome, line)) << options << " " << input << ": " << outcome.output;
    EXPECT_TRUE(warning.empty() ? !has(outcome, "warning") : has(outcome, warning)) << input << ": " << outcome.output;
  }
}

// What 8 bits leave of the recording. Their noise has tones, and so words, of its own.
std::vector<int> spoken_in_8_bits() {
  std::vector<int> coarse;
  for (const int sample : spoken()) coarse.push_back((std::min((sample + 32768 + 128) / 256, 255) - 128) * 256);
  return coarse;
}

// The formats of docs/audio.md that the decoder reads: eight codes of samples in five containers, and five without any.
TEST(RecognizeAudio, FortyFormatsOfTheDecoderByAllWays) {
  const std::vector<int> fine = spoken(), coarse = spoken_in_8_bits();
  const Outcome of_coarse = recognize_command(written("coarse.wav", WavWriter().file(coarse)));
  const std::string coarse_words = of_coarse.output.substr(0, of_coarse.output.find('\n'));
  size_t n_formats = 0;
  for (const Encoding encoding : {Encoding::kUnsigned, Encoding::kSigned, Encoding::kFloat, Encoding::kUlaw, Encoding::kAlaw}) {
    for (const uint32_t n_bytes : {1u, 2u, 3u, 4u, 8u}) {
      const SampleCode code{encoding, n_bytes, false};
      if (!code.is_possible() || (encoding == Encoding::kSigned && n_bytes == 1)) continue;
      SCOPED_TRACE(format("encoding %d of %u bytes", static_cast<int>(encoding), n_bytes));
      const bool is_8_bits = encoding == Encoding::kUnsigned;  // which are signed in AU
      const std::vector<int> &samples = is_8_bits ? coarse : fine;
      const std::string words = is_8_bits ? coarse_words : kSpoken;
      for (const char *container : {"RIFF", "RIFX", "RF64", "extensible"}) {
        SCOPED_TRACE(container);
        WavWriter writer;
        writer.code = code;
        writer.code.is_big_endian = container == std::string("RIFX");
        writer.is_rf64 = container == std::string("RF64");
        writer.is_extensible = container == std::string("extensible");
        expect_words(written("format.wav", writer.file(samples)), "", "", words);
        ++n_formats;
      }
      const uint32_t number = encoding == Encoding::kUlaw    ? 1
                              : encoding == Encoding::kAlaw  ? 27
                              : encoding == Encoding::kFloat ? n_bytes == 4 ? 6 : 7
                                                             : n_bytes + 1;
      const SampleCode in_au{is_8_bits ? Encoding::kSigned : encoding, n_bytes, true};
      expect_words(written("format.au", au_file(in_au, number, 0xffffffff, samples)), "", "", words);
      ++n_formats;
    }
  }
  EXPECT_EQ(n_formats, 40u);
}

TEST(RecognizeAudio, SizesByAllWays) {
  for (const uint64_t size : {0u, 0x7fffffffu, 0xffffffffu}) {
    WavWriter writer;
    writer.data_size = size;
    expect_words(written("sizes.wav", writer.file(spoken())));
    writer.riff_size = size;
    expect_words(written("sizes.wav", writer.file(spoken())));
  }
  WavWriter half;
  half.data_size = 16000;
  expect_words(written("sizes.wav", half.file(spoken())), "", "has 8000 samples by its header, and ");
}

TEST(RecognizeAudio, RecordingsOneAfterAnother) {
  std::vector<int> first, second;
  for (const int16_t sample : speak("low high")) first.push_back(sample);
  for (const int16_t sample : speak("mid low")) second.push_back(sample);
  WavWriter writer;
  const std::string path = written("two.wav", writer.file(first) + writer.file(second));
  const Outcome outcome = recognize_command(path);
  EXPECT_TRUE(has(outcome, "low high mid low\n")) << outcome.output;
  EXPECT_TRUE(has(outcome, path + ": is 2 recordings one after another, which are heard as one")) << outcome.output;
  WavWriter other;
  other.rate_hz = 8000;
  const std::string mixed = written("two.wav", writer.file(first) + other.file(second));
  EXPECT_TRUE(has(recognize_command(mixed), mixed + ": another recording follows, of 8000 samples a second"));
}

// Writes the recording, n times, by libsndfile.
std::string written_by_library(int format, size_t n = 1) {
  std::vector<int16_t> samples;
  for (size_t i = 0; i < n; ++i) {
    for (const int sample : spoken()) samples.push_back(static_cast<int16_t>(sample));
  }
  SF_INFO info{};
  info.samplerate = 16000;
  info.channels = 1;
  info.format = format;
  std::string path = tone_bundle() + "/other.audio";
  SNDFILE *const file = sf_open(path.c_str(), SFM_WRITE, &info);
  EXPECT_NE(file, nullptr) << sf_strerror(nullptr);
  if (file == nullptr) return path;
  sf_write_short(file, samples.data(), static_cast<sf_count_t>(samples.size()));
  sf_close(file);
  return path;
}

TEST(RecognizeAudio, FormatsOfLibsndfileAreReadFromFilesAndPipes) {
  for (const int format :
       {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_CAF | SF_FORMAT_PCM_16,
        SF_FORMAT_W64 | SF_FORMAT_PCM_16, SF_FORMAT_NIST | SF_FORMAT_PCM_16, SF_FORMAT_VOC | SF_FORMAT_PCM_16,
        SF_FORMAT_OGG | SF_FORMAT_VORBIS, SF_FORMAT_OGG | SF_FORMAT_OPUS, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III,
        SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM}) {
    const std::string path = written_by_library(format);
    for (const std::string &input : {path, "- <" + path}) {
      EXPECT_TRUE(has(recognize_command(input), std::string(kSpoken) + "\n")) << std::hex << format << " " << input;
    }
    const Outcome live = recognize_command("--endpoint command - <" + path);
    EXPECT_TRUE(has(live, std::string(kSpoken) + "\n")) << live.output;
    EXPECT_TRUE(has(live, "cannot be decoded while it comes")) << live.output;
  }
}

// What is there of a recording that was cut is heard, and a warning says how much that is.
TEST(RecognizeAudio, OfACutFileOfLibsndfileIsHeardWhatIsThere) {
  for (const auto &[format, warning] :
       {std::pair(SF_FORMAT_FLAC | SF_FORMAT_PCM_16, "is damaged or cut short at "),
        std::pair(SF_FORMAT_OGG | SF_FORMAT_VORBIS, "has no end of a stream, so that it may be cut short at "),
        std::pair(SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III, "is cut short: it ends at ")}) {
    const std::string path = written_by_library(format, 4);
    std::filesystem::resize_file(path, std::filesystem::file_size(path) * 6 / 10);
    for (const std::string &input : {path, "- <" + path}) {
      const Outcome outcome = recognize_command(input);
      EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
      EXPECT_TRUE(has(outcome, "low high")) << outcome.output;
      EXPECT_TRUE(has(outcome, warning)) << outcome.output;
    }
  }
  const std::string path = written_by_library(SF_FORMAT_FLAC | SF_FORMAT_PCM_16);
  std::filesystem::resize_file(path, 100);
  EXPECT_EQ(recognize_command(path).exit_code, 1);
}

// A value that is no number costs itself.
TEST(RecognizeAudio, ValuesThatAreNoNumbersAreHeardAsSilence) {
  WavWriter writer;
  writer.code = {Encoding::kFloat, 4, false};
  writer.n_channels = 2;
  std::string bytes = writer.file(spoken(2));
  const size_t at = bytes.size() - 4 * (2 * 1000 - 1);  // channel 1 of the sample 1000 before the end
  const float bad[] = {NAN, 0, INFINITY};
  memcpy(&bytes[at], bad, sizeof(bad));
  const std::string place = format("sample %zu of channel 1 (at ", spoken().size() - 1000);
  expect_words(written("bad.wav", bytes), "", place);
  const Outcome outcome = recognize_command(written("bad.wav", bytes));
  EXPECT_TRUE(has(outcome, "has 2 values in all that are no number or infinite")) << outcome.output;
}

TEST(RecognizeAudio, RawFormatsAreNamed) {
  for (const auto &[name, code] :
       {std::pair("s16le", SampleCode{}), std::pair("s16be", SampleCode{Encoding::kSigned, 2, true}),
        std::pair("f32le", SampleCode{Encoding::kFloat, 4, false}), std::pair("mulaw", SampleCode{Encoding::kUlaw, 1, false}),
        std::pair("alaw", SampleCode{Encoding::kAlaw, 1, false})}) {
    const std::string path = written("named.bytes", samples_in(code, spoken()));
    expect_words(path, std::string("--raw-format ") + name);
    const std::string stereo = written("named.bytes", samples_in(code, spoken(2)));
    expect_words(stereo, std::string("--raw-channels 2 --raw-format ") + name);
  }
  EXPECT_EQ(recognize_command("--raw-format u8 - </dev/null").exit_code, 2);
  EXPECT_EQ(recognize_command("--raw-channels 2 - </dev/null").exit_code, 2);
  const std::string wav = written("named.wav", WavWriter().file(spoken()));
  EXPECT_TRUE(has(recognize_command("--raw-format s16le " + wav), wav + ": begins like WAV, but is taken for samples"));
}

TEST(RecognizeAudio, ContainersAreRefusedWithTheRemedy) {
  const std::string noise(20000, '\x93');
  const std::string webm = written("a.webm", std::string("\x1a\x45\xdf\xa3") + noise);
  for (const std::string &input : {webm, "- <" + webm, "--endpoint command - <" + webm}) {
    const Outcome outcome = recognize_command(input);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_TRUE(has(outcome, "is WebM or Matroska, which is not read; convert it: ffmpeg")) << outcome.output;
  }
}

TEST(RecognizeAudio, Channels) {
  const std::vector<int> voice = spoken();
  std::vector<int> samples, against;
  for (const int value : voice) {
    samples.insert(samples.end(), {value, 0});
    against.insert(against.end(), {value, -value});
  }
  WavWriter writer;
  writer.n_channels = 2;
  const std::string one = written("one.wav", writer.file(samples)), phase = written("phase.wav", writer.file(against));
  expect_words(one, "--channel 0");
  EXPECT_FALSE(has(recognize_command("--channel 1 " + one), kSpoken));
  expect_words(phase, "", "has channels that cancel each other, so that channel ");
  expect_words(phase, "--channel 1");
  const Outcome third = recognize_command("--channel 2 " + one);
  EXPECT_EQ(third.exit_code, 1);
  EXPECT_TRUE(has(third, one + ": has 2 channels, of which number 2 was asked for")) << third.output;
  for (const char *wrong : {"--channel left ", "--channel -1 ", "--channel 64 "}) {
    EXPECT_EQ(recognize_command(wrong + one).exit_code, 2) << wrong;
  }
}

// Runs a script in which $SENONE is the command with its model; the script must exit with 0.
void run_script(const std::string &script) {
  const std::string path = written("script.sh", "set -u\nSENONE='" SENONE_BUILD_DIR "/bin/senone " + with_model("") + "'\ncd " +
                                                    tone_bundle() + "\n" + script);
  EXPECT_EQ(std::system(("bash " + path).c_str()), 0) << script;
}

// Waits, 60 s at most, for a text in a file.
const char kWaitFor[] =
    "wait_for() { for i in $(seq 1200); do grep -q \"$1\" \"$2\" && return; sleep 0.05; done; cat \"$2\" >&2; exit 1; }\n";

TEST(RecognizeAudio, WhatTheHeaderTellsIsSaidWhenItIsRead) {
  WavWriter writer;
  writer.rate_hz = 8000;
  written("header.bytes", writer.header(0x7fffffff).substr(0, 44) + std::string(100, '\0'));
  run_script(
      std::string(kWaitFor) +
      "rm -f said; mkfifo pipe.said; exec 3<>pipe.said; $SENONE --endpoint command - <pipe.said >out 2>said 3>&- & pid=$!\n"
      "cat header.bytes >&3; wait_for 'has 8000 samples a second' said; kill -9 $pid; rm pipe.said\n");
}

TEST(RecognizeAudio, SignalsEndLiveInputAndNotTheCommand) {
  WavWriter writer;
  writer.code = {Encoding::kUlaw, 1, false};
  writer.data_size = 0xffffffff;
  written("signal.wav", writer.file(spoken()) + samples_in(writer.code, std::vector<int>(4000)));
  // The words are under way once the progress of the search says that the header was read; partial words are not printed, so
  // the script waits until the command has read what is in the pipe.
  const std::string begin =
      std::string(kWaitFor) +
      "pipe=pipe.signal; rm -f $pipe said out; mkfifo $pipe; exec 3<>$pipe\n"
      "env --default-signal=INT,TERM $SENONE --endpoint dictation - <$pipe >out 2>said 3>&- & pid=$!\n"
      "dd if=signal.wav bs=1M >&3 2>/dev/null\n"
      "is_empty() { python3 -c 'import "
      "fcntl,termios,struct;print(struct.unpack(\"i\",fcntl.ioctl(3,termios.FIONREAD,b\"0000\"))[0])'; }\n"
      "for i in $(seq 1200); do [[ $(is_empty) == 0 ]] && break; sleep 0.05; done\n";
  for (const char *signal : {"INT", "TERM"}) {
    run_script(begin + "kill -s " + signal + " $pid; wait $pid; status=$?; rm $pipe\n" +
               "[[ $status == 0 ]] || { cat said; exit 1; }\ngrep -qx '" + kSpoken + "' out || { cat out said; exit 1; }\n" +
               "grep -q 'the input is taken for ended' said\n");
  }
}

// The output is a pipe that is full, so that the command cannot end by itself.
TEST(RecognizeAudio, ASecondSignalEndsAtOnce) {
  WavWriter writer;
  writer.data_size = 0xffffffff;
  writer.rate_hz = 8000;  // whose warning says that the input is being read
  written("second.wav", writer.file(spoken()));
  run_script(std::string(kWaitFor) +
             "rm -f in.second out.second said; mkfifo in.second out.second; exec 3<>in.second 4<>out.second\n"
             "dd if=/dev/zero of=out.second bs=4096 count=64 oflag=nonblock 2>/dev/null\n"
             "env --default-signal=INT,TERM $SENONE --endpoint command - <in.second >out.second 2>said 3>&- 4>&- & pid=$!\n"
             "cat second.wav >&3; wait_for 'has 8000 samples a second' said\n"
             "kill -s INT $pid; wait_for 'the input is taken for ended' said; kill -s INT $pid\n"
             "(sleep 60; kill -9 $pid) 2>/dev/null & watchdog=$!\n"
             "wait $pid; status=$?; kill $watchdog; rm in.second out.second; [[ $status == 130 ]]\n");
}

}  // namespace
}  // namespace asr::test
