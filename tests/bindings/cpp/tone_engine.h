// SPDX-License-Identifier: Apache-2.0
// Loads the tone bundle by senone.hpp.
#pragma once

#include <senone.hpp>

#include "tests/api/tone_bundle.h"

namespace asr::test {

inline senone::Engine load() {
  senone::EngineConfig config;
  config.device = "cpu";
  config.n_threads = 2;
  return senone::Engine(tone_bundle(), config);
}

}  // namespace asr::test
