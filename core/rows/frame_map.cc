// SPDX-License-Identifier: Apache-2.0
#include "core/rows/frame_map.h"

#include <algorithm>

namespace asr {

void FrameMap::skip_before(uint64_t row, uint64_t n_skipped) {
  const std::lock_guard lock(mutex_);
  if (!gaps_.empty() && gaps_.back().row == row) {
    gaps_.back().n_skipped = n_skipped;
  } else {
    gaps_.push_back({row, n_skipped});
  }
}

uint64_t FrameMap::frame_of(uint64_t row) const {
  const std::lock_guard lock(mutex_);
  const auto after = std::upper_bound(gaps_.begin(), gaps_.end(), row, [](uint64_t r, const Gap &gap) { return r < gap.row; });
  return row + (after == gaps_.begin() ? 0 : (after - 1)->n_skipped);
}

uint64_t FrameMap::row_of(uint64_t frame) const {
  const std::lock_guard lock(mutex_);
  const auto after = std::upper_bound(gaps_.begin(), gaps_.end(), frame,
                                      [](uint64_t f, const Gap &gap) { return f < gap.row + gap.n_skipped; });
  const uint64_t n_skipped = after == gaps_.begin() ? 0 : (after - 1)->n_skipped;
  return after == gaps_.end() ? frame - n_skipped : std::min(frame - n_skipped, after->row);
}

}  // namespace asr
