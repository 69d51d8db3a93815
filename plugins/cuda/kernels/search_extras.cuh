// SPDX-License-Identifier: Apache-2.0
// Extra costs of a frame's tokens and of those of the frame before it. They lie in shared memory instead of the table, which is
// free between frames, if they fit.
#pragma once

#include <math_constants.h>

#include "plugins/cuda/kernels/search_state.cuh"

namespace asr {

// A value of each token of a frame, as plugins/common/kernels/search_lattice.h asks for it.
__device__ inline uint32_t value_now(uint32_t *const *values, uint32_t token) {
  return *const_cast<const volatile uint32_t *>(*values + token);
}
__device__ inline uint32_t lower_value(uint32_t *const *values, uint32_t token, uint32_t value) {
  return atomicMin(*values + token, value);
}

}  // namespace asr

#include "plugins/common/kernels/search_lattice.h"

namespace asr::cuda {

// Extra costs of two frames in turns. Their memory is known to the compiler: atomic operations on shared memory differ from
// those on global memory.
template <bool kInShared>
struct Extras {
  uint32_t *of_frame, *before, *new_number;  // by token, of which a frame has n_tokens at most

  __device__ Extras(const SearchState &search, uint32_t n_tokens) {
    uint32_t n = n_tokens;
    if constexpr (kInShared) {
      of_frame = reinterpret_cast<uint32_t *>(shared_table);
    } else {
      n = search.n_spare;
      of_frame = search.spare[0];
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
  __device__ bool keeps(uint32_t token, float lattice_beam) const {
    return value_now(&of_frame, token) <= __float_as_uint(lattice_beam);
  }
};

// The most tokens that a frame of the lattice has.
__device__ inline uint32_t block_most_tokens(SearchState &search) {
  const SearchLinks &lattice = search.job.lattice;
  uint32_t &most = search.walk.most_tokens;
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
    const uint32_t index = warp_append(n_kept, keep), number = is_newest && stored != nullptr ? i : index;
    if (!keep) continue;
    extras.new_number[i] = number;
    if (stored != nullptr) stored[number] = __uint_as_float(value_now(&extras.of_frame, i));
  }
}

}  // namespace asr::cuda
