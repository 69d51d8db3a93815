// SPDX-License-Identifier: Apache-2.0
// Tests `senone recognize` on devices that fail in use (tests/api/plugins/faulty.cc).
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

// Sets the path before any search for plugins.
const int kPathIsSet = setenv("SENONE_PLUGIN_PATH", SENONE_BUILD_DIR "/tests/faulty", 1);

TEST(RecognizeLostDevice, NamesTheRecordings) {
  const std::string recording = tone_recording("low high");
  const std::string arguments =
      "recognize --model " + tone_bundle() + " " + recording + " --device " + devices_named("faulty", "advance 1: lost").at(0);
  const Outcome lost = run_program("senone", arguments);
  EXPECT_NE(lost.exit_code, 0) << lost.output;
  const Outcome saved = run_program("senone", arguments + " --fallback cpu");
  EXPECT_EQ(saved.exit_code, 0) << saved.output;
  EXPECT_NE(saved.output.find("low high"), std::string::npos) << saved.output;
  EXPECT_NE(saved.output.find(recording + ": the device was lost"), std::string::npos) << saved.output;
}

}  // namespace
}  // namespace asr::test
