// SPDX-License-Identifier: Apache-2.0
// FrameMap says which frame of the input a row of the search is, in a stream that skips frames (TokenRows). The engine's thread
// adds to it while the threads that make results read it.
#pragma once

#include <cstdint>
#include <mutex>
#include <vector>

namespace asr {

class FrameMap {
 public:
  // Rows from `row` on come after n_skipped frames that are no rows; both count from the beginning of the stream and grow.
  void skip_before(uint64_t row, uint64_t n_skipped);

  uint64_t frame_of(uint64_t row) const;
  uint64_t row_of(uint64_t frame) const;  // of a frame that was skipped: the next row

 private:
  struct Gap {
    uint64_t row, n_skipped;
  };
  mutable std::mutex mutex_;
  std::vector<Gap> gaps_;
};

}  // namespace asr
