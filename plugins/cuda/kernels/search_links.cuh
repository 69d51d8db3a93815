// SPDX-License-Identifier: Apache-2.0
// Makes the links of a frame (plugins/common/kernels/search_lattice.h). The source of an epsilon link kept its path if it has
// the same record.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"
#include "plugins/cuda/kernels/search_extras.cuh"

namespace asr::cuda {

// Appends links of a kind, of which the first has number `first`, for the lanes that want to.
template <typename Team>
__device__ inline void warp_add_link(SearchState &search, uint32_t kind, uint32_t first, bool wanted, const SearchLink &link,
                                     float acoustic_cost) {
  const SearchLinks &lattice = search.job.lattice;
  const uint32_t index = first + warp_append(of_leader<Team>(&search.counts[search.job.current].n_links[kind]), wanted);
  if (!wanted) return;
  if (index < lattice.max_links) {
    lattice.links[index] = link;
    lattice.acoustic_costs[index] = acoustic_cost;
  } else {
    report_full(search, kLinksFull);
  }
}

// After the block's tokens have been numbered, to which these links lead.
template <typename Team>
__device__ inline void block_make_emitting_links(SearchState &search, const float *row) {
  const Table<Team> table(search);
  const float lattice_beam = search.job.lattice.lattice_beam;
  block_each_candidate<Team>(search, 0, 0, search.first_candidate, [&](uint32_t index, const Candidate &candidate, bool valid) {
    bool keep = valid && candidate.slot != kNoSlot && candidate.cost <= search.bound;
    SearchLink link{};
    float acoustic_cost = 0;
    if (keep) {
      const uint32_t slot = candidate.slot & kCandidateSlot;
      keep = make_link(candidate.from, *table.number_at(slot), candidate.arc, candidate.cost, table.cost(slot), lattice_beam,
                       &link);
    }
    if (keep) {
      acoustic_cost = Team::kIsCluster ? __uint_as_float(search.mail[0].details[index])
                                       : acoustic_cost_of(log_likelihood_of(row, &search.job.graph.arcs[candidate.arc]));
    }
    warp_add_link<Team>(search, 0, search.job.lattice.n_links, keep, link, acoustic_cost);
  });
}

// After all tokens have been numbered and the emitting links counted.
template <typename Team>
__device__ inline void block_make_epsilon_links(SearchState &search) {
  const Table<Team> table(search);
  const float lattice_beam = search.job.lattice.lattice_beam;
  const uint32_t n_followed = search.n_epsilon_links;
  const uint32_t first_link = search.job.lattice.n_links + of_leader<Team>(&search.counts[search.job.current])->n_links[0];
  for (uint32_t first = warp_number() * kWarp; first < n_followed; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    bool keep = false;
    SearchLink link{0, 0, 0, 0};
    if (i < n_followed) {
      const EpsilonLink followed = search.epsilon_links[i];
      const bool is_last_path = followed.from == at_source<Team>(search.record_of, followed.source);
      keep = make_link(at_source<Team>(search.number_of, followed.source), *table.number_at(followed.destination), followed.arc,
                       followed.cost, table.cost(followed.destination), lattice_beam, &link) &&
             is_last_path;
    }
    warp_add_link<Team>(search, 1, first_link, keep, link, 0.0f);
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
