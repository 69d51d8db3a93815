// SPDX-License-Identifier: Apache-2.0
// ComfortNoise replaces long runs of zeros by noise below the least step of 16-bit samples. Muted microphones, telephone
// networks and synthesised audio contain such digital silence, but the models were not trained on it. The logarithm of zero
// energy may be nearer to a phone than to silence. Tails of faded float audio below kMinSound also count as zeros.
#pragma once

#include <cstddef>
#include <cstdint>

namespace asr {

class ComfortNoise {
 public:
  // Changes zeros that follow kMinRun others, in this call and earlier ones. The noise depends on the offset in the run
  // alone, not on how the audio is cut into calls.
  void add(float *samples, size_t n);

  static constexpr uint32_t kMinRun = 64;  // 4 ms at 16 kHz: longer than runs in real sound, shorter than a feature window
  static constexpr float kMinSound = 1.0f / 64;  // fraction of a step of 16-bit samples; smaller values count as zero

 private:
  uint32_t n_zeros_ = 0;
};

}  // namespace asr
