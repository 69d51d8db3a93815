// SPDX-License-Identifier: Apache-2.0
// Tests that `senone recognize` hears the same words in the same audio, whatever file or pipe it comes in, and that it names
// what it does not hear. docs/audio.md has the table.
#include <sndfile.h>
#include <sys/wait.h>

#include <cstdlib>
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

TEST(RecognizeAudio, FormatsOfTheDecoderByAllWays) {
  for (const SampleCode &code :
       {SampleCode{Encoding::kUnsigned, 1, false}, SampleCode{Encoding::kSigned, 2, false},
        SampleCode{Encoding::kSigned, 3, false}, SampleCode{Encoding::kSigned, 4, false},
        SampleCode{Encoding::kFloat, 4, false}, SampleCode{Encoding::kFloat, 8, false}, SampleCode{Encoding::kUlaw, 1, false},
        SampleCode{Encoding::kAlaw, 1, false}, SampleCode{Encoding::kSigned, 2, true}}) {
    WavWriter writer;
    writer.code = code;
    writer.is_extensible = code.n_bytes == 3;
    const std::string path = written("format.wav", writer.file(spoken()));
    if (code.encoding != Encoding::kUnsigned) {
      expect_words(path);
      continue;
    }
    // The noise of 8 bits has tones of its own: the words are those of the same samples in 16.
    std::vector<int> coarse;
    for (const int sample : spoken()) coarse.push_back((std::min((sample + 32768 + 128) / 256, 255) - 128) * 256);
    const Outcome words = recognize_command(written("coarse.wav", WavWriter().file(coarse)));
    expect_words(path, "", "", words.output.substr(0, words.output.find('\n')));
  }
  WavWriter large;
  large.is_rf64 = true;
  expect_words(written("format.wav", large.file(spoken())));
  expect_words(written("format.au", au_file({Encoding::kUlaw, 1, true}, 1, 0xffffffff, spoken())));
  expect_words(written("format.au", au_file({Encoding::kSigned, 2, true}, 3, 0xffffffff, spoken())));
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

TEST(RecognizeAudio, FormatsOfLibsndfileAreReadFromFilesAndPipes) {
  std::vector<int16_t> samples;
  for (const int sample : spoken()) samples.push_back(static_cast<int16_t>(sample));
  for (const int format :
       {SF_FORMAT_FLAC | SF_FORMAT_PCM_16, SF_FORMAT_AIFF | SF_FORMAT_PCM_16, SF_FORMAT_CAF | SF_FORMAT_PCM_16,
        SF_FORMAT_W64 | SF_FORMAT_PCM_16, SF_FORMAT_NIST | SF_FORMAT_PCM_16, SF_FORMAT_OGG | SF_FORMAT_VORBIS,
        SF_FORMAT_WAV | SF_FORMAT_IMA_ADPCM}) {
    SF_INFO info{};
    info.samplerate = 16000;
    info.channels = 1;
    info.format = format;
    const std::string path = tone_bundle() + "/other.audio";
    SNDFILE *const file = sf_open(path.c_str(), SFM_WRITE, &info);
    ASSERT_NE(file, nullptr) << sf_strerror(nullptr);
    sf_write_short(file, samples.data(), static_cast<sf_count_t>(samples.size()));
    sf_close(file);
    for (const std::string &input : {path, "- <" + path}) {
      EXPECT_TRUE(has(recognize_command(input), std::string(kSpoken) + "\n")) << std::hex << format << " " << input;
    }
    const Outcome live = recognize_command("--endpoint command - <" + path);
    EXPECT_TRUE(has(live, std::string(kSpoken) + "\n")) << live.output;
    EXPECT_TRUE(has(live, "cannot be decoded while it comes")) << live.output;
  }
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
