// SPDX-License-Identifier: Apache-2.0
// `senone bench stream`: a row for each number of streams, with partial results timed, and bad use refused.
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

TEST(BenchCommand, BadUse) {
  EXPECT_EQ(bench_stream("").exit_code, 2);
  const Outcome missing = bench_stream("/no/such/file.wav");
  EXPECT_EQ(missing.exit_code, 1);
  EXPECT_EQ(count(missing.output, "/no/such/file.wav"), 1u) << missing.output;
}

}  // namespace
}  // namespace asr::test
