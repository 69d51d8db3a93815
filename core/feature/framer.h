// SPDX-License-Identifier: Apache-2.0
// Framer cuts a signal that arrives in pieces into overlapping frames (F1 of docs/equations.md). The frames do not depend on
// the pieces. FeaturePipeline uses it. Consumed samples are dropped, so memory does not grow with the signal.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/feature/front_end.h"

namespace asr {

class Framer {
 public:
  explicit Framer(const FrontEnd &front_end);

  void push(const float *samples, size_t n);
  void finish();  // makes the frames that reach beyond the end of the signal ready

  uint64_t ready_frames() const;                 // frames whose samples are all known
  uint64_t next_frame() const { return next_; }  // number of the first ready frame
  // Frame next_frame() + i starts at samples()[i * shift_samples]; samples()[-1] is the preceding sample (0 before the signal).
  // Valid until the next push, finish or skip.
  const float *samples() const;
  void skip(uint64_t n_frames);  // n_frames <= ready_frames()

 private:
  uint64_t total_frames() const;
  void lead_in();
  float mirrored(int64_t position) const;

  FrameEdges edges_;
  uint32_t window_, shift_;
  int64_t offset_;             // position of frame 0's first sample in the signal
  std::vector<float> buffer_;  // buffer_[0] is signal position begin_
  int64_t begin_ = 0;
  uint64_t n_samples_ = 0, next_ = 0;
  bool led_in_ = false, finished_ = false;
};

}  // namespace asr
