// SPDX-License-Identifier: Apache-2.0
// Removes taken frames of a lattice, and closes the gaps that pruning (search_prune-inl.h) leaves between frames, by a block.
// Links of all frames move down together, kMovedAtOnce of a thread behind a barrier. A link's frame is found among the numbers
// of links before each frame, which lie in shared memory instead of the table. The back end has defined block_scan before.
#ifndef SENONE_KERNELS_SEARCH_GAPS_H
#define SENONE_KERNELS_SEARCH_GAPS_H

#include "plugins/gpu/search/search_lattice-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

#define kMovedAtOnce 2

// Removes the frames that the host has taken.
DEVICE void block_drop_taken(LOCAL ChannelLattice *lattice, GLOBAL SearchFrame *frames) {
  const uint32_t n_taken = lattice->n_taken, n_frames = lattice->n_frames;
  if (n_taken == 0) return;
  for (uint32_t first = n_taken; first < n_frames; first += block_size()) {
    const uint32_t t = first + thread_number();
    SearchFrame frame = {0, 0, 0, 0, 0};
    if (t < n_frames) frame = frame_at(frames + t);
    block_sync();
    if (t < n_frames) frames[t - n_taken] = frame;
  }
  block_sync();
  if (thread_number() == 0) drop_taken_frames(lattice);
  block_sync();
}

// Moves of as many frames as there are threads. Each has the number of links in earlier frames, the distance of its own
// links, and the number of extra costs that move along.
typedef struct FrameMoves {
  LOCAL uint32_t *n_before, *distance, *n_extras;  // [block_size()] each
} FrameMoves;

// Returns the frame of a link: the last that begins no later.
DEVICE uint32_t frame_of_link(const FrameMoves *moves, uint32_t link) {
  uint32_t frame = 0;
  for (uint32_t step = 512; step > 0; step /= 2)  // a block has at most 1024 threads
    if (frame + step < block_size() && moves->n_before[frame + step] <= link) frame += step;
  return frame;
}

// Moves n_links links, which are to begin at `to`.
DEVICE void block_move_links(LatticeMemory lattice, const FrameMoves *moves, uint32_t to, uint32_t n_links) {
  for (uint32_t begin = 0; begin < n_links; begin += kMovedAtOnce * block_size()) {
    const uint32_t first = begin + thread_number();
    SearchLink links[kMovedAtOnce];
    float acoustic_costs[kMovedAtOnce], extras[kMovedAtOnce];
    bool moves_down[kMovedAtOnce];
#pragma unroll
    for (uint32_t k = 0; k < kMovedAtOnce; ++k) {
      const uint32_t i = first + k * block_size(), frame = frame_of_link(moves, i), from = to + i + moves->distance[frame];
      moves_down[k] = i < n_links && moves->distance[frame] > 0;
      if (!moves_down[k]) continue;
      links[k] = link_at(lattice.links + from);
      acoustic_costs[k] = lattice.acoustic_costs[from];
      extras[k] = i - moves->n_before[frame] < moves->n_extras[frame] ? lattice.extras[from + 1] : 0.0f;
    }
    block_sync();  // all threads have read before any overwrites
#pragma unroll
    for (uint32_t k = 0; k < kMovedAtOnce; ++k) {
      if (!moves_down[k]) continue;
      const uint32_t index = to + first + k * block_size();
      lattice.links[index] = links[k];
      lattice.acoustic_costs[index] = acoustic_costs[k];
      lattice.extras[index + 1] = extras[k];  // frame 0 of an utterance, which has no link more, never moves
    }
  }
}

// Moves every frame's links to the end of the preceding frame's. `shared`: [3 * block_size()]; sums: for block_scan.
DEVICE void block_close_gaps(LOCAL ChannelLattice *lattice, LatticeMemory memory, LOCAL uint32_t *shared,
                             LOCAL uint32_t *sums) {
  const FrameMoves moves = {shared, shared + block_size(), shared + 2 * block_size()};
  const uint32_t n_frames = lattice->n_frames;
  uint32_t to = 0;
  for (uint32_t first = 0; first < n_frames; first += block_size()) {
    const uint32_t t = first + thread_number();
    SearchFrame frame = {0, 0, 0, 0, 0};
    if (t < n_frames) frame = memory.frames[t];
    uint32_t n_links;
    const uint32_t n_before = block_scan(frame.n_emitting + frame.n_epsilon, sums, &n_links);
    moves.n_before[thread_number()] = n_before;
    moves.distance[thread_number()] = frame.first_link - (to + n_before);
    moves.n_extras[thread_number()] = frame.is_pruned != 0 ? frame.n_tokens : 0;
    if (t < n_frames) memory.frames[t].first_link = to + n_before;
    block_sync();
    block_move_links(memory, &moves, to, n_links);
    to += n_links;
    block_sync();
  }
  if (thread_number() == 0) lattice->n_links = lattice->n_kept = to;
  block_sync();
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_GAPS_H
