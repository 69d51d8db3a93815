// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/tone_engine.h"

#include "tests/api/tone_bundle.h"
#include "tests/fuzz/target.h"

namespace asr::fuzz {

asr_engine *load_tone_engine() {
  asr_engine_config config;
  asr_engine_config_default(&config);
  config.device = "cpu";
  config.n_threads = 1;
  asr_engine *engine = nullptr;
  if (asr_engine_load(test::tone_bundle().c_str(), &config, &engine) != ASR_OK) finding("%s", asr_last_error());
  return engine;
}

}  // namespace asr::fuzz
