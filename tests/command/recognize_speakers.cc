// SPDX-License-Identifier: Apache-2.0
// Tests `senone recognize` with speakers: transforms and warps are estimated, written, read, and refused if unusable.
#include <filesystem>
#include <fstream>
#include <sstream>

#include "core/base/error.h"
#include "core/base/file.h"
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

Outcome recognize_command(const std::string &arguments) {
  return run_program("senone", "recognize --device cpu --model " + tone_bundle() + " " + arguments);
}

bool has(const Outcome &outcome, const std::string &text) { return outcome.output.find(text) != std::string::npos; }

std::string first_line(const std::string &text) { return text.substr(0, text.find('\n')); }

std::string write(const std::string &name, const std::string &text) {
  std::string path = tone_bundle() + "/" + name;
  std::ofstream(path) << text;
  return path;
}

// Returns three recordings, two by "ann" and one by "ben".
std::string recordings() {
  return tone_recording("low mid high low mid") + " " + tone_recording("high high mid low") + " " +
         tone_recording("mid low low high");
}

std::string utt2spk() { return write("utt2spk", "low_mid_high_low_mid ann\nhigh_high_mid_low ann\nmid_low_low_high ben\n"); }

TEST(RecognizeSpeakers, WarpsAreFoundWrittenAndRead) {
  const std::string found = tone_bundle() + "/warps", again = tone_bundle() + "/again";
  const std::string common = recordings() + " --utt2spk " + utt2spk();
  const Outcome search = recognize_command(common + " --vtln search --jobs 1 --save-warps " + found);
  EXPECT_EQ(search.exit_code, 0) << search.output;
  EXPECT_TRUE(has(search, "adapted to 2 of 2 speakers")) << search.output;
  EXPECT_TRUE(has(search, "2 warps are in " + found)) << search.output;
  std::istringstream lines(read_file(found));
  for (const char *const expected : {"ann", "ben"}) {
    std::string speaker;
    double warp = 0;
    lines >> speaker >> warp;
    EXPECT_EQ(speaker, expected);
    EXPECT_NEAR(warp, 1, 0.2);
  }
  const Outcome jobs = recognize_command(common + " --vtln search --jobs 3 --save-warps " + again);
  EXPECT_EQ(read_file(again), read_file(found));
  const std::string words = search.output.substr(search.output.find("low_mid_high_low_mid\t"), 80);
  EXPECT_TRUE(has(jobs, words)) << jobs.output;
  const Outcome given = recognize_command(common + " --jobs 2 --warps " + found + " --save-warps " + again);
  EXPECT_TRUE(has(given, words)) << given.output;
  EXPECT_EQ(read_file(again), read_file(found));
  // Speakers without an utterance keep their warp.
  write("more", "\xef\xbb\xbfzoe 0.90\n\n" + read_file(found));
  const Outcome more = recognize_command(common + " --warps " + tone_bundle() + "/more --save-warps " + again);
  EXPECT_EQ(more.exit_code, 0) << more.output;
  EXPECT_EQ(read_file(again), read_file(found) + "zoe 0.90\n");
}

TEST(RecognizeSpeakers, WarpAndTransformTogether) {
  const std::string transforms = tone_bundle() + "/transforms", warps = tone_bundle() + "/both";
  const Outcome both =
      recognize_command(recordings() + " --utt2spk " + utt2spk() + " --vtln search --vtln-factors 11 --adapt fmllr" +
                        " --save-transforms ark:" + transforms + " --save-warps " + warps);
  EXPECT_EQ(both.exit_code, 0) << both.output;
  EXPECT_TRUE(has(both, "2 transforms are in ")) << both.output;
  const Outcome given =
      recognize_command(recordings() + " --utt2spk " + utt2spk() + " --transforms ark:" + transforms + " --warps " + warps);
  EXPECT_EQ(given.exit_code, 0) << given.output;
  EXPECT_TRUE(has(given, "low_mid_high_low_mid\tlow mid high low mid\n")) << given.output;
}

