// SPDX-License-Identifier: Apache-2.0
// Tests `senone bench stream` and `bench decode`: a row per number of streams with timed partial results, and archives
// of features on any number of streams and lanes. Bad usage is refused.
#include <cmath>
#include <fstream>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

Outcome bench_stream(const std::string &arguments) {
  return run_program("senone", "bench stream --device cpu --model " + tone_bundle() + " --repeats 1 " + arguments);
}

size_t count(const std::string &text, const std::string &what) {
  size_t n = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++n;
  return n;
}

TEST(BenchCommand, StreamsAreTimed) {
  const Outcome outcome = bench_stream(tone_recording("low mid high") + " --streams 1,3 --seconds 0.6 --partial-ms 50 --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(count(outcome.output, "\"times_real_time\":"), 2u) << outcome.output;
  EXPECT_EQ(count(outcome.output, "\"partial_ms_median\":"), 2u) << outcome.output;
  EXPECT_EQ(count(outcome.output, "null"), 0u) << outcome.output;
}

// Writes three utterances of 50, 81 and 7 rows as a binary archive of Kaldi.
std::string features_archive() {
  std::string path = tone_bundle() + "/features.ark";
  std::ofstream file(path, std::ios::binary);
  constexpr int32_t kDims = 39;
  for (const int32_t n_rows : {50, 81, 7}) {
    file << "of" << n_rows << " " << '\0' << "BFM " << '\4';
    file.write(reinterpret_cast<const char *>(&n_rows), 4);
    file << '\4';
    file.write(reinterpret_cast<const char *>(&kDims), 4);
    for (int32_t i = 0; i < n_rows * kDims; ++i) {
      const auto value = static_cast<float>(10 * std::sin(0.1 * i));
      file.write(reinterpret_cast<const char *>(&value), 4);
    }
  }
  return path;
}

// Returns the value after each `"key": `, up to a comma or the end of the line.
std::vector<std::string> values_of(const std::string &json, const std::string &key) {
  std::vector<std::string> values;
  const std::string what = '"' + key + "\": ";
  for (size_t at = json.find(what); at != std::string::npos; at = json.find(what, at + 1)) {
    const size_t begin = at + what.size();
    values.push_back(json.substr(begin, json.find_first_of(",\n", begin) - begin));
  }
  return values;
}

TEST(BenchCommand, FeaturesAreRecognisedByManyStreams) {
  const Outcome outcome = bench_stream("--features " + features_archive() + " --streams 1,2,9 --utterances 7 --json");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  // Seven utterances are the three recordings twice, and the first once more.
  const std::vector<std::string> audio = values_of(outcome.output, "audio_s");
  ASSERT_EQ(audio.size(), 3u) << outcome.output;
  for (const std::string &seconds : audio) EXPECT_NEAR(std::stod(seconds), 3.26, 1e-9);
  EXPECT_EQ(values_of(outcome.output, "failed"), std::vector<std::string>(3, "0")) << outcome.output;
}

TEST(BenchCommand, LanesAndScoringDoNotChangeWhatIsFound) {
  const auto decode = [](const std::string &arguments) {
    return run_program("senone",
                       "bench decode --device cpu --repeats 1 --json --window 16 --beam 60 --lattice-beam 3 --model " +
                           tone_bundle() + " --features " + features_archive() + " " + arguments);
  };
  const Outcome one = decode("");
  EXPECT_EQ(one.exit_code, 0) << one.output;
  EXPECT_EQ(values_of(one.output, "cost_per_frame").size(), 3u) << one.output;
  for (const char *arguments :
       {"--lanes 2 --utterances 3", "--score", "--lanes 2 --utterances 3 --score", "--lanes 4 --score"}) {
    const Outcome other = decode(arguments);
    for (const char *key : {"tokens_per_frame", "arcs_per_frame", "lattice_arcs_per_frame"}) {
      EXPECT_EQ(values_of(other.output, key), values_of(one.output, key)) << arguments << "\n" << other.output;
    }
    const std::vector<std::string> costs = values_of(other.output, "cost_per_frame");
    ASSERT_EQ(costs.size(), 3u) << arguments << "\n" << other.output;
    for (const std::string &cost : costs) {
      EXPECT_NEAR(std::stod(cost), std::stod(values_of(one.output, "cost_per_frame")[0]), 1e-6) << arguments;
    }
  }
}

TEST(BenchCommand, BadUse) {
  EXPECT_EQ(bench_stream("").exit_code, 2);
  EXPECT_EQ(bench_stream("a.wav --features b.ark").exit_code, 2);
  const Outcome missing = bench_stream("/no/such/file.wav");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(count(missing.output, "/no/such/file.wav"), 1u) << missing.output;
  const Outcome little = bench_stream(tone_recording("low"));
  EXPECT_EQ(little.exit_code, 1);
  EXPECT_EQ(count(little.output, "0.70 s of audio together"), 1u) << little.output;
}

}  // namespace
}  // namespace asr::test
