// SPDX-License-Identifier: Apache-2.0
// The programs of samples/ run and print what they should.
#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

TEST(Samples, HelloPrintsTheWords) {
  const Outcome outcome = run_program("hello", tone_bundle() + " " + tone_recording("low mid high"));
  EXPECT_EQ(outcome.output, "low mid high\n");
  EXPECT_EQ(outcome.exit_code, 0);
}

TEST(Samples, HelloSaysWhatIsWrong) {
  const Outcome no_bundle = run_program("hello", "/no/such/bundle " + tone_recording("low"));
  EXPECT_NE(no_bundle.output.find("/no/such/bundle"), std::string::npos) << no_bundle.output;
  EXPECT_NE(no_bundle.exit_code, 0);
  EXPECT_NE(run_program("hello", "").exit_code, 0);
}

TEST(Samples, CallbackPrintsPartialsAndTimes) {
  const Outcome outcome = run_program("callback", tone_bundle() + " " + tone_recording("high low high"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("   0.50 ... high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("  low\n"), std::string::npos) << outcome.output;
}

TEST(Samples, NbestLatticePrintsAlternativesConfidencesAndArcs) {
  const Outcome outcome = run_program("nbest_lattice", tone_bundle() + " " + tone_recording("low high"));
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_EQ(outcome.output.rfind(" 1 ", 0), 0u) << outcome.output;
  EXPECT_NE(outcome.output.find("  low high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("  1.000  high\n"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("  0 -> 1  low\n"), std::string::npos) << outcome.output;
}

}  // namespace
}  // namespace asr::test
