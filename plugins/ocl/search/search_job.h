// SPDX-License-Identifier: Apache-2.0
// A channel's job as the host reads it (plugins/gpu/search/search_channel.h): where its buffers are, and its results.
#pragma once

#include <cstdint>

#include "plugins/gpu/search/search_lattice.h"
#include "plugins/ocl/search/search_types.h"

namespace asr::gpu {

// ChannelOffsets has the offsets in the pool, in bytes, of the parts of a job's channel.
struct ChannelOffsets : LatticeBuffers {
  uint64_t tokens[2], records, settled;
};
ChannelOffsets channel_offsets(const SearchJob &job);

inline LatticeBuffers lattice_buffers(const SearchJob &job) { return channel_offsets(job); }
inline uint64_t tokens_address(const SearchJob &job, uint32_t which) { return channel_offsets(job).tokens[which]; }
inline void clear_results(SearchJob *job) { job->has_written = 0; }

}  // namespace asr::gpu
