// SPDX-License-Identifier: Apache-2.0
// Tests `senone recognize`: its outputs, and a one-line error for each failed recording.
#include <sys/stat.h>
#include <sys/wait.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/file.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

Outcome recognize_command(const std::string &arguments) {
  return run_program("senone", "recognize --device cpu --model " + tone_bundle() + " " + arguments);
}

// Writes a mono wav file of 32-bit float samples.
std::string wav(const std::string &name, const std::vector<float> &samples, uint32_t rate_hz = 16000) {
  std::string path = tone_bundle() + "/" + name;
  std::ofstream file(path, std::ios::binary);
  const auto put = [&](const char *tag, std::initializer_list<uint32_t> words) {
    file.write(tag, 4);
    for (const uint32_t word : words) file.write(reinterpret_cast<const char *>(&word), 4);
  };
  const uint32_t n_bytes = static_cast<uint32_t>(4 * samples.size());
  put("RIFF", {36 + n_bytes});
  put("WAVE", {});
  put("fmt ", {16, 3 | 1 << 16, rate_hz, 4 * rate_hz, 4 | 32 << 16});
  put("data", {n_bytes});
  file.write(reinterpret_cast<const char *>(samples.data()), n_bytes);
  return path;
}

// Writes the words of speak() as such a file.
std::string spoken_wav(const std::string &name, const std::string &words, uint32_t rate_hz = 16000) {
  std::vector<float> samples;
  for (const int16_t sample : speak(words, rate_hz)) samples.push_back(static_cast<float>(sample) / 32768);
  return wav(name, samples, rate_hz);
}

bool has(const Outcome &outcome, const std::string &text) { return outcome.output.find(text) != std::string::npos; }

TEST(RecognizeCommand, TextOfOneAndOfSeveral) {
  const Outcome one = recognize_command(tone_recording("low mid"));
  EXPECT_EQ(one.exit_code, 0);
  EXPECT_EQ(one.output.rfind("low mid\n", 0), 0u) << one.output;
  EXPECT_TRUE(has(one, "real-time factor")) << one.output;
  const Outcome two = recognize_command(tone_recording("low mid") + " " + tone_recording("high") + " --jobs 2");
  EXPECT_EQ(two.output.rfind("low_mid\tlow mid\nhigh\thigh\n", 0), 0u) << two.output;
}

TEST(RecognizeCommand, ChunksAndJobsChangeNothing) {
  std::string files;
  for (const char *words : {"low", "mid mid", "high low mid", "", "low low low", "mid high", "high", "mid low high"}) {
    files += " " + tone_recording(words);
  }
  const auto json_of = [&](const std::string &options) {
    const Outcome outcome = recognize_command("--json " + options + files);
    EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
    return outcome.output.substr(0, outcome.output.rfind('}') + 1);
  };
  const std::string expected = json_of("--jobs 1");
  EXPECT_EQ(std::count(expected.begin(), expected.end(), '\n'), 7);
  for (const char *options :
       {"--jobs 8", "--jobs 3 --threads 1", "--chunk 1", "--chunk 160", "--chunk 1000", "--chunk 100000"}) {
    EXPECT_EQ(json_of(options), expected) << options;
  }
}

TEST(RecognizeCommand, Formats) {
  const std::string file = tone_recording("low high");
  const Outcome json = recognize_command("--json " + file);
  EXPECT_TRUE(has(json, "\"text\":\"low high\"")) << json.output;
  EXPECT_TRUE(has(json, "{\"word\":\"low\",\"start_s\":0.")) << json.output;
  const Outcome ctm = recognize_command("--ctm " + file);
  EXPECT_EQ(ctm.output.rfind("low_high 1 0.", 0), 0u) << ctm.output;
  EXPECT_TRUE(has(ctm, " high\n")) << ctm.output;
  const Outcome srt = recognize_command("--srt " + file);
  EXPECT_EQ(srt.output.rfind("1\n00:00:00,", 0), 0u) << srt.output;
  EXPECT_TRUE(has(srt, "\nlow high\n\n")) << srt.output;
}

