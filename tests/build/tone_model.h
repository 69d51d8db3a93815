// SPDX-License-Identifier: Apache-2.0
// The model of the tone bundle with its HMMs: what grammars are compiled for.
#pragma once

#include <string>

namespace asr::test {

// A directory of this process, inside the tone bundle's, which goes with it. Its phones LOW, MID and HIGH are the tones.
const std::string &tone_model();

// "low", "mid", "high", "deep" (as low) and "chirp" (LOW HIGH).
extern const char kToneLexicon[];

}  // namespace asr::test
