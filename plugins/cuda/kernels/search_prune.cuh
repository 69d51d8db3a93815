// SPDX-License-Identifier: Apache-2.0
// Removes the links that cannot be in the final lattice (docs/search.md, "The lattice"): extra costs are found from the newest
// frame backwards, with 0 for all of its tokens, until a frame has the extra costs it had the last time. In a frame they are
// the fixed point of its epsilon links; then its tokens within the beam are numbered anew, and its links within the beam move
// to the front of the frame's place, 1024 at a time behind a barrier. Extra costs are at least 0, so that their bits order like
// they do. Those of a frame and of the one before lie in the table in shared memory, which is free between frames, if they fit.
#pragma once

#include <math_constants.h>

#include "plugins/cuda/kernels/search_gaps.cuh"

namespace asr::cuda {

constexpr uint32_t kPruneFrames = 16;         // pruned when so many are new
constexpr uint32_t kClusterPruneFrames = 128;  // by clusters, of which one block prunes while the others wait
constexpr uint32_t kPieceFrames = 256;        // "Pieces" in docs/search.md

// Where they lie is known when this is compiled: atomic operations on shared memory are others than on global memory.
template <bool kInShared>
struct Extras {
  uint32_t *of_frame, *before, *new_number;  // by token

  __device__ explicit Extras(const Lane &lane) {
    uint32_t n = lane.n_spare;
    if constexpr (kInShared) {
      n = lane.n_shared_extras;
      of_frame = reinterpret_cast<uint32_t *>(shared_table);
    } else {
      of_frame = lane.spare[0];
    }
    before = of_frame + n;
    new_number = before + n;
  }
  __device__ void swap() {
    uint32_t *const of_this = of_frame;
    of_frame = before;
    before = of_this;
  }
  __device__ static uint32_t read(const uint32_t *extra) { return *const_cast<const volatile uint32_t *>(extra); }
  // The extra cost of the best path through a link.
  __device__ uint32_t through(const SearchLink &link) const {
    return __float_as_uint(__fadd_rn(__uint_as_float(read(of_frame + link.destination)), link.cost));
  }
};

// Extra costs of tokens that epsilon links leave. The first link of a thread is read once only.
template <bool kInShared>
__device__ inline void block_follow_back(const SearchLink *links, uint32_t n_links, const Extras<kInShared> &extras) {
  const SearchLink first = threadIdx.x < n_links ? links[threadIdx.x] : SearchLink{};
  for (bool fell = n_links > 0; fell;) {
    fell = false;
    for (uint32_t i = threadIdx.x; i < n_links; i += blockDim.x) {
      const SearchLink link = i == threadIdx.x ? first : links[i];
      const uint32_t through = extras.through(link);
      uint32_t *const source = extras.of_frame + link.source;
      if (through < extras.read(source)) fell |= atomicMin(source, through) > through;
    }
    fell = __syncthreads_or(fell ? 1 : 0) != 0;
  }
}

template <bool kInShared>
__device__ inline bool block_is_as_before(const float *stored, uint32_t n_tokens, const Extras<kInShared> &extras) {
  bool differs = false;
  for (uint32_t i = threadIdx.x; i < n_tokens; i += blockDim.x) {
    differs |= __float_as_uint(stored[i]) != extras.read(extras.of_frame + i);
  }
  return __syncthreads_or(differs ? 1 : 0) == 0;
}

// Numbers the tokens within the beam, stores their extra costs unless `stored` is nullptr, and returns how many there are.
template <bool kInShared>
__device__ inline uint32_t block_renumber(Lane &lane, uint32_t n_tokens, const Extras<kInShared> &extras, float *stored) {
  const uint32_t most = __float_as_uint(lane.job.lattice.lattice_beam);
  const uint32_t n_own = (n_tokens + blockDim.x - 1) / blockDim.x, first = threadIdx.x * n_own;
  const uint32_t end = min(first + n_own, n_tokens);
  uint32_t n = 0, n_kept;
  for (uint32_t i = first; i < end; ++i) n += extras.read(extras.of_frame + i) <= most ? 1 : 0;
  n = block_scan(n, lane.sums, &n_kept);
  for (uint32_t i = first; i < end; ++i) {
    const uint32_t extra = extras.read(extras.of_frame + i);
    extras.new_number[i] = n;
    if (extra > most) continue;
    if (stored != nullptr) stored[n] = __uint_as_float(extra);
    ++n;
  }
  __syncthreads();
  return n_kept;
}

// Removes links of one kind from `from` on, n of them; those that stay go to `to` on. Emitting ones lower the extra costs of
// the frame before. Returns how many stay.
template <bool kEmitting, bool kInShared>
__device__ inline uint32_t block_prune_links(Lane &lane, uint32_t from, uint32_t n, uint32_t to,
                                             const Extras<kInShared> &extras) {
  const SearchLinks &lattice = lane.job.lattice;
  const uint32_t most = __float_as_uint(lattice.lattice_beam);
  uint32_t *const n_kept = &lane.n_links[kEmitting ? 0 : 1];
  if (threadIdx.x == 0) *n_kept = 0;
  for (uint32_t first = 0; first < n; first += blockDim.x) {
    const uint32_t i = first + threadIdx.x;
    SearchLink link{};
    float acoustic_cost = 0;
    uint32_t through = 0;
    bool keep = false;
    if (i < n) {
      link = lattice.links[from + i];
      acoustic_cost = lattice.acoustic_costs[from + i];
      through = extras.through(link);
      keep = through <= most;
    }
    __syncthreads();  // what is overwritten has been read
    const uint32_t place = to + warp_append(n_kept, keep);
    if (!keep) continue;
    if (kEmitting) {
      atomicMin(extras.before + link.source, through);
    } else {
      link.source = extras.new_number[link.source];
    }
    link.destination = extras.new_number[link.destination];
    if (place < lattice.max_links) {
      lattice.links[place] = link;
      lattice.acoustic_costs[place] = acoustic_cost;
    } else {
      report_full(lane, kLinksFull);
    }
  }
  __syncthreads();
  return *n_kept;
}

// What stays of `frame` by extras.of_frame, its links from `to` on; makes extras.before for the n_before tokens of the frame
// before. `next` is the frame after it, as it has been pruned; its links get the new numbers of their sources.
template <bool kInShared>
__device__ inline SearchFrame block_prune_frame(Lane &lane, const SearchFrame &frame, uint32_t n_before,
                                                const SearchFrame &next, uint32_t to, const Extras<kInShared> &extras,
                                                float *stored) {
  const SearchLinks &lattice = lane.job.lattice;
  for (uint32_t i = threadIdx.x; i < n_before; i += blockDim.x) extras.before[i] = __float_as_uint(CUDART_INF_F);
  const uint32_t n_tokens = block_renumber(lane, frame.n_tokens, extras, stored);
  for (uint32_t i = threadIdx.x; i < next.n_emitting; i += blockDim.x) {
    uint32_t &source = lattice.links[next.first_link + i].source;
    source = extras.new_number[source];
  }
  const uint32_t first = frame.first_link, first_epsilon = first + frame.n_emitting;
  const uint32_t n_emitting = block_prune_links<true>(lane, first, frame.n_emitting, to, extras);
  const uint32_t n_epsilon = block_prune_links<false>(lane, first_epsilon, frame.n_epsilon, to + n_emitting, extras);
  return {to, n_emitting, n_epsilon, n_tokens, 1};
}

__device__ inline bool block_fits_shared(const Lane &lane) {
  const SearchLinks &lattice = lane.job.lattice;
  bool fits = true;
  for (uint32_t t = threadIdx.x; t < lattice.n_frames; t += blockDim.x)
    fits &= lattice.frames[t].n_tokens <= lane.n_shared_extras;
  return __syncthreads_and(fits ? 1 : 0) != 0;
}

template <bool kInShared>
__device__ inline void block_prune_frames(Lane &lane) {
  const SearchLinks &lattice = lane.job.lattice;
  Extras<kInShared> extras(lane);
  const uint32_t n_fixed = lattice.last_settled > 0 ? lattice.last_settled - lattice.first_frame + 1 : 0;
  SearchFrame frame = lattice.frames[lattice.n_frames - 1], next{};
  for (uint32_t i = threadIdx.x; i < frame.n_tokens; i += blockDim.x) extras.of_frame[i] = 0;
  __syncthreads();
  for (uint32_t t = lattice.n_frames; t-- > n_fixed; extras.swap()) {
    const SearchFrame before = t > 0 ? lattice.frames[t - 1] : SearchFrame{};
    float *const stored = lattice.extras + lattice.first_extra(t);
    block_follow_back(lattice.links + frame.first_link + frame.n_emitting, frame.n_epsilon, extras);
    if (frame.is_pruned != 0 && block_is_as_before(stored, frame.n_tokens, extras)) break;
    next = block_prune_frame(lane, frame, before.n_tokens, next, frame.first_link, extras, stored);
    if (threadIdx.x == 0) lattice.frames[t] = next;
    frame = before;
  }
  __syncthreads();
}

// Not inlined, as the registers of what happens now and then are not to be taken from every frame.
__device__ __noinline__ void block_prune(Lane &lane, bool close_gaps) {
  __builtin_assume(__isShared(&lane));
  block_drop_taken(lane);
  const bool in_shared = block_fits_shared(lane);
  if (in_shared) {
    block_prune_frames<true>(lane);
  } else {
    block_prune_frames<false>(lane);
  }
  if (threadIdx.x == 0) lane.job.lattice.n_unpruned = 0;
  if (close_gaps) block_close_gaps(lane);
  if (in_shared || close_gaps) Table<NarrowTeam>(lane).block_free_own();
  __syncthreads();
}

}  // namespace asr::cuda