// Means are saved and read like the transforms of rows, and belong to these.
TEST(RecognizeSpeakers, MeansAreEstimatedWrittenAndRead) {
  const std::string means = tone_bundle() + "/means", rows = tone_bundle() + "/rows", again = tone_bundle() + "/means_again";
  const std::string common = recordings() + " --utt2spk " + utt2spk() + " --json";
  const Outcome adapted = recognize_command(common + " --adapt mllr --jobs 1 --save-mean-transforms " + means);
  EXPECT_EQ(adapted.exit_code, 0) << adapted.output;
  EXPECT_TRUE(has(adapted, "adapted to 2 of 2 speakers")) << adapted.output;
  EXPECT_TRUE(has(adapted, "2 transforms of means are in " + means)) << adapted.output;
  const std::string result = first_line(adapted.output.substr(adapted.output.find('{')));
  EXPECT_NE(result, first_line(recognize_command(common).output));
  const Outcome given =
      recognize_command(common + " --jobs 3 --mean-transforms ark:" + means + " --save-mean-transforms " + again);
  EXPECT_EQ(first_line(given.output), result);
  EXPECT_EQ(read_file(again), read_file(means));
  const Outcome both =
      recognize_command(common + " --adapt fmllr+mllr --jobs 2 --save-transforms " + rows + " --save-mean-transforms " + means);
  EXPECT_EQ(both.exit_code, 0) << both.output;
  EXPECT_NE(read_file(again), read_file(means));
  const Outcome given_both = recognize_command(common + " --transforms ark:" + rows + " --mean-transforms ark:" + means);
  EXPECT_EQ(first_line(given_both.output), first_line(both.output.substr(both.output.find('{'))));
  const std::string bad = write("bad_means", "ann  [ 1 2\n 3 4 ]\n");
  const Outcome refused = recognize_command(common + " --mean-transforms ark:" + bad);
  EXPECT_NE(refused.exit_code, 0);
  EXPECT_TRUE(has(refused, "ark:" + bad + ": 'ann' is no transform for the model: ")) << refused.output;
}

// A factor of --vtln is the warp of all utterances, and of all speakers with --adapt.
TEST(RecognizeSpeakers, OneWarpForAll) {
  const Outcome plain = recognize_command(tone_recording("low mid") + " --json");
  const Outcome warped = recognize_command(tone_recording("low mid") + " --json --vtln 0.9");
  EXPECT_EQ(warped.exit_code, 0) << warped.output;
  EXPECT_NE(warped.output.substr(0, 150), plain.output.substr(0, 150));
  const Outcome adapted = recognize_command(recordings() + " --utt2spk " + utt2spk() + " --vtln 0.98 --adapt fmllr");
  EXPECT_TRUE(has(adapted, "adapted to 2 of 2 speakers")) << adapted.output;
}

