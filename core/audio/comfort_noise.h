// SPDX-License-Identifier: Apache-2.0
// Digital silence, as muted microphones, telephone networks and synthesised audio have it, is nothing that a model was trained
// on: the logarithm of no energy at all, which may be nearer to a phone than to silence. So a run of zeros goes on as noise
// below the least step of 16-bit samples. What sound in floats fades out to counts as zero, too.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asr {

class ComfortNoise {
 public:
  // Changes zeros that follow kShortestRun others, in this call and those before it. The noise depends on the place in the run
  // alone, not on how the audio is cut into calls.
  void add(float *samples, size_t n);

  static constexpr uint32_t kShortestRun = 64;     // 4 ms at 16 kHz: sound has no such run, and a window of features is longer
  static constexpr float kLeastSound = 1.0f / 64;  // of a step of 16-bit samples; less counts as zero

 private:
  uint32_t n_zeros_ = 0;
};

}  // namespace asr
