// SPDX-License-Identifier: Apache-2.0
// How likely a sound is outside the grammar: the best path through the grammar against the best one through the background, any
// phones in any order, and whether the sound varies as speech does. docs/rejection.md has the figures. Called by the engine for
// final results.
#pragma once

#include <functional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/decode/sound_track.h"

namespace asr {

struct HeardPath {
  double cost = 0;              // graph costs and scaled acoustic costs
  std::vector<bool> is_speech;  // [frames]: no silence or noise
};

// The path with its frames; its cost has `word_cost` for each word, which is left out here.
HeardPath heard_path(const asr_path &path, float word_cost, const std::function<bool(uint32_t transition_id)> &is_silence);

// The other side of the comparison.
struct Background {
  HeardPath path;
  Sound sound;  // of the utterance; empty where a stream is fed no audio
};

// 0..1: 0 is in the grammar. Compares costs for each frame in which one of the paths has speech, and the sound from the first
// of these to the last.
float out_of_grammar(const HeardPath &grammar, const Background &background);

}  // namespace asr