TEST(RecognizeSpeakers, BadUsageAndBadFiles) {
  const std::string recording = tone_recording("low mid");
  for (const char *const wrong :
       {"--vtln 0.7", "--vtln 1.3", "--vtln nan", "--vtln 1x", "--vtln sea", "--vtln search --vtln-factors 12",
        "--vtln-factors 21", "--vtln 0.9 --vtln-factors 11", "--save-warps x", "--save-transforms x", "--utt2spk x",
        "--save-mean-transforms x", "--adapt mllr --save-transforms x", "--adapt fmllr --save-mean-transforms x",
        "--adapt mllr --fuse x", "--adapt fmllr --save-transforms scp:x", "--adapt fmllr --save-transforms ark,t:x",
        "--adapt fmllr --save-transforms ark:", "--vtln search --hyp x --save-warps x"}) {
    const Outcome outcome = recognize_command(recording + " " + wrong);
    EXPECT_EQ(outcome.exit_code, 2) << wrong << "\n" << outcome.output;
  }
  EXPECT_EQ(recognize_command("- --vtln search").exit_code, 2);
  EXPECT_EQ(recognize_command("--features ark:x --vtln 0.9").exit_code, 2);
  EXPECT_EQ(recognize_command("--loglikes ark:x --warps x").exit_code, 2);
  const std::string bad = write("bad_warps", "low_mid 1.0\nlow_mid 1.0 2\n");
  const Outcome line = recognize_command(recording + " --warps " + bad);
  EXPECT_NE(line.exit_code, 0);
  EXPECT_TRUE(has(line, bad + ":2: is not a speaker and a warp of 0.8 to 1.25")) << line.output;
  const std::string twice = write("two_warps", "low_mid 1.0\nlow_mid 1.1\n");
  EXPECT_TRUE(has(recognize_command(recording + " --warps " + twice), twice + ":2: 'low_mid' is there twice; "));
  const std::string far = write("far_warps", "low_mid 3\n");
  const Outcome range = recognize_command(recording + " --warps " + far);
  EXPECT_NE(range.exit_code, 0);
  EXPECT_TRUE(has(range, far + ": 'low_mid': ")) << range.output;
}

TEST(RecognizeSpeakers, NamesThatAFileCannotHave) {
  const std::string warps = tone_bundle() + "/unsaved", search = " --vtln search --save-warps " + warps;
  const std::string spaced = tone_bundle() + "/low mid.wav", namesake = tone_bundle() + "/other";
  std::filesystem::create_directory(namesake);
  std::filesystem::copy_file(tone_recording("low mid"), spaced);
  std::filesystem::copy_file(tone_recording("high mid"), namesake + "/low_mid.wav");
  const Outcome blank = recognize_command("'" + spaced + "'" + search);
  EXPECT_NE(blank.exit_code, 0);
  EXPECT_TRUE(has(blank, "\"low mid\" cannot name a speaker in a saved file")) << blank.output;
  const Outcome two = recognize_command(tone_recording("low mid") + " " + namesake + "/low_mid.wav" + search);
  EXPECT_NE(two.exit_code, 0);
  EXPECT_TRUE(has(two, "two recordings have this name")) << two.output;
  const std::string list = write("ids", tone_recording("low mid") + " one\n" + namesake + "/low_mid.wav two\n");
  const Outcome ids = recognize_command("--list " + list + search);
  EXPECT_TRUE(has(ids, "2 warps are in " + warps)) << ids.output;
}

TEST(RecognizeSpeakers, AFileOfOtherSpeakersIsNamed) {
  const std::string warps = write("strangers", "zoe 0.9\n");
  const Outcome unused = recognize_command(tone_recording("low mid") + " --warps " + warps);
  EXPECT_EQ(unused.exit_code, 0);
  EXPECT_TRUE(has(unused, "warning: " + warps + ": names none of the speakers")) << unused.output;
  EXPECT_FALSE(has(recognize_command(tone_recording("low mid") + " --warps " + write("known", "low_mid 0.9\n")), "warning"));
}

// No recording is recognised, whether their names are known from the start, are "-", or are read from an archive.
// Utterances that an interrupted run has finished need no speaker.
TEST(RecognizeSpeakers, FinishedUtterancesNeedNoSpeaker) {
  const std::string hyp = write("finished.hyp", "mid low low high (mid_low_low_high)\n");
  const std::string some = write("finished.utt2spk", "low_mid_high_low_mid ann\nhigh_high_mid_low ann\n");
  const std::string command = recordings() + " --vtln search --utt2spk " + some + " --hyp " + hyp;
  const Outcome resumed = recognize_command(command + " --resume");
  EXPECT_FALSE(has(resumed, "names no speaker of \"mid_low_low_high\"; add a line")) << resumed.output;
  const Outcome anew = recognize_command(command);
  EXPECT_TRUE(has(anew, "names no speaker of \"mid_low_low_high\"; add a line")) << anew.output;
}

