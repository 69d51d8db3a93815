// SPDX-License-Identifier: Apache-2.0
// Removes taken frames of a lattice, and closes the gaps that pruning (search_prune.cuh) leaves between frames. Links of all
// frames move down together, kMovedAtOnce of a thread behind a barrier. A link's frame is found among the numbers of links
// before each frame, which lie in shared memory in place of the table.
#pragma once

#include "plugins/cuda/kernels/search_extras.cuh"

namespace asr::cuda {

constexpr uint32_t kMovedAtOnce = 2;

// Removes the frames that the host has taken.
__device__ inline void block_drop_taken(SearchState &search) {
  SearchLinks &lattice = search.job.lattice;
  const uint32_t n_taken = lattice.n_taken;
  if (n_taken == 0) return;
  for (uint32_t first = n_taken; first < lattice.n_frames; first += blockDim.x) {
    const uint32_t t = first + threadIdx.x;
    SearchFrame frame{};
    if (t < lattice.n_frames) frame = lattice.frames[t];
    __syncthreads();
    if (t < lattice.n_frames) lattice.frames[t - n_taken] = frame;
  }
  __syncthreads();
  if (threadIdx.x == 0) drop_taken_frames(&lattice);
  __syncthreads();
}

// Moves of as many frames as there are threads: the number of links in the frames before, the distance of the frame's own, and
// the number of extra costs that move along.
struct FrameMoves {
  uint32_t *n_before, *distance, *n_extras;

  __device__ FrameMoves()
      : n_before(reinterpret_cast<uint32_t *>(shared_table)),
        distance(n_before + blockDim.x),
        n_extras(distance + blockDim.x) {}

  // The frame of a link: the last that begins no later.
  __device__ uint32_t frame_of(uint32_t link) const {
    uint32_t frame = 0;
    for (uint32_t step = kMaxWarps * kWarp / 2; step > 0; step /= 2) {
      if (frame + step < blockDim.x && n_before[frame + step] <= link) frame += step;
    }
    return frame;
  }
};

// Moves n_links links, which are to begin at `to`.
__device__ inline void block_move_links(const SearchLinks &lattice, const FrameMoves &moves, uint32_t to, uint32_t n_links) {
  for (uint32_t first = threadIdx.x; first - threadIdx.x < n_links; first += kMovedAtOnce * blockDim.x) {
    SearchLink links[kMovedAtOnce];
    float acoustic_costs[kMovedAtOnce], extras[kMovedAtOnce];
    bool moves_down[kMovedAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kMovedAtOnce; ++k) {
      const uint32_t i = first + k * blockDim.x, frame = moves.frame_of(i), from = to + i + moves.distance[frame];
      moves_down[k] = i < n_links && moves.distance[frame] > 0;
      if (!moves_down[k]) continue;
      links[k] = lattice.links[from];
      acoustic_costs[k] = lattice.acoustic_costs[from];
      extras[k] = i - moves.n_before[frame] < moves.n_extras[frame] ? lattice.extras[from + 1] : 0.0f;
    }
    __syncthreads();  // what is overwritten has been read
#pragma unroll
    for (uint32_t k = 0; k < kMovedAtOnce; ++k) {
      if (!moves_down[k]) continue;
      const uint32_t index = to + first + k * blockDim.x;
      lattice.links[index] = links[k];
      lattice.acoustic_costs[index] = acoustic_costs[k];
      lattice.extras[index + 1] = extras[k];  // frame 0 of an utterance, which has no link more, never moves
    }
  }
}

// Moves every frame's links to the end of those before. The table in shared memory is overwritten.
__device__ inline void block_close_gaps(SearchState &search) {
  SearchLinks &lattice = search.job.lattice;
  const FrameMoves moves;
  uint32_t to = 0;
  for (uint32_t first = 0; first < lattice.n_frames; first += blockDim.x) {
    const uint32_t t = first + threadIdx.x;
    SearchFrame frame{};
    if (t < lattice.n_frames) frame = lattice.frames[t];
    uint32_t n_links;
    const uint32_t n_before = block_scan(frame.n_emitting + frame.n_epsilon, search.sums, &n_links);
    moves.n_before[threadIdx.x] = n_before;
    moves.distance[threadIdx.x] = frame.first_link - (to + n_before);
    moves.n_extras[threadIdx.x] = frame.is_pruned != 0 ? frame.n_tokens : 0;
    if (t < lattice.n_frames) lattice.frames[t].first_link = to + n_before;
    __syncthreads();
    block_move_links(lattice, moves, to, n_links);
    to += n_links;
    __syncthreads();
  }
  if (threadIdx.x == 0) lattice.n_links = lattice.n_kept = to;
  __syncthreads();
}

}  // namespace asr::cuda
