// SPDX-License-Identifier: Apache-2.0
// Estimates how likely a sound is outside the grammar. It compares the best path through the grammar with the best one through
// the background, any phones in any order. It also checks that the sound varies as speech does. docs/rejection.md has the
// figures. The engine calls it for final results.
#pragma once

#include <functional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/decode/sound_track.h"

namespace asr {

struct HeardPath {
  double cost = 0;              // graph costs and scaled acoustic costs
  std::vector<bool> is_speech;  // [frames]: neither silence nor noise
  size_t n_words = 0;

  void add(const asr_path_arc *arcs, uint64_t n, const std::function<bool(uint32_t transition_id)> &is_silence);
};

// Returns a path whose arcs follow those that `before` has, with its frames. word_cost per word is subtracted from its cost.
HeardPath heard_path(const asr_path &path, float word_cost, const std::function<bool(uint32_t transition_id)> &is_silence,
                     HeardPath before = {});

// Background holds the best path through any phones, and the sound.
struct Background {
  HeardPath path;
  Sound sound;  // sound of the utterance; empty for a stream without audio
};

// Returns 0..1, where 0 is inside the grammar. Compares costs over the frames where either path has speech, and the sound from
// the first of these frames to the last.
float out_of_grammar(const HeardPath &grammar, const Background &background);

}  // namespace asr