TEST(RecognizeSpeakers, UtterancesWithoutASpeakerAreCountedBeforehand) {
  const std::string some = write("some", "high_high_mid_low ann\n"), hyp = tone_bundle() + "/unmade.hyp";
  for (const char *const method : {"--adapt fmllr", "--vtln search --hyp "}) {
    const std::string output = std::string(method).back() == ' ' ? hyp : "";
    const Outcome two = recognize_command(recordings() + " --utt2spk " + some + " " + method + output);
    EXPECT_EQ(two.exit_code, 1);
    EXPECT_EQ(two.output, "senone: " + some + ": names no speaker of 2 of the 3 utterances; add a line for each, such as " +
                              "\"low_mid_high_low_mid SPEAKER\"\n");
  }
  EXPECT_FALSE(std::filesystem::exists(hyp));
  const std::string warps = write("warps_of_ann", "ann 0.9\n"), input = "- --warps " + warps + " --utt2spk ";
  const Outcome one = recognize_command(input + some + " <" + tone_recording("low"));
  EXPECT_EQ(one.output, "senone: " + some + ": names no speaker of \"-\"; add a line \"- SPEAKER\"\n");
  const std::string of_input = write("of_input", "- ann\n");
  EXPECT_TRUE(has(recognize_command(input + of_input + " <" + tone_recording("low")), "low\n"));

  const std::string rows = " [ 1 2 3\n 1 2 3 ]\n", archive = write("rows", "a" + rows + "b" + rows + "c" + rows);
  const std::string features = "--adapt fmllr --features ark:" + archive + " --utt2spk ";
  const Outcome last = recognize_command(features + write("of_a_and_b", "a ann\nb ann\n"));
  EXPECT_EQ(last.exit_code, 1);
  EXPECT_TRUE(has(last, "names no speaker of \"c\"; add a line \"c SPEAKER\"\n")) << last.output;
  EXPECT_FALSE(has(last, "adapted")) << last.output;
  // The damage is reported after the utterances before it.
  const std::string cut = write("cut_rows", "a" + rows + "b [ 1 2 3\n");
  const Outcome damaged = recognize_command("--adapt fmllr --features ark:" + cut + " --utt2spk " + write("of_a", "a ann\n"));
  EXPECT_EQ(damaged.exit_code, 1);
  EXPECT_TRUE(has(damaged, "2 utterances, ") && has(damaged, "cut_rows:")) << damaged.output;
}

// More speakers than keep their handles: each comes back with its own transforms.
TEST(RecognizeSpeakers, ManySpeakersInTurn) {
  std::string list, speakers;
  for (int turn = 0; turn < 2; ++turn) {
    for (int i = 0; i < 24; ++i) {
      const std::string id = format("%d-%d", turn, i);
      list += tone_recording(i % 2 == 0 ? "low mid high low mid" : "high high mid low") + " " + id + "\n";
      speakers += id + format(" speaker%d\n", i);
    }
  }
  const std::string common = "--list " + write("many", list) + " --utt2spk " + write("of_many", speakers) + " --json --adapt ";
  for (const char *const method : {"mllr", "fmllr"}) {
    const Outcome one = recognize_command(common + method + " --jobs 1"),
                  several = recognize_command(common + method + " --jobs 7");
    EXPECT_EQ(one.exit_code, 0) << one.output;
    EXPECT_TRUE(has(one, "adapted to 24 of 24 speakers")) << one.output;
    const auto lines_of = [](const Outcome &outcome) {
      std::string lines;
      std::istringstream all(outcome.output);
      for (std::string line; std::getline(all, line);)
        lines += line[0] == '{' ? line.substr(line.find("\"words\"")) + '\n' : "";
      return lines;
    };
    const std::string lines = lines_of(one);
    EXPECT_EQ(lines_of(several), lines);
    EXPECT_EQ(lines.substr(0, lines.size() / 2), lines.substr(lines.size() / 2));
  }
}

}  // namespace
}  // namespace asr::test
