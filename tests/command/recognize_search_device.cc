// SPDX-License-Identifier: Apache-2.0
// Tests `senone recognize --search-device`, with the plugin of tests/api/plugins/faulty.cc as the device that scores.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

TEST(RecognizeSearchDevice, ScoresOnOneAndSearchesOnAnother) {
  const std::string recording = tone_recording("low high mid");
  const std::string arguments = "recognize --model " + tone_bundle() + " " + recording;
  const Outcome outcome = run_program("senone", arguments + " --device faulty:0 --search-device cpu");
  EXPECT_EQ(outcome.exit_code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("low high mid"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("on faulty:0 (none 0: fails), searched on cpu:0 ("), std::string::npos) << outcome.output;
  const Outcome refused = run_program("senone", arguments + " --device cpu --search-device abacus");
  EXPECT_EQ(refused.exit_code, 1) << refused.output;
  EXPECT_NE(refused.output.find("search device \"abacus\""), std::string::npos) << refused.output;
}

}  // namespace
}  // namespace asr::test
