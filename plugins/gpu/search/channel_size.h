// SPDX-License-Identifier: Apache-2.0
// ChannelSize has the capacities of a channel's buffers on a device.
#pragma once

#include <algorithm>
#include <cstdint>

namespace asr {

// Capacities of a channel's buffers; those for links and frames are 0 in channels without lattices.
struct ChannelSize {
  uint32_t max_tokens, max_records, max_settled, max_links, max_frames;
};

// Halves the capacities of a channel that is to begin with less memory. Returns false if they are small already.
inline bool halve(ChannelSize *size) {
  constexpr uint32_t kLeast = 1u << 10;
  bool is_smaller = false;
  for (uint32_t *capacity : {&size->max_tokens, &size->max_records, &size->max_links}) {
    if (*capacity <= kLeast) continue;
    *capacity = std::max(*capacity / 2, kLeast);
    is_smaller = true;
  }
  return is_smaller;
}

template <typename Job>
void set_size(const ChannelSize &size, Job *job) {
  job->max_tokens = size.max_tokens, job->max_records = size.max_records, job->max_settled = size.max_settled;
  job->lattice.max_links = size.max_links, job->lattice.max_frames = size.max_frames;
}

}  // namespace asr
