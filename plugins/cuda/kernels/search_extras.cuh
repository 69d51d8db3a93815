// SPDX-License-Identifier: Apache-2.0
// Extra costs of a frame's tokens and of those of the frame before it: how much dearer than the best path the best path
// through a token is (docs/search.md, "The lattice"). They are at least 0, so that their bits order like they do. They lie in
// the place of the table in shared memory, which is free between frames, if they fit.
#pragma once

#include <math_constants.h>

#include "plugins/common/kernels/search_costs.h"
#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// Where they lie is known when this is compiled: atomic operations on shared memory are others than on global memory.
template <bool kInShared>
struct Extras {
  uint32_t *of_frame, *before, *new_number;  // by token, of which a frame has n_tokens at most

  __device__ Extras(const Lane &lane, uint32_t n_tokens) {
    uint32_t n = n_tokens;
    if constexpr (kInShared) {
      of_frame = reinterpret_cast<uint32_t *>(shared_table);
    } else {
      n = lane.n_spare;
      of_frame = lane.spare[0];
    }
    before = of_frame + n;
    new_number = before + n;
  }
  // Words of shared memory that they take.
  __device__ static uint32_t n_words(uint32_t n_tokens) { return kInShared ? 3 * n_tokens : 0; }

  __device__ void swap() {
    uint32_t *const of_this = of_frame;
    of_frame = before;
    before = of_this;
  }
  __device__ static uint32_t read(const uint32_t *extra) { return *const_cast<const volatile uint32_t *>(extra); }
  __device__ bool keeps(uint32_t token, float lattice_beam) const {
    return read(of_frame + token) <= __float_as_uint(lattice_beam);
  }
  // The extra cost of the best path through a link.
  __device__ uint32_t through(const SearchLink &link) const {
    return extra_through(read(of_frame + link.destination), link.cost);
  }
};

// The most tokens that a frame of the lattice has.
__device__ inline uint32_t block_most_tokens(Lane &lane) {
  const SearchLinks &lattice = lane.job.lattice;
  uint32_t &most = lane.walk.most_tokens;
  if (threadIdx.x == 0) most = 0;
  __syncthreads();
  for (uint32_t t = threadIdx.x; t < lattice.n_frames; t += blockDim.x) atomicMax(&most, lattice.frames[t].n_tokens);
  __syncthreads();
  return most;
}

// Numbers the tokens within the beam, by a counter that is 0, and stores their extra costs unless `stored` is nullptr. Those of
// the newest frame, which are all within it when extra costs are stored, keep their numbers.
template <bool kInShared>
__device__ inline void block_renumber(uint32_t *n_kept, uint32_t n_tokens, bool is_newest, float lattice_beam,
                                      const Extras<kInShared> &extras, float *stored) {
  for (uint32_t first = warp_number() * kWarp; first < n_tokens; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    const bool keep = i < n_tokens && extras.keeps(i, lattice_beam);
    const uint32_t place = warp_append(n_kept, keep), number = is_newest && stored != nullptr ? i : place;
    if (!keep) continue;
    extras.new_number[i] = number;
    if (stored != nullptr) stored[number] = __uint_as_float(extras.read(extras.of_frame + i));
  }
}

}  // namespace asr::cuda
