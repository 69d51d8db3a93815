// SPDX-License-Identifier: Apache-2.0
// Tests options of an engine that change its model on the device: asr_engine_config.model_bits, n_best_gaussians and
// cluster_share.
#include <cmath>
#include <string>

#include "tests/api/recognizer.h"
#include "tests/api/tone_bundle.h"

namespace asr::test {
namespace {

struct ModelOptions {
  uint32_t model_bits, n_best_gaussians;
  float cluster_share = 0;
};

asr_status load(const ModelOptions &options, EnginePointer *engine) {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = "cpu";
  config.model_bits = options.model_bits;
  config.n_best_gaussians = options.n_best_gaussians;
  config.cluster_share = options.cluster_share;
  asr_engine *loaded = nullptr;
  const asr_status status = asr_engine_load(tone_bundle().c_str(), &config, &loaded);
  engine->reset(loaded);
  return status;
}

TEST(ModelOptions, LeaveTheWords) {
  for (const ModelOptions &options : {ModelOptions{0, 0}, {16, 0}, {32, 0}, {0, 1}, {16, 65536}, {0, 0, 1}, {16, 0, 0.5f}}) {
    EnginePointer engine(nullptr, asr_engine_close);
    ASSERT_OK(load(options, &engine));
    EXPECT_EQ(final_text(recognize(engine.get(), default_stream(), speak("low high mid low"), 1000)), "low high mid low")
        << options.model_bits << " bits, " << options.n_best_gaussians << " Gaussians, a share of " << options.cluster_share;
  }
}

TEST(ModelOptions, OtherValuesAreRefused) {
  EnginePointer engine(nullptr, asr_engine_close);
  EXPECT_EQ(load({17, 0}, &engine), ASR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(asr_last_error()).find("model_bits is 17; it may be 16 or 32"), std::string::npos) << asr_last_error();
  EXPECT_EQ(load({0, 65537}, &engine), ASR_INVALID_ARGUMENT);
  EXPECT_NE(std::string(asr_last_error()).find("n_best_gaussians"), std::string::npos) << asr_last_error();
  for (const float share : {-0.1f, 1.1f, NAN}) {
    EXPECT_EQ(load({0, 0, share}, &engine), ASR_INVALID_ARGUMENT) << share;
    EXPECT_NE(std::string(asr_last_error()).find("cluster_share"), std::string::npos) << asr_last_error();
  }
}

}  // namespace
}  // namespace asr::test
