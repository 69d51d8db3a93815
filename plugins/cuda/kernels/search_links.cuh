// SPDX-License-Identifier: Apache-2.0
// The links of a frame ("The lattice" in docs/search.md), when its tokens have their last costs. Emitting ones are among the
// candidates of the frame, which are kept for that until it ends, epsilon ones among the arcs followed in all rounds: those
// that were followed when their source had the cost it kept. What is dearer than its destination's token by more than the
// lattice beam can be in no lattice and is left out, about half. They are appended to the channel's, in no order.
#pragma once

#include "plugins/cuda/kernels/search_expand.cuh"

namespace asr::cuda {

// Appends links for the lanes that want to: of one kind, after those of the other.
__device__ inline void warp_add_link(Lane &lane, uint32_t kind, bool wanted, const SearchLink &link, float acoustic_cost) {
  const SearchLinks &lattice = lane.job.lattice;
  const uint32_t place = warp_append(&lane.n_links[kind], wanted) + lattice.n_links + (kind == 1 ? lane.n_links[0] : 0);
  if (!wanted) return;
  if (place < lattice.max_links) {
    lattice.links[place] = link;
    lattice.acoustic_costs[place] = acoustic_cost;
  } else {
    report_full(lane, kLinksFull);
  }
}

template <bool kWide>
__device__ inline float cost_in(const Table<kWide> &table, uint32_t slot) {
  return cost_of(static_cast<uint32_t>(table.key(slot) >> 32));
}

template <bool kWide>
__device__ inline void block_make_emitting_links(Lane &lane, const float *row) {
  const Table<kWide> table(lane);
  const float lattice_beam = lane.job.lattice.lattice_beam;
  const uint32_t n_candidates = lane.first_candidate;
  for (uint32_t first = warp_number() * kWarp; first < n_candidates; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    bool keep = false;
    SearchLink link{0, 0, 0, 0};
    float acoustic_cost = 0;
    if (i < n_candidates) {
      const Candidate candidate = lane.candidates[i];
      const uint32_t slot = candidate.slot & Candidate::kSlotMask;
      link = {candidate.from, 0, candidate.arc, __fsub_rn(candidate.cost, cost_in(table, slot))};
      keep = candidate.cost <= lane.bound && link.cost <= lattice_beam;
      if (keep) {
        link.destination = lane.record_of[slot];
        acoustic_cost = __fsub_rn(0.0f, __ldg(row + (lane.job.graph.arcs[candidate.arc].label & SearchArc::kPdfMask)));
      }
    }
    warp_add_link(lane, 0, keep, link, acoustic_cost);
  }
}

template <bool kWide>
__device__ inline void block_make_epsilon_links(Lane &lane) {
  const Table<kWide> table(lane);
  const float lattice_beam = lane.job.lattice.lattice_beam;
  const uint32_t n_followed = lane.n_epsilon_links;
  for (uint32_t first = warp_number() * kWarp; first < n_followed; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    bool keep = false;
    SearchLink link{0, 0, 0, 0};
    if (i < n_followed) {
      const EpsilonLink followed = lane.epsilon_links[i];
      const float cost = arc_cost<false>(lane.job.beam, nullptr, lane.job.graph.arcs[followed.arc], followed.source_cost);
      link = {lane.record_of[followed.source], lane.record_of[followed.destination], followed.arc,
              __fsub_rn(cost, cost_in(table, followed.destination))};
      keep = followed.source_cost == cost_in(table, followed.source) && link.cost <= lattice_beam;
    }
    warp_add_link(lane, 1, keep, link, 0.0f);
  }
}

// After the tokens have been numbered; then frees their slots.
template <bool kWide>
__device__ inline void block_make_links(Lane &lane, const float *row) {
  block_make_emitting_links<kWide>(lane, row);
  __syncthreads();
  block_make_epsilon_links<kWide>(lane);
  __syncthreads();
  const Table<kWide> table(lane);
  for (uint32_t i = threadIdx.x; i < lane.n_used; i += blockDim.x) table.free(lane.used[i]);
}

// The frame's links become the channel's; of one thread.
__device__ inline void add_frame(Lane &lane) {
  SearchLinks &lattice = lane.job.lattice;
  lattice.frames[lattice.n_frames++] = {lattice.n_links, lane.n_links[0], lane.n_links[1], lane.n_next, 0};
  lattice.n_links += lane.n_links[0] + lane.n_links[1];
  ++lattice.n_unpruned;
}

}  // namespace asr::cuda
