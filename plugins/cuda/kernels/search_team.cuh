// SPDX-License-Identifier: Apache-2.0
// A team takes a channel through its frames: a block, or, if channels are few, a cluster of blocks. In a cluster every state
// has an owner, by a hash of its number. The owner has the state's token, the slot in its table and the arcs that follow.
// Candidates are sent to the owner of their state (search_mail.cuh); everything else is done in a block's own shared memory.
// The leading block counts indices into the channel's tokens, records and links. Each block decides by itself on the next step;
// all-reduces make all decide alike (search_reduce.cuh).
#pragma once

#include "plugins/common/kernels/search_keys.h"
#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/kernels/search_block.cuh"
#include "plugins/cuda/kernels/search_cluster.cuh"

namespace asr::cuda {

struct BlockTeam {
  static constexpr bool kIsCluster = false;
  __device__ static uint32_t rank() { return 0; }
  __device__ static uint32_t size() { return 1; }
  __device__ static void sync() { __syncthreads(); }
  template <typename T>
  __device__ static T *of_block(T *own, uint32_t) {
    return own;
  }
};
struct NarrowTeam : BlockTeam {  // its table is in shared memory
  static constexpr bool kIsWide = false;
};
struct WideTeam : BlockTeam {  // in global memory
  static constexpr bool kIsWide = true;
};
struct ClusterTeam {
  static constexpr bool kIsCluster = true, kIsWide = false;
  __device__ static uint32_t rank() { return cluster_rank(); }
  __device__ static uint32_t size() { return cluster_size(); }
  __device__ static void sync() { cluster_sync(); }
  // Returns the address of a variable in the shared memory of another block.
  template <typename T>
  __device__ static T *of_block(T *own, uint32_t rank) {
    return of_cluster_block(own, rank);
  }
};

// Returns the block that owns a state, by the hash's upper bits.
template <typename Team>
__device__ inline uint32_t owner_of(uint32_t state) {
  return Team::kIsCluster ? __umulhi(hash_of(state), Team::size()) : 0;
}

// A variable that counts for the team.
template <typename Team, typename T>
__device__ inline T *of_leader(T *own) {
  return Team::of_block(own, 0);
}

}  // namespace asr::cuda
