// SPDX-License-Identifier: Apache-2.0
// The links of a frame ("The lattice" in docs/search.md), when its tokens have their last costs. Emitting ones are among the
// candidates of the frame, which are kept for that until it ends, epsilon ones among the arcs followed in all rounds: those
// that were followed when their source had the path it kept. What is dearer than its destination's token by more than the
// lattice beam can be in no lattice and is left out, about half. They are appended to the channel's, in no order.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

namespace asr::cuda {

// Appends links of a kind, of which the first has number `first`, for the lanes that want to.
template <typename Team>
__device__ inline void warp_add_link(Lane &lane, uint32_t kind, uint32_t first, bool wanted, const SearchLink &link,
                                     float acoustic_cost) {
  const SearchLinks &lattice = lane.job.lattice;
  const uint32_t place = first + warp_append(of_leader<Team>(&lane.counts[lane.job.current].n_links[kind]), wanted);
  if (!wanted) return;
  if (place < lattice.max_links) {
    lattice.links[place] = link;
    lattice.acoustic_costs[place] = acoustic_cost;
  } else {
    report_full(lane, kLinksFull);
  }
}

// After the block's tokens have been numbered, to which these links lead.
template <typename Team>
__device__ inline void block_make_emitting_links(Lane &lane, const float *row) {
  const Table<Team> table(lane);
  const float lattice_beam = lane.job.lattice.lattice_beam;
  block_each_candidate<Team>(lane, 0, 0, lane.first_candidate, [&](uint32_t place, const Candidate &candidate, bool there) {
    bool keep = there && candidate.slot != kNoSlot && candidate.cost <= lane.bound;
    SearchLink link{candidate.from, 0, candidate.arc, 0};
    float acoustic_cost = 0;
    if (keep) {
      const uint32_t slot = candidate.slot & kCandidateSlot;
      link.cost = subtract_rounded(candidate.cost, table.cost(slot));
      link.destination = *table.number_at(slot);
      keep = link.cost <= lattice_beam;
    }
    if (keep) {
      acoustic_cost = Team::kIsCluster ? __uint_as_float(lane.mail[0].details[place])
                                       : acoustic_cost_of(log_likelihood_of(row, lane.job.graph.arcs[candidate.arc]));
    }
    warp_add_link<Team>(lane, 0, lane.job.lattice.n_links, keep, link, acoustic_cost);
  });
}

// After all tokens have been numbered and the emitting links counted.
template <typename Team>
__device__ inline void block_make_epsilon_links(Lane &lane) {
  const Table<Team> table(lane);
  const float lattice_beam = lane.job.lattice.lattice_beam;
  const uint32_t n_followed = lane.n_epsilon_links;
  const uint32_t first_link = lane.job.lattice.n_links + of_leader<Team>(&lane.counts[lane.job.current])->n_links[0];
  for (uint32_t first = warp_number() * kWarp; first < n_followed; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    bool keep = false;
    SearchLink link{0, 0, 0, 0};
    if (i < n_followed) {
      const EpsilonLink followed = lane.epsilon_links[i];
      link = {at_source<Team>(lane.number_of, followed.source), *table.number_at(followed.destination), followed.arc,
              subtract_rounded(followed.cost, table.cost(followed.destination))};
      keep = followed.from == at_source<Team>(lane.record_of, followed.source) && link.cost <= lattice_beam;
    }
    warp_add_link<Team>(lane, 1, first_link, keep, link, 0.0f);
  }
}

// The frame's links become the channel's; of one thread of each block.
template <typename Team>
__device__ inline void add_frame(Lane &lane, uint32_t n_emitting, uint32_t n_epsilon) {
  SearchLinks &lattice = lane.job.lattice;
  if (Team::rank() == 0) {
    lattice.frames[lattice.n_frames] = {lattice.n_links, n_emitting, n_epsilon, lane.job.n_tokens, 0};
  }
  ++lattice.n_frames;
  lane.n_newest_links = n_emitting + n_epsilon;
  lattice.n_links += lane.n_newest_links;
  ++lattice.n_unpruned;
}

}  // namespace asr::cuda
