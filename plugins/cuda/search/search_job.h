// SPDX-License-Identifier: Apache-2.0
// A channel's job as the host reads it (plugins/gpu/search/search_channel.h): where its buffers are, and its results.
#pragma once

#include <cstdint>

#include "plugins/cuda/search/search_launch.h"
#include "plugins/gpu/search/search_lattice.h"

namespace asr::gpu {

inline uint64_t address_of(const void *memory) { return reinterpret_cast<uint64_t>(memory); }
inline LatticeBuffers lattice_buffers(const SearchJob &job) {
  const SearchLinks &lattice = job.lattice;
  return {address_of(lattice.links), address_of(lattice.acoustic_costs), address_of(lattice.extras),
          address_of(lattice.frames)};
}
inline void clear_results(SearchJob *job) {
  job->has_written = job->has_path = false;
  job->path = {};
  job->n_kept = 0;
  job->may_leave = job->has_left = false;
}
inline uint64_t tokens_address(const SearchJob &job, uint32_t which) { return address_of(job.tokens[which]); }

}  // namespace asr::gpu
