// SPDX-License-Identifier: Apache-2.0
// The model of the tone bundle with its HMMs, for compiling grammars.
#pragma once

#include <string>

namespace asr::test {

// Returns a directory of this process inside the tone bundle's, removed together with it. The model's phones LOW, MID and HIGH
// are the tones.
const std::string &tone_model();

// "low", "mid", "high", "deep" (as low) and "chirp" (LOW HIGH).
extern const char kToneLexicon[];

}  // namespace asr::test
