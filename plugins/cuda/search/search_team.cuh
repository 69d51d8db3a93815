// SPDX-License-Identifier: Apache-2.0
// A team takes a channel through its frames: a block, or, if channels are few, a cluster of blocks. In a cluster every state
// has an owner, by a hash of its number. The owner has the state's token, the slot in its table and the arcs that follow.
// Candidates are sent to the owner of their state (search_mail.cuh); everything else is done in a block's own shared memory.
// The leading block counts indices into the channel's tokens, records and links. Each block decides by itself on the next step;
// all-reduces make all decide alike. Functions that a cluster does its own way are overloaded for it
// (search_cluster_steps.cuh).
#pragma once

#include "plugins/cuda/search/search_block.cuh"
#include "plugins/cuda/search/search_cluster.cuh"
#include "plugins/cuda/search/search_launch.h"
#include "plugins/gpu/search/search_keys-inl.h"

namespace asr::gpu {

struct BlockTeam {
  static constexpr bool kPrunesEarly = true;        // every kPruneFrames frames, or only when links would not fit
  static constexpr uint32_t kCurable = kTableFull;  // overflows that a table in global memory cures
  __device__ static uint32_t rank() { return 0; }
  __device__ static uint32_t size() { return 1; }
  __device__ static uint32_t owner_of(uint32_t) { return 0; }
  __device__ static void sync() { __syncthreads(); }
  template <typename T>
  __device__ static T *of_block(T *own, uint32_t) {
    return own;
  }
};
struct NarrowTeam : BlockTeam {  // its table is in shared memory, and the row of a frame, if it fits
  static constexpr bool kIsWide = false, kStagesRows = true;
};
struct WideTeam : BlockTeam {  // in global memory
  static constexpr bool kIsWide = true, kStagesRows = false;
};
struct ClusterTeam {
  static constexpr bool kIsWide = false, kStagesRows = false;
  static constexpr bool kPrunesEarly = false;  // one block prunes while the others wait
  static constexpr uint32_t kCurable = kTableFull | kCandidatesFull;
  __device__ static uint32_t rank() { return cluster_rank(); }
  __device__ static uint32_t size() { return cluster_size(); }
  __device__ static void sync() { cluster_sync(); }
  // Returns the block that owns a state, by the hash's upper bits.
  __device__ static uint32_t owner_of(uint32_t state) { return __umulhi(hash_of(state), size()); }
  // Returns the address of a variable in the shared memory of another block.
  template <typename T>
  __device__ static T *of_block(T *own, uint32_t rank) {
    return of_cluster_block(own, rank);
  }
};

// A variable that counts for the team.
template <typename Team, typename T>
__device__ inline T *of_leader(T *own) {
  return Team::of_block(own, 0);
}

}  // namespace asr::gpu
