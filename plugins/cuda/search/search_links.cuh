// SPDX-License-Identifier: Apache-2.0
// Makes the links of a frame: the loops over the steps of plugins/gpu/search/search_frame-inl.h.
#pragma once

#include "plugins/cuda/search/search_expand.cuh"

namespace asr::gpu {

// The record and the number of an epsilon link's source.
template <typename Team>
__device__ inline uint32_t source_record(const Table<Team> *table, uint32_t source) {
  return table->search.record_of[source];
}
template <typename Team>
__device__ inline uint32_t source_number(const Table<Team> *table, uint32_t source) {
  return table->search.number_of[source];
}

template <typename Team>
__device__ inline void put_link(const Table<Team> *table, uint32_t index, const SearchLink *link, float acoustic_cost) {
  const SearchLinks &lattice = table->search.job.lattice;
  if (index >= lattice.max_links) return report_full(table->search, kLinksFull);
  lattice.links[index] = *link;
  lattice.acoustic_costs[index] = acoustic_cost;
}

// After the block's tokens have been numbered, to which these links lead.
template <typename Team>
__device__ inline void block_make_emitting_links(const Table<Team> *table, const float *row) {
  SearchState &search = table->search;
  const FrameSteps steps = frame_steps<Team>(search, row);
  const SearchLinks &lattice = search.job.lattice;
  const float beam = lattice.lattice_beam;
  uint32_t *const n_links = frame_counts(table)->n_links;
  block_each_candidate(table, true, 0, 0, search.first_candidate, [&](uint32_t index, const Candidate &candidate, bool valid) {
    warp_link_candidate(table, &steps, beam, lattice.n_links, n_links, index, &candidate, valid);
  });
}

template <typename Team>
__device__ inline const EpsilonLink *epsilon_links(const Table<Team> *table) {
  return table->search.epsilon_links;
}

template <typename Team>
__device__ inline void block_free_used(const Table<Team> *table) {
  table->block_free_used();
}

// The frame's links become the channel's; of one thread of each block.
template <typename Team>
__device__ inline void add_frame(SearchState &search, uint32_t n_emitting, uint32_t n_epsilon) {
  SearchLinks &lattice = search.job.lattice;
  const SearchFrame frame = append_frame(&lattice, n_emitting, n_epsilon, search.job.n_tokens);
  if (Team::rank() == 0) lattice.frames[lattice.n_frames - 1] = frame;
  search.n_newest_links = n_emitting + n_epsilon;
}

}  // namespace asr::gpu