TEST(RecognizeCommand, UtterancesOfARecording) {
  const std::string file = tone_recording("low mid x x x x x high");  // an unknown word is a pause
  const Outcome text = recognize_command("--endpoint command --quiet " + file);
  EXPECT_EQ(text.output.rfind("low mid\nhigh\n", 0), 0u) << text.output;
  const Outcome json = recognize_command("--endpoint dictation --json " + file);
  EXPECT_TRUE(has(json, "\"utterance\":2,")) << json.output;
  EXPECT_TRUE(has(json, "\"text\":\"high\"")) << json.output;
  EXPECT_TRUE(has(json, "{\"word\":\"high\",\"start_s\":2.18")) << json.output;
  const Outcome srt = recognize_command("--endpoint captions --srt " + file);
  EXPECT_TRUE(has(srt, "\n2\n00:00:02,18")) << srt.output;
  const Outcome several = recognize_command("--endpoint command --jobs 4 " + file + " " + file);
  EXPECT_TRUE(has(several, "_high\tlow mid\n")) << several.output;
  const std::string hyp = tone_bundle() + "/utterances.hyp", lattices = tone_bundle() + "/utterances.txt";
  const Outcome files = recognize_command("--endpoint command --hyp " + hyp + " --lattice " + lattices + " " + file);
  EXPECT_EQ(files.exit_code, 0) << files.output;
  EXPECT_EQ(read_file(hyp).rfind("low mid high (low_mid_x", 0), 0u) << read_file(hyp);
  EXPECT_NE(read_file(lattices).find("_high-2"), std::string::npos) << read_file(lattices);
  EXPECT_TRUE(has(files, "2 utterances in 1 recording, ")) << files.output;
  EXPECT_TRUE(has(several, "4 utterances in 2 recordings, ")) << several.output;
  EXPECT_TRUE(has(recognize_command(file), "\n1 utterances, ")) << "scripts read this line";
  EXPECT_EQ(recognize_command("--endpoint soon " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--endpoint command --cmn batch " + file).exit_code, 2);
}

TEST(RecognizeCommand, AlternativesConfidencesAndLattices) {
  const std::string options = "--acoustic-scale 0.02 --word-insertion-cost 2 --lattice-beam 4 ",
                    file = tone_recording("low high");
  const Outcome text = recognize_command(options + "--nbest 3 " + file);
  EXPECT_EQ(text.exit_code, 0) << text.output;
  EXPECT_EQ(text.output.rfind("1\t", 0), 0u) << text.output;
  EXPECT_TRUE(has(text, "\n3\t")) << text.output;
  const Outcome json = recognize_command(options + "--nbest 3 --json " + file);
  EXPECT_TRUE(has(json, "\"others\":[{\"text\":")) << json.output;
  EXPECT_TRUE(has(json, "\"confidence\":0.")) << json.output;
  const Outcome ctm = recognize_command("--confidence --ctm " + file);
  EXPECT_TRUE(has(ctm, " high 1.000\n")) << ctm.output;
  const std::string lattice = tone_bundle() + "/lattice.txt";
  const Outcome two = recognize_command(options + "--lattice " + lattice + " " + file + " " + tone_recording("mid"));
  EXPECT_EQ(two.exit_code, 0) << two.output;
  std::ostringstream written;
  written << std::ifstream(lattice).rdbuf();
  EXPECT_EQ(written.str().rfind("low_high", 0), 0u) << written.str();
  EXPECT_NE(written.str().find("\nmid"), std::string::npos) << written.str();
}

// Writes a Kaldi archive in text form.
std::string archive(const std::string &name,
                    const std::vector<std::pair<std::string, std::vector<std::vector<float>>>> &entries) {
  const std::string path = tone_bundle() + "/" + name;
  std::ofstream file(path);
  for (const auto &[key, rows] : entries) {
    file << key << "  [ ";
    for (const std::vector<float> &row : rows) {
      file << "\n  ";
      for (const float value : row) file << value << " ";
    }
    file << "]\n";
  }
  return "ark:" + path;
}

TEST(RecognizeCommand, ArchivesOfLogLikelihoods) {
  std::vector<std::vector<float>> rows;
  for (const size_t state : {0, 2, 0, 1, 3, 0}) {
    for (int t = 0; t < 20; ++t) {
      rows.emplace_back(4, -20.0f);
      rows.back()[state] = -1;
    }
  }
  const std::string good = archive("loglikes", {{"a", rows}, {"b", {}}, {"c", {rows.begin() + 20, rows.begin() + 60}}});
  const Outcome outcome = recognize_command("--loglikes " + good);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(has(outcome, "a\tmid low high\n")) << outcome.output;
  EXPECT_TRUE(has(outcome, "c\tmid\n")) << outcome.output;
  const Outcome wrong = recognize_command("--loglikes " + archive("wide", {{"a", {{1, 2, 3, 4, 5}}}, {"c", rows}}));
  EXPECT_EQ(wrong.exit_code, 1);
  EXPECT_TRUE(has(wrong, "senone: a: rows have 5 log-likelihoods; the model has 4 states")) << wrong.output;
  EXPECT_TRUE(has(wrong, "c\tmid low high\n")) << wrong.output;
  std::ofstream(tone_bundle() + "/cut") << "a  [ 1 2 3";
  const Outcome cut = recognize_command("--loglikes ark:" + tone_bundle() + "/cut");
  EXPECT_EQ(cut.exit_code, 1);
  EXPECT_TRUE(has(cut, "/cut:")) << cut.output;
  const Outcome features = recognize_command("--features " + good);
  EXPECT_EQ(features.exit_code, 1);
  EXPECT_TRUE(has(features, "rows have 4 values")) << features.output;
}

TEST(RecognizeCommand, ListAndHypothesisFile) {
  const std::string list = tone_bundle() + "/list", hyp = tone_bundle() + "/hyp";
  std::ofstream(list) << "# recordings\n" << tone_recording("mid") << " first\n\n" << tone_recording("low low") << "\n";
  const Outcome outcome = recognize_command("--list " + list + " --hyp " + hyp);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  std::ostringstream written;
  written << std::ifstream(hyp).rdbuf();
  EXPECT_EQ(written.str(), "mid (first)\nlow low (low_low)\n");
}

TEST(RecognizeCommand, AnIdNamesOneRecording) {
  const std::string list = tone_bundle() + "/twice", mid = tone_recording("mid"), low = tone_recording("low low");
  const std::vector<std::string> lists = {mid + " a\n# two\n" + low + " a\n", mid + "\n\n" + low + " mid\n",
                                          mid + "\n" + low + "\n" + mid + "\n"};
  for (const std::string &lines : lists) {
    std::ofstream(list) << lines;
    const Outcome outcome = recognize_command("--list " + list);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_TRUE(has(outcome, list + ": lines 1 and 3 both have the id ")) << outcome.output;
    EXPECT_FALSE(has(outcome, "mid\tmid")) << outcome.output;
  }
}

// Writes a text file into the bundle's folder.
std::string text_file(const std::string &name, const std::string &text) {
  const std::string path = tone_bundle() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

TEST(RecognizeCommand, EveryLineOfAListIsTried) {
  const std::string mid = tone_recording("mid"), low = tone_recording("low low"), blank = tone_bundle() + "/with a blank.raw";
  std::filesystem::copy_file(mid, blank, std::filesystem::copy_options::overwrite_existing);
  const std::string list = text_file("tried.list", mid + " a\n# comment\nsox x -t wav - |\n/no/such.wav c\n\"" + blank +
                                                       "\" d\n" + blank + "\te\n" + blank + "\n" + low + " one two\n" + low +
                                                       "\nu-1 " + low + " 0.5 1.25\n/data/low.wav,9,low\n");
  const Outcome outcome = recognize_command("--list " + list);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  for (const char *line : {"a\tmid\n", "d\tmid\n", "e\tmid\n", "with a blank\tmid\n", "low_low\tlow low\n"}) {
    EXPECT_TRUE(has(outcome, line)) << line << outcome.output;
  }
  EXPECT_TRUE(has(outcome, "senone: " + list + ":3: sox: is a command (a pipe); commands are not run")) << outcome.output;
  EXPECT_TRUE(has(outcome, "senone: " + list + ":4: c: /no/such.wav: No such file")) << outcome.output;
  EXPECT_TRUE(has(outcome, "senone: " + list + ":8: " + low + " one two: is not \"path [id]\"")) << outcome.output;
  EXPECT_TRUE(has(outcome, " 0.5 1.25: is a line of Kaldi's segments; parts of recordings are not read")) << outcome.output;
  EXPECT_TRUE(has(outcome, "low.wav,9,low: is a row of a table with commas (CSV)")) << outcome.output;
  EXPECT_TRUE(has(outcome, "\n10 utterances, ")) << outcome.output;
  EXPECT_TRUE(has(outcome, "senone: 5 of 10 utterances failed")) << outcome.output;
}

TEST(RecognizeCommand, IdsWithControlCharactersStandInNoLine) {
  const std::string list = text_file("control.list", tone_recording("mid") + " u\033[31m\n" + tone_recording("low") + " v\n");
  for (const std::string output : {" --ctm", " --hyp -"}) {
    const Outcome outcome = recognize_command("--list " + list + output);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_TRUE(has(outcome, "\"u\\x1b[31m\" cannot be the id")) << outcome.output;
  }
  EXPECT_TRUE(has(recognize_command("--list " + list), "u\\x1b[31m\tmid\n"));
}

// Kaldi's list of recordings, by its name, by "scp:" and by its lines.
TEST(RecognizeCommand, WavScpIsAList) {
  const std::string mid = tone_recording("mid"), blank = tone_bundle() + "/with a blank.raw";
  std::filesystem::copy_file(mid, blank, std::filesystem::copy_options::overwrite_existing);
  const std::string lines = "u1 " + mid + "\nu2 " + blank + "\nu3 flac -dc x.flac |\nu4 /no/such.wav\n";
  for (const std::string &list :
       {text_file("wav.scp", lines), "scp:" + text_file("wav_list", lines), text_file("wav_list", lines)}) {
    const Outcome outcome = recognize_command("--list " + list);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_TRUE(has(outcome, "u1\tmid\nu2\tmid\n")) << outcome.output;
    EXPECT_TRUE(has(outcome, ":3: u3: is a command (a pipe)")) << outcome.output;
    EXPECT_TRUE(has(outcome, ":4: u4: /no/such.wav: No such file")) << outcome.output;
    EXPECT_TRUE(has(outcome, "2 of 4 utterances failed")) << outcome.output;
  }
  const Outcome twice =
      recognize_command("--list " + text_file("twice.scp", "u1 " + mid + "\nu2 " + mid + "\nu1 " + blank + "\n"));
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_TRUE(has(twice, "twice.scp: lines 1 and 3 both have the id \"u1\"")) << twice.output;
  EXPECT_FALSE(has(twice, "u2\tmid")) << twice.output;
}

// Entries of archives and of lists of them. Log-likelihoods of -inf close their states.
TEST(RecognizeCommand, EveryEntryOfAnArchiveIsTried) {
  const float closed = -INFINITY;
  std::vector<std::vector<float>> rows, dead, not_numbers;
  for (const size_t state : {0, 2, 0}) {
    for (int t = 0; t < 20; ++t) {
      rows.emplace_back(4, closed);
      rows.back()[state] = -1;
    }
  }
  (dead = rows)[7].assign(4, closed);
  (not_numbers = rows)[9][1] = NAN;
  const std::string ark = archive("tried.ark", {{"a", rows}, {"b", dead}, {"a", rows}, {"c", not_numbers}, {"d", rows}});
  const std::string path = ark.substr(4);
  const Outcome outcome = recognize_command("--loglikes " + ark);
  EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
  EXPECT_TRUE(has(outcome, "a\tmid\n")) << outcome.output;
  EXPECT_TRUE(has(outcome, "d\tmid\n")) << outcome.output;
  EXPECT_TRUE(has(outcome, "senone: b: frame 7: all log-likelihoods are -inf")) << outcome.output;
  EXPECT_TRUE(has(outcome, "entry 3: has the id \"a\", and so has " + path + ", entry 1")) << outcome.output;
  EXPECT_TRUE(has(outcome, "senone: c: frame 9: value 1 is not a number")) << outcome.output;
  EXPECT_TRUE(has(outcome, "senone: 3 of 5 utterances failed")) << outcome.output;
  std::ostringstream bytes;
  bytes << std::ifstream(path).rdbuf();
  const std::string text = bytes.str(), at = path + ":" + std::to_string(text.find("  [") + 1);
  const std::string scp = text_file("tried.scp", "k0 " + at + "\nk1 " + at + "[0:61]\nk2 copy x |\nk3 " + at +
                                                     "[0:19,0:3]\nk4 " + path + "\nk5 " + at + "[0:9,0:2]\nk6 " + at + "\n");
  const Outcome list = recognize_command("--loglikes scp:" + scp);
  EXPECT_EQ(list.exit_code, 1) << list.output;
  for (const char *line : {"k0\tmid\n", "k1\tmid\n", "k6\tmid\n", ":2: k1: rows 0 to 61 are asked for, but there are 60",
                           ":3: k2: is a command (a pipe)", ":5: k4: ", ":6: k5: rows have 3 log-likelihoods", "7 utterances, ",
                           "3 of 7 utterances failed"}) {
    EXPECT_TRUE(has(list, line)) << line << list.output;
  }
  const Outcome twice =
      recognize_command("--loglikes scp:" + text_file("twice.scp", "a " + at + "\nb " + at + "\na " + at + "\n"));
  EXPECT_EQ(twice.exit_code, 1);
  EXPECT_TRUE(has(twice, "twice.scp: lines 1 and 3 both have the id \"a\"")) << twice.output;
  EXPECT_FALSE(has(twice, "b\tmid")) << twice.output;
}

// Results that are written by their ids need ids of their own.
TEST(RecognizeCommand, RecordingsOfOneNameInTwoFolders) {
  const std::string mid = tone_recording("mid"), folder = tone_bundle() + "/other";
  std::filesystem::create_directories(folder);
  std::filesystem::copy_file(mid, folder + "/mid.raw", std::filesystem::copy_options::overwrite_existing);
  const std::string both = mid + " " + folder + "/mid.raw";
  EXPECT_EQ(recognize_command(both).exit_code, 0);
  for (const std::string &option : {"--hyp " + folder + "/hyp", "--lattice " + folder + "/lat", std::string("--ctm")}) {
    const Outcome outcome = recognize_command(option + " " + both);
    EXPECT_EQ(outcome.exit_code, 1) << option;
    EXPECT_TRUE(has(outcome, folder + "/mid.raw: has the id \"mid\", and so has " + mid)) << outcome.output;
  }
}

TEST(RecognizeCommand, BadRecordingsAreNamedAndOthersGoOn) {
  const std::string good = tone_recording("high");
  const std::string text = tone_bundle() + "/text.wav";
  std::ofstream(text) << "this is no audio";
  for (const std::string &bad : {std::string("/no/such/file.flac"), text, tone_bundle()}) {
    const Outcome outcome = recognize_command(bad + " " + good);
    EXPECT_EQ(outcome.exit_code, 1) << bad;
    EXPECT_TRUE(has(outcome, "senone: " + bad + ": ")) << outcome.output;
    EXPECT_TRUE(has(outcome, "high\thigh\n")) << outcome.output;
  }
}

TEST(RecognizeCommand, LessAudioThanAFrameIsAnError) {
  const std::string good = tone_recording("high");
  for (const auto &[n, cause] :
       {std::pair(0u, "no audio"), std::pair(1u, "less than a frame"), std::pair(100u, "less than a frame")}) {
    const std::string path = wav("short.wav", std::vector<float>(n, 0.01f));
    const Outcome outcome = recognize_command(path + " " + good);
    EXPECT_EQ(outcome.exit_code, 1) << outcome.output;
    EXPECT_TRUE(has(outcome, "senone: " + path + ": ")) << outcome.output;
    EXPECT_TRUE(has(outcome, cause)) << outcome.output;
    EXPECT_TRUE(has(outcome, "high\thigh\n")) << outcome.output;
  }
}

TEST(RecognizeCommand, DirectoriesAndEmptyFilesHaveMessagesOfTheirOwn) {
  const std::string empty = tone_bundle() + "/empty.wav";
  std::ofstream(empty).flush();
  EXPECT_TRUE(has(recognize_command(empty), "senone: " + empty + ": is an empty file; "));
  EXPECT_TRUE(has(recognize_command(tone_bundle()), "senone: " + tone_bundle() + ": is a directory; "));
  EXPECT_TRUE(has(recognize_command("/dev/null"), "senone: /dev/null: is a pipe or device"));
}

TEST(RecognizeCommand, StandardInput) {
  const std::string raw = tone_recording("low high");
  const std::string wave = spoken_wav("stdin.wav", "low high", 32000);
  EXPECT_TRUE(has(recognize_command("- <" + raw), "low high\n"));
  EXPECT_TRUE(has(recognize_command("- <" + wave), "low high\n"));
  EXPECT_TRUE(has(recognize_command("--json - <" + raw), "\"id\":\"-\""));
  const Outcome twice = recognize_command("- - <" + raw);
  EXPECT_EQ(twice.exit_code, 2);
  EXPECT_TRUE(has(twice, "standard input can be read once")) << twice.output;
  const Outcome nothing = recognize_command("- </dev/null");
  EXPECT_EQ(nothing.exit_code, 1);
  EXPECT_TRUE(has(nothing, "senone: -: standard input is empty; ")) << nothing.output;
}

// Audio in a pipe that stays open is recognised utterance by utterance.
TEST(RecognizeCommand, UtterancesOfLiveInputAreHeardAsTheyEnd) {
  const std::string raw = tone_recording("low mid"), quiet = tone_recording("");
  std::string pauses;
  for (int i = 0; i < 6; ++i) pauses += " " + quiet;
  const std::string out = tone_bundle() + "/live.out";
  const std::string wait = "for i in $(seq 200); do test -s " + out + " && break; sleep 0.05; done; ";
  // The second recording is written only after the first one's words were printed.
  const std::string input =
      "(cat " + raw + pauses + "; " + wait + "cp " + out + " " + out + ".first; cat " + raw + pauses + ")";
  std::filesystem::remove(out);
  const std::string command = input + " | " SENONE_BUILD_DIR "/bin/senone recognize --device cpu --model " + tone_bundle() +
                              " --endpoint command - 2>/dev/null >" + out;
  ASSERT_EQ(std::system(("bash -c '" + command + "'").c_str()), 0);
  EXPECT_EQ(read_file(out + ".first"), "low mid\n");
  EXPECT_EQ(read_file(out), "low mid\nlow mid\n");
}

TEST(RecognizeCommand, LiveInputHasAHeaderOrNone) {
  const std::string flags = "--endpoint command ", raw = tone_recording("low mid");
  EXPECT_TRUE(has(recognize_command(flags + "- <" + raw), "low mid"));
  const std::string wav = spoken_wav("live.wav", "high low"), low = spoken_wav("live8.wav", "high low", 8000);
  EXPECT_TRUE(has(recognize_command(flags + "- <" + wav), "high low"));
  EXPECT_TRUE(has(recognize_command(flags + "- <" + low), "high low"));
  EXPECT_TRUE(has(recognize_command(flags + "- <" + low), "senone: warning: -: has 8000 samples a second"));
  std::filesystem::resize_file(wav, std::filesystem::file_size(wav) - 1000);
  const Outcome cut = recognize_command(flags + "- <" + wav);
  EXPECT_TRUE(has(cut, "high low") && has(cut, "-: is cut short: 1000 bytes ")) << cut.output;
  EXPECT_TRUE(has(recognize_command(flags + "- </dev/null"), "senone: -: standard input is empty; "));
  const std::string byte = tone_bundle() + "/byte";
  std::ofstream(byte) << 'a';
  const Outcome tiny = recognize_command(flags + "- <" + byte);
  EXPECT_EQ(tiny.exit_code, 1);
  EXPECT_TRUE(has(tiny, "senone: -: ")) << tiny.output;
}

TEST(RecognizeCommand, RecordingsThatLackSomethingBringAWarning) {
  const std::string low = spoken_wav("low.wav", "low mid", 8000);
  const Outcome twice = recognize_command(low + " " + low);
  EXPECT_EQ(twice.exit_code, 0) << twice.output;
  EXPECT_TRUE(has(twice, "senone: warning: " + low + ": has 8000 samples a second, the model is for 16000: ")) << twice.output;
  EXPECT_EQ(twice.output.find("warning"), twice.output.rfind("warning")) << "said once";

  const std::string cut = spoken_wav("cut.wav", "low mid");
  EXPECT_FALSE(has(recognize_command(cut), "warning"));
  std::filesystem::resize_file(cut, std::filesystem::file_size(cut) - 1000);
  const Outcome outcome = recognize_command(cut);
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_TRUE(has(outcome, "senone: warning: " + cut + ": is cut short: 1000 bytes ")) << outcome.output;
}

TEST(RecognizeCommand, AFileThatCannotBeWrittenIsKnownBeforehand) {
  const Outcome outcome = run_program("senone", "recognize --model /no/bundle --hyp /nodir/x " + tone_recording("low"));
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(has(outcome, "/nodir/x")) << outcome.output;
  EXPECT_FALSE(has(outcome, "/no/bundle")) << outcome.output;
}

// The # comments out the redirection of stderr to stdout that run_program() appends.
TEST(RecognizeCommand, StandardOutputThatCannotBeWritten) {
  const std::string file = tone_recording("low");
  for (const std::string &arguments :
       {std::string("devices"), std::string("--help"), "recognize --device cpu --model " + tone_bundle() + " " + file}) {
    const Outcome full = run_program("senone", arguments + " 2>&1 >/dev/full #");
    EXPECT_EQ(full.exit_code, 1);
    EXPECT_TRUE(has(full, "senone: standard output: cannot be written: No space left on device; free some space"))
        << full.output;
  }
  const std::string hyp = tone_bundle() + "/closed.hyp";  // must not get the descriptor of the closed stream
  const Outcome closed = recognize_command(file + " --hyp " + hyp + " 2>&1 >&- #");
  EXPECT_EQ(closed.exit_code, 1);
  EXPECT_TRUE(has(closed, "senone: standard output: cannot be written")) << closed.output;
  EXPECT_FALSE(std::filesystem::exists(hyp));
}

TEST(RecognizeCommand, HypOnStandardOutput) {
  const std::string file = tone_recording("low mid");
  const Outcome outcome = recognize_command(file + " --hyp - 2>/dev/null #");
  EXPECT_EQ(outcome.exit_code, 0);
  EXPECT_EQ(outcome.output, "low mid (low_mid)\n");
  EXPECT_FALSE(std::filesystem::exists("-"));
  for (const char *other : {"--json", "--ctm", "--srt", "--resume"}) {
    EXPECT_EQ(recognize_command(file + " --hyp - " + other).exit_code, 2) << other;
  }
  EXPECT_EQ(recognize_command(file + " --lattice -").exit_code, 2);
}

// The file's name cannot be an id in a line "words (id)".
TEST(RecognizeCommand, NamesThatHypCannotHoldAreRefused) {
  const std::string odd = tone_bundle() + "/odd\nname.raw";
  std::filesystem::copy_file(tone_recording("low"), odd, std::filesystem::copy_options::overwrite_existing);
  const std::string hyp = tone_bundle() + "/odd.hyp";
  EXPECT_EQ(recognize_command("'" + odd + "' 2>/dev/null #").output, "low\n");
  for (const char *resume : {"", " --resume"}) {
    const Outcome outcome = recognize_command("'" + odd + "' --hyp " + hyp + resume);
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(has(outcome, "senone: recognize: \"odd\\nname\" cannot be the id in a line")) << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(hyp));
  }
}

// Opening a pipe that nobody reads would wait.
TEST(RecognizeCommand, ResumingIntoAPipeIsRefused) {
  const std::string pipe = tone_bundle() + "/pipe.hyp";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Outcome outcome = recognize_command(tone_recording("low") + " --hyp " + pipe + " --resume");
  EXPECT_EQ(outcome.exit_code, 1);
  EXPECT_TRUE(has(outcome, pipe + ": is no file, so --resume cannot read it again; name a file")) << outcome.output;
  std::filesystem::remove(pipe);
}

// Runs many threads under a limit on address space. Any thread may lack memory; the command must exit by itself and leave no
// partial file.
TEST(RecognizeCommand, LittleMemoryEndsInAMessage) {
  if (kSanitized) GTEST_SKIP() << "sanitizers reserve addresses without end";
  const std::string folder = tone_bundle() + "/memory", archive = folder + "/rows.txt";
  std::filesystem::create_directory(folder);
  std::ofstream rows(archive);
  for (int i = 0; i < 100; ++i) {
    rows << "u" << i << "  [";
    for (int row = 0; row < 20; ++row) rows << "\n -1 -2 -3 -4";
    rows << " ]\n";
  }
  rows.close();
  for (int kib = 60000; kib <= 130000; kib += 7000) {
    const std::string command =
        "ulimit -v " + std::to_string(kib) + "; exec " SENONE_BUILD_DIR "/bin/senone recognize --model " + tone_bundle() +
        " --device cpu --jobs 100 --loglikes ark:" + archive + " --hyp " + folder + "/hyp >/dev/null 2>&1";
    const int status = std::system(command.c_str());
    EXPECT_TRUE(WIFEXITED(status)) << kib << " KiB: signal " << WTERMSIG(status);
    EXPECT_LE(WEXITSTATUS(status), 1) << kib << " KiB";
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
      EXPECT_EQ(entry.path().string().find("partial"), std::string::npos) << entry.path();
    }
  }
}

TEST(RecognizeCommand, BundlesThatAreNone) {
  const std::string remedy = "; name a bundle, a directory made by `senone import`\n";
  const auto refusal = [](const std::string &model) {
    return run_program("senone", "recognize --device cpu --model " + model + " " + tone_recording("low")).output;
  };
  EXPECT_EQ(refusal("/nosuch"), "senone: /nosuch: does not exist" + remedy);
  EXPECT_EQ(refusal(tone_bundle() + "/graph.bin"), "senone: " + tone_bundle() + "/graph.bin: is a file" + remedy);
  EXPECT_EQ(refusal("/usr"),
            "senone: /usr: is no bundle, as it has no senone.json; name a directory made by `senone import`\n");
  EXPECT_EQ(run_program("senone", "import sphinx /usr /nosuch/out").output,
            "senone: /usr: has no file means, so it is no model of CMU Sphinx; name the directory with means and mdef\n");
}

TEST(RecognizeCommand, UnknownSubcommandsAreNamed) {
  for (const std::string words : {"frob", "lattice frob", "import frob --help"}) {
    const Outcome outcome = run_program("senone", words);
    EXPECT_EQ(outcome.exit_code, 2);
    EXPECT_EQ(outcome.output, "senone: unknown subcommand \"frob\"; `senone --help` lists them\n");
  }
  EXPECT_TRUE(has(run_program("senone", ""), "subcommand is required"));
}

TEST(RecognizeCommand, EmptyTextsAreRefused) {
  for (const char *const name : {"--vtln", "--hyp", "--list", "--utt2spk", "--device", "--fuse", "--boost", "--reject", ""}) {
    const Outcome outcome = recognize_command(tone_recording("high") + " " + name + " ''");
    EXPECT_EQ(outcome.exit_code, 2) << name;
    EXPECT_TRUE(has(outcome, ": the text is empty; give one, or leave this out\n")) << name << "\n" << outcome.output;
  }
}

// None of them is silently without effect.
TEST(RecognizeCommand, OptionsWithoutEffectAreRefused) {
  const std::string file = " " + tone_recording("high"), rows = " --loglikes ark:x", fuse = " --fuse x";
  for (const auto &[arguments, message] : std::vector<std::pair<std::string, std::string>>{
           {"--beam 0" + file, "--beam: "},
           {"--acoustic-scale 0" + file, "--acoustic-scale: "},
           {"--max-active 0" + file, "--max-active: "},
           {"--max-active 100 --min-active 101" + file, "recognize: --min-active 101 is above --max-active 100; "},
           {"--lattice-beam 0 --nbest 2" + file, "--lattice-beam: "},
           {"--lattice-beam 4" + file, "recognize: --lattice-beam is for --nbest, "},
           {"--lattice-beam 4 --srt" + file, "recognize: --lattice-beam is for --nbest, "},
           {"--lattice x.slf --endpoint command" + file,
            "recognize: --lattice FILE.slf takes one recording at a time, without "},
           {"--nbest 2 --ctm" + file, "recognize: --nbest prints alternatives as text or with --json; "},
           {"--nbest 2 --srt" + file, "recognize: --nbest prints alternatives as text or with --json; "},
           {"--nbest 2 --hyp -" + file, "recognize: --nbest prints alternatives as text or with --json; "},
           {"--boost-bonus 4" + file, "--boost-bonus requires --boost"},
           {"--vtln-factors 0" + file, "--vtln-factors: "},
           {"--fuse-rule sum" + file, "--fuse-rule requires --fuse"},
           {"--fuse-own 1" + file, "--fuse-own requires --fuse"},
           {"--fuse-ms 100" + fuse + file, "recognize: --fuse-ms is a time of --fuse-rule follow and select; "},
           {"--fuse-ms 100 --fuse-rule max" + fuse + file, "recognize: --fuse-ms is a time of --fuse-rule follow and select; "},
           {fuse + rows, "recognize: --fuse fuses what models make of recordings or --features; "},
           {"--cmn live" + rows, "recognize: --cmn chooses the mean of cepstra, "},
           {"--raw-rate 8000" + rows, "--loglikes excludes --raw-rate"},
           {"--endpoint command --vad on" + rows, "--loglikes excludes --vad"}}) {
    const Outcome outcome = recognize_command(arguments);
    EXPECT_EQ(outcome.exit_code, 2) << arguments << "\n" << outcome.output;
    EXPECT_TRUE(has(outcome, message)) << arguments << "\n" << outcome.output;
  }
  EXPECT_EQ(recognize_command("--lattice-beam 4 --json" + file).exit_code, 0) << "it has confidences";
  EXPECT_EQ(recognize_command("--max-active 100" + file).exit_code, 0) << "the default of --min-active is larger";
}

TEST(RecognizeCommand, ResultsReplaceNothingThatTheRunReads) {
  const std::string mid = tone_recording("mid"), list = text_file("kept.list", mid + " a\n");
  const std::string link = tone_bundle() + "/link.raw", index = tone_bundle() + "/senone.json";
  std::filesystem::remove(link);
  std::filesystem::create_symlink(mid, link);
  const auto bytes = [](const std::string &path) {
    std::ostringstream all;
    all << std::ifstream(path, std::ios::binary).rdbuf();
    return all.str();
  };
  for (const std::string &file : {mid, link, list, index}) {
    const std::string before = bytes(file);
    for (const char *const option : {"--hyp ", "--lattice ", "--adapt fmllr --save-transforms ", "--resume --hyp "}) {
      const Outcome outcome = recognize_command("--list " + list + " " + option + file);
      EXPECT_EQ(outcome.exit_code, 2) << option << outcome.output;
      EXPECT_TRUE(has(outcome, file + " would replace ")) << option << outcome.output;
    }
    EXPECT_EQ(bytes(file), before) << file;
  }
  std::filesystem::remove(link);
  const std::string warps = text_file("kept.warps", "a 1.0\n");
  EXPECT_EQ(recognize_command("--list " + list + " --warps " + warps + " --hyp " + warps).exit_code, 2);
}

// In every recording, and in every utterance that --endpoint finds; words in any case.
TEST(RecognizeCommand, PhrasesAreBoosted) {
  const std::string phrases = text_file("heard.phrases", "LOW high\n"), wav = spoken_wav("boosted.wav", "low mid");
  const std::string doubtful = "--acoustic-scale 0.02 --word-insertion-cost 2 ",
                    boost = "--boost " + phrases + " --boost-bonus 7 ";
  for (const char *const endpoint : {"", "--endpoint command "}) {
    const Outcome plain = recognize_command(doubtful + endpoint + wav + " " + wav);
    EXPECT_TRUE(has(plain, "low mid\n") && !has(plain, "low high\n")) << plain.output;
    const Outcome boosted = recognize_command(doubtful + boost + endpoint + wav + " " + wav);
    EXPECT_TRUE(has(boosted, "low high\n") && !has(boosted, "low mid\n")) << boosted.output;
  }
}

TEST(RecognizeCommand, OptionsWithoutEffectOnTheseFiles) {
  const std::string phrases = tone_bundle() + "/no.phrases";
  std::ofstream(phrases) << "\xef\xbb\xbf \n\n";
  const Outcome boost = recognize_command("--boost " + phrases + " " + tone_recording("high"));
  EXPECT_EQ(boost.exit_code, 1);
  EXPECT_EQ(boost.output, "senone: " + phrases + ": has no phrases; write a phrase a line, or leave out --boost\n");

  std::ofstream(phrases) << "low :10.0\nhigh\n";  // weights of their own, as of other engines
  const Outcome weights = recognize_command("--boost " + phrases + " " + tone_recording("high"));
  EXPECT_EQ(weights.exit_code, 0) << weights.output;
  EXPECT_TRUE(has(weights, "senone: warning: " + phrases + ": 1 of 2 phrases have words that the graph lacks (':10.0'), so"))
      << weights.output;
  std::ofstream(phrases) << "low :10.0\nHigh,\n";
  const Outcome unheard = recognize_command("--boost " + phrases + " " + tone_recording("high"));
  EXPECT_EQ(unheard.exit_code, 1) << unheard.output;
  EXPECT_TRUE(has(unheard, "senone: " + phrases + ": 2 of 2 phrases have words that the graph lacks (':10.0', 'High,')"))
      << unheard.output;

  const std::string wave = spoken_wav("rate.wav", "high"), warning = "senone: warning: --raw-rate has no effect: ";
  const Outcome rate = recognize_command("--raw-rate 8000 " + wave);
  EXPECT_EQ(rate.exit_code, 0);
  EXPECT_TRUE(has(rate, warning) && has(rate, "high\n")) << rate.output;
  EXPECT_FALSE(has(recognize_command("--raw-rate 8000 " + wave + " " + tone_recording("high")), warning));
  EXPECT_FALSE(has(recognize_command("--raw-rate 8000 - <" + wave), warning));

  const Outcome input = recognize_command("--reject - <" + tone_recording("high"));  // "-" is no threshold
  EXPECT_TRUE(has(input, "--reject is set, but ")) << input.output;
}

// The model has one Gaussian for each state.
TEST(RecognizeCommand, ScoringLessWithoutEffect) {
  const std::string warning = "senone: warning: " + tone_bundle() + ": ";
  for (const auto &[arguments, name] : {std::pair<std::string, std::string>("--n-best-gaussians 3", "--n-best-gaussians"),
                                        {"--selection 3", "--n-best-gaussians"},
                                        {"--cluster-share 0.25", "--cluster-share"},
                                        {"--selection 25%", "--cluster-share"}}) {
    const Outcome outcome = recognize_command(arguments + " " + tone_recording("high"));
    EXPECT_TRUE(has(outcome, warning + name + " has no effect, as ") && has(outcome, "high\n")) << outcome.output;
  }
  EXPECT_EQ(recognize_command("--n-best-gaussians 0 --cluster-share 1 " + tone_recording("high")).output.find("no effect"),
            std::string::npos);
  for (const char *wrong : {"--n-best-gaussians 65537", "--cluster-share 25", "--cluster-share -1", "--cluster-share x",
                            "--selection 3 --n-best-gaussians 3", "--selection 25% --cluster-share 0.25"}) {
    EXPECT_EQ(recognize_command(std::string(wrong) + " " + tone_recording("high")).exit_code, 2) << wrong;
  }
  for (const char *const selection : {"0", "0.5", "65537", "x", "0%", "100%", "1e-60%", "25%%"}) {
    const Outcome outcome = recognize_command(std::string("--selection ") + selection + " " + tone_recording("high"));
    EXPECT_EQ(outcome.exit_code, 2) << selection;
    EXPECT_TRUE(has(outcome, "it is a number of Gaussians from 1 to 65536, or a share of the states such as 25%"))
        << outcome.output;
  }
}

// The front end has 13 cepstra and 39 features.
TEST(RecognizeCommand, StatisticsAreForCepstraAlone) {
  std::vector<float> sums(14, 0.0f);
  sums.back() = 1;
  const std::string cmvn = " --cmvn " + archive("sums", {{"a", {sums}}});
  const auto rows_of = [](size_t n) {
    return "--features " +
           archive("rows" + std::to_string(n), {{"a", {std::vector<float>(n, 1.0f), std::vector<float>(n, 2.0f)}}});
  };
  EXPECT_EQ(recognize_command(rows_of(13) + cmvn).exit_code, 0);
  EXPECT_EQ(recognize_command(rows_of(39)).exit_code, 0);
  const Outcome features = recognize_command(rows_of(39) + cmvn);
  EXPECT_EQ(features.exit_code, 1);
  EXPECT_TRUE(
      has(features, "senone: a: rows have 39 values, the model's features, but --cmvn is for cepstra of 13; leave it out"))
      << features.output;
  const Outcome both = recognize_command(rows_of(13) + cmvn + " --cmn live");
  EXPECT_EQ(both.exit_code, 2);
  EXPECT_TRUE(has(both, "recognize: --cmn chooses the mean of cepstra, which --cmvn gives ")) << both.output;
}

TEST(RecognizeCommand, ArchivesWithoutUtterancesAreRefused) {
  const std::string empty = tone_bundle() + "/empty.ark";
  std::ofstream{empty};
  for (const char *option : {"--features ", "--loglikes "}) {
    const Outcome outcome = recognize_command(option + ("ark:" + empty));
    EXPECT_EQ(outcome.exit_code, 1);
    EXPECT_TRUE(has(outcome, "empty.ark: has no utterances")) << outcome.output;
  }
}

TEST(RecognizeCommand, ModelsOfOtherFeaturesRefuseAudio) {
  const std::string bundle = tone_bundle() + "/from_archives", index = bundle + "/senone.json";
  std::filesystem::create_directory(bundle);
  for (const auto &entry : std::filesystem::directory_iterator(tone_bundle())) {
    if (!entry.is_directory()) std::filesystem::copy(entry.path(), bundle + "/" + entry.path().filename().string());
  }
  std::ostringstream text;
  text << std::ifstream(index).rdbuf();
  const std::string key = "\"front_end\": {";
  std::string changed = text.str();
  ASSERT_NE(changed.find(key), std::string::npos);
  std::ofstream(index) << changed.insert(changed.find(key) + key.size(), "\"from_archives\": true,");
  const Outcome audio = run_program("senone", "recognize --device cpu --model " + bundle + " " + tone_recording("high"));
  EXPECT_EQ(audio.exit_code, 1);
  EXPECT_TRUE(has(audio, "takes features made elsewhere, but no audio; feed rows of 39 values")) << audio.output;
  const std::string rows = archive("elsewhere", {{"a", {std::vector<float>(39, 1.0f), std::vector<float>(39, 2.0f)}}});
  EXPECT_EQ(run_program("senone", "recognize --device cpu --model " + bundle + " --features " + rows).exit_code, 0);
}

// A mean that is subtracted and one that statistics give are the same.
TEST(RecognizeCommand, CepstraHaveTheMeanOfTheirUtterance) {
  std::vector<float> sums(14, 6.0f);
  sums.back() = 4;
  std::vector<std::vector<float>> rows;
  for (const float value : {1.0f, 2.0f, 1.0f, 2.0f}) rows.emplace_back(13, value);
  const std::string features = " --json --features " + archive("cepstra", {{"a", rows}});
  const auto result = [](const std::string &arguments) {
    const Outcome outcome = recognize_command(arguments);
    EXPECT_EQ(outcome.exit_code, 0) << arguments << outcome.output;
    const size_t begin = outcome.output.find("\"text\"");
    return begin == std::string::npos ? "" : outcome.output.substr(begin, outcome.output.find('\n', begin) - begin);
  };
  const std::string batch = result("--cmn batch" + features);
  EXPECT_NE(batch, "");
  EXPECT_EQ(batch, result("--cmvn " + archive("mean", {{"a", {sums}}}) + features));
  EXPECT_NE(batch, result("--cmn none" + features));
  EXPECT_NE(result("--cmn live" + features), "");
}

TEST(RecognizeCommand, BadUsage) {
  const std::string file = tone_recording("high");
  EXPECT_EQ(recognize_command("").exit_code, 2);
  EXPECT_EQ(recognize_command("--jobs 0 " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--json --ctm " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--confidence " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--confidence --srt " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--srt " + file + " " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--nbest 0 " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--vad off " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--vad off --endpoint command " + file).exit_code, 0);
  const Outcome reject = recognize_command("--reject -1 " + file);
  EXPECT_EQ(reject.exit_code, 2);
  EXPECT_TRUE(has(reject, "--reject off")) << reject.output;
  EXPECT_EQ(recognize_command("--reject off " + file).exit_code, 0);
  EXPECT_EQ(recognize_command("--features ark:x " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--cmvn ark:x " + file).exit_code, 2);
  EXPECT_EQ(recognize_command("--features ark:x --utt2spk x").exit_code, 2);
  const Outcome lattice = recognize_command("--lattice /no/such/directory/x " + file);
  EXPECT_EQ(lattice.exit_code, 1);
  EXPECT_TRUE(has(lattice, "/no/such/directory/x")) << lattice.output;
  const Outcome device = run_program("senone", "recognize --model " + tone_bundle() + " --device nonesuch " + file);
  EXPECT_EQ(device.exit_code, 1);
  EXPECT_TRUE(has(device, "nonesuch")) << device.output;
  const Outcome model = run_program("senone", "recognize --model /no/bundle " + file);
  EXPECT_EQ(model.exit_code, 1);
  EXPECT_TRUE(has(model, "/no/bundle")) << model.output;
}

}  // namespace
}  // namespace asr::test
