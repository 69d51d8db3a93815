// SPDX-License-Identifier: Apache-2.0
// Estimates how likely a sound is outside the grammar. It compares the best path through the grammar with the best one through
// the background, any phones in any order: over all of the speech, and word by word, each over its own frames. It also checks
// that the sound varies as speech does. docs/rejection.md has the figures. The engine calls it for results.
#pragma once

#include <functional>
#include <vector>

#include "core/backend/asr_backend.h"
#include "core/decode/path_words.h"
#include "core/decode/sound_track.h"

namespace asr {

using TransitionTest = std::function<bool(uint32_t transition_id)>;

struct HeardPath {
  double cost = 0;               // graph costs and scaled acoustic costs
  std::vector<bool> is_speech;   // [frames]: neither silence nor noise
  std::vector<bool> is_garbage;  // [frames]: any speech, between words; empty for a graph without garbage
  std::vector<float> costs;      // [frames]: graph costs, without words' insertion costs, and scaled acoustic costs
  size_t n_words = 0;

  void add(const asr_path_arc *arcs, uint64_t n, float acoustic_scale, const TransitionTest &is_silence,
           const TransitionTest &is_garbage_transition = {});
};

// Returns a path whose arcs follow those that `before` has, with its frames. word_cost per word is subtracted from its cost.
HeardPath heard_path(const asr_path &path, float acoustic_scale, float word_cost, const TransitionTest &is_silence,
                     HeardPath before = {}, const TransitionTest &is_garbage = {});

// Background holds the best path through any phones, and the sound.
struct Background {
  HeardPath path;
  Sound sound;  // sound of the utterance; empty for a stream without audio
};

// Comparison of an utterance's path through the grammar with the background. Garbage fits any sound, so its frames do not
// count.
class Comparison {
 public:
  // words: of the grammar's path, in their order.
  Comparison(const HeardPath &grammar, const Background &background, const std::vector<WordSpan> &words);

  // Returns 0..1, where 0 is inside the grammar: the whole speech, and the stretch that fits the grammar worst, which is a word
  // or speech between words.
  float out_of_grammar() const;

  // Returns the probability that the sound of frames begin..end-1 is a word that was heard there.
  float confidence(uint32_t begin, uint32_t end) const;

  // The same of a keyword, which is rare: the longer the sound that fits it, the surer it is. Where the compared path has
  // garbage, which a keyword of another path may have in its frames, nothing speaks for it.
  float keyword_confidence(uint32_t begin, uint32_t end) const;

 private:
  double excess(size_t begin, size_t end) const;
  double worst_between(const HeardPath &background, size_t begin, size_t end) const;

  std::vector<double> excess_before_;    // [frames + 1]: cost of the grammar's path less that of the background's
  std::vector<size_t> compared_before_;  // [frames + 1]: frames that count
  double mean_ = 0;                      // excess of a frame of speech
  double worst_ = 0;                     // excess of a frame in the stretch that fits worst
  double is_speech_ = 1;                 // probability that the sound varies as speech does
};

}  // namespace asr
