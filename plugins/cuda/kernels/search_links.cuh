// SPDX-License-Identifier: Apache-2.0
// Makes the links of a frame: the loops over the steps of plugins/common/kernels/search_frame.h.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

namespace asr::cuda {

// The record and the number of an epsilon link's source.
template <typename Team>
__device__ inline uint32_t source_record(const Table<Team> *table, uint32_t source) {
  return at_source<Team>(table->search.record_of, source);
}
template <typename Team>
__device__ inline uint32_t source_number(const Table<Team> *table, uint32_t source) {
  return at_source<Team>(table->search.number_of, source);
}

// Returns the links of a kind, of which the first has number `first`.
template <typename Team>
__device__ inline FrameLinks frame_links(SearchState &search, uint32_t kind, uint32_t first) {
  const SearchLinks &lattice = search.job.lattice;
  return {lattice.links,
          lattice.acoustic_costs,
          of_leader<Team>(&search.counts[search.job.current].n_links[kind]),
          first,
          lattice.max_links,
          lattice.lattice_beam};
}

// After the block's tokens have been numbered, to which these links lead.
template <typename Team>
__device__ inline void block_make_emitting_links(SearchState &search, const float *row) {
  const Table<Team> table(search);
  const FrameSteps steps = frame_steps<Team>(search, row);
  const FrameLinks links = frame_links<Team>(search, 0, search.job.lattice.n_links);
  block_each_candidate<Team>(search, 0, 0, search.first_candidate,
                             [&](uint32_t index, const Candidate &candidate, bool valid) {
                               warp_link_candidate(&table, &steps, &links, index, &candidate, valid);
                             });
}

// After all tokens have been numbered and the emitting links counted.
template <typename Team>
__device__ inline void block_make_epsilon_links(SearchState &search) {
  const Table<Team> table(search);
  const uint32_t n_emitting = of_leader<Team>(&search.counts[search.job.current])->n_links[0], n = search.n_epsilon_links;
  const FrameLinks links = frame_links<Team>(search, 1, search.job.lattice.n_links + n_emitting);
  for (uint32_t first = warp_number() * kWarp; first < n; first += blockDim.x) {
    warp_link_epsilon_arc(&table, &links, search.epsilon_links, first + lane_number(), n);
  }
}

// The frame's links become the channel's; of one thread of each block.
template <typename Team>
__device__ inline void add_frame(SearchState &search, uint32_t n_emitting, uint32_t n_epsilon) {
  SearchLinks &lattice = search.job.lattice;
  const SearchFrame frame = append_frame(&lattice, n_emitting, n_epsilon, search.job.n_tokens);
  if (Team::rank() == 0) lattice.frames[lattice.n_frames - 1] = frame;
  search.n_newest_links = n_emitting + n_epsilon;
}

}  // namespace asr::cuda
