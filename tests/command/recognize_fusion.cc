// SPDX-License-Identifier: Apache-2.0
// Tests `senone recognize --fuse`: models are fused, and unsuitable ones are refused.
#include <filesystem>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

Outcome recognize_command(const std::string &arguments) {
  return run_program("senone", "recognize --device cpu --quiet --model " + tone_bundle() + " " + arguments + " " +
                                   tone_recording("low mid high"));
}

bool has(const Outcome &outcome, const std::string &text) { return outcome.output.find(text) != std::string::npos; }

std::string wide() { return tone_model_bundle(ToneModel::kWide); }
std::string other() { return tone_model_bundle(ToneModel::kOtherFeatures); }

TEST(RecognizeFusion, EveryRuleHearsTheWords) {
  for (const char *const rule : {"sum", "log-sum", "max", "follow --fuse-ms 50", "select --fuse-ms 50"}) {
    const Outcome fused = recognize_command("--fuse " + wide() + " --fuse " + other() + ":0.5 --fuse-rule " + rule);
    EXPECT_EQ(fused.exit_code, 0) << fused.output;
    EXPECT_EQ(fused.output.substr(0, 13), "low mid high\n") << rule;
  }
}

TEST(RecognizeFusion, WeightsLeaveModelsOut) {
  const Outcome deaf = recognize_command("--fuse-own 0 --fuse " + tone_model_bundle(ToneModel::kDeaf));
  EXPECT_EQ(deaf.exit_code, 0) << deaf.output;
  EXPECT_FALSE(has(deaf, "low mid high")) << deaf.output;
  const Outcome own = recognize_command("--fuse " + tone_model_bundle(ToneModel::kDeaf) + ":0");
  EXPECT_TRUE(has(own, "low mid high")) << own.output;
}

// x:2 is a bundle's name, or the bundle x and its weight. The deaf model shows which of them is heard.
TEST(RecognizeFusion, DirectoriesWithAColonAreBundles) {
  namespace fs = std::filesystem;
  const std::string x = tone_bundle() + "/x", deaf = tone_model_bundle(ToneModel::kDeaf);
  const auto hears = [](const std::string &arguments) { return has(recognize_command(arguments), "low mid high\n"); };
  fs::create_directory_symlink(wide(), x + ":2");
  EXPECT_TRUE(hears("--fuse-own 0 --fuse " + x + ":2"));
  EXPECT_TRUE(hears("--fuse-own 0 --fuse " + x + ":2:1"));
  EXPECT_TRUE(hears("--fuse " + x + ":2:0 --fuse " + wide()));
  const Outcome missing = recognize_command("--fuse " + x + ":3");
  EXPECT_TRUE(has(missing, "senone: " + x + ": does not exist")) << missing.output;
  fs::create_directory_symlink(deaf, x);
  const Outcome either = recognize_command("--fuse " + x + ":2");
  EXPECT_EQ(either.exit_code, 2);
  EXPECT_EQ(either.output, "senone: recognize: --fuse " + x + ":2: is a directory, and so is " + x + "; give " + x +
                               ":2:1, or " + x + "/:2\n");
  EXPECT_TRUE(hears("--fuse-own 0 --fuse " + x + ":2:1"));
  EXPECT_FALSE(hears("--fuse-own 0 --fuse " + x + "/:2"));
  fs::remove(x + ":2");
  EXPECT_FALSE(hears("--fuse-own 0 --fuse " + x + ":2"));
  fs::remove(x);
}

TEST(RecognizeFusion, MisuseIsRefused) {
  for (const std::string &arguments :
       {"--fuse-rule mean --fuse " + wide(), "--fuse-ms 5 --fuse " + wide(), "--fuse " + wide() + ":-1",
        "--fuse " + wide() + " --vtln search", "--fuse-own -1 --fuse " + wide(), "--fuse-own 1e-9 --fuse " + wide(),
        "--fuse-own 0 --fuse " + wide() + ":0", std::string("--fuse-own 2"), std::string("--fuse-rule max"),
        std::string("--fuse-ms 100"), std::string("--fuse :2")}) {
    const Outcome refused = recognize_command(arguments);
    EXPECT_EQ(refused.exit_code, 2) << arguments << refused.output;
  }
  const Outcome fewer = recognize_command("--fuse " + tone_model_bundle(ToneModel::kFewerStates));
  EXPECT_EQ(fewer.exit_code, 1);
  EXPECT_TRUE(has(fewer, "the model has 3 states")) << fewer.output;
}

}  // namespace
}  // namespace asr::test
