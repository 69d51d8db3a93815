// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame. Warps take the arcs of a list's items in stretches (search_stretch.h). An arc within the beam so
// far lowers the key of its state's slot. If it did, or if there is to be a lattice, it is remembered as a candidate. In a
// cluster the arc is sent to the owner of the state, who does so. After a barrier the candidate that is the least of its state
// has won: it writes its path's record and goes on the next list if its state has epsilon arcs.
#pragma once

#include "plugins/common/kernels/search_costs.h"
#include "plugins/cuda/kernels/search_mail.cuh"
#include "plugins/cuda/kernels/search_table.cuh"
#include "plugins/cuda/kernels/search_warp.cuh"

#include "plugins/common/kernels/search_stretch.h"  // for these warps

namespace asr::cuda {

__device__ inline float log_likelihood_of(const float *row, const SearchArc &arc) { return __ldg(row + (arc.label & kArcPdf)); }

// Lowers the least cost so far by the costs of a warp, and returns the bound by it.
__device__ inline float warp_lower_bound(Lane &lane, float cost, bool counts) {
  const uint32_t least = warp_min(counts ? ordered(cost) : 0xffffffffu);
  if (lane_number() == 0 && least < *const_cast<volatile uint32_t *>(&lane.best)) atomicMin(&lane.best, least);
  __syncwarp();
  return bound_of(cost_of(*const_cast<volatile uint32_t *>(&lane.best)), lane.job.beam.beam);
}

// The stretch of a list's arcs that a warp follows.
__device__ inline ArcStretch stretch_of(const Lane &lane, uint32_t list) {
  const auto n_items = static_cast<uint32_t>(lane.list_size[list] >> 32), n_arcs = static_cast<uint32_t>(lane.list_size[list]);
  return warp_stretch(lane.list[list], n_items, n_arcs, blockDim.x);
}

// Remembers epsilon arcs for the lattice, for the lanes that want to.
__device__ inline void warp_add_epsilon_link(Lane &lane, bool wanted, const EpsilonLink &link) {
  const uint32_t place = warp_append(&lane.n_epsilon_links, wanted);
  if (wanted && place < lane.max_epsilon_links) lane.epsilon_links[place] = link;
  if (wanted && place >= lane.max_epsilon_links) report_full(lane, kCandidatesFull);
}

// Enters a candidate into the table; returns its slot, or none if it cannot be of use.
template <typename Team>
__device__ inline uint32_t warp_enter(Lane &lane, const Table<Team> &table, uint32_t state, bool there, uint32_t arc,
                                      float cost) {
  bool claimed = false;
  uint32_t slot = kNoSlot;
  if (there) slot = table.find(state, &claimed);
  const bool keep = slot != kNoSlot && (table.lower(slot, make_key(cost, arc + 1)) || lane.job.lattice.lattice_beam > 0);
  __syncwarp();
  table.warp_add_claims(slot, claimed);
  return keep ? slot : kNoSlot;
}

// Remembers a candidate whose slot is known, for the lanes that want to.
__device__ inline void warp_add_candidate(Lane &lane, uint32_t list, uint32_t first_candidate, bool wanted,
                                          const Candidate &candidate) {
  const uint32_t place = first_candidate + warp_append(&lane.n_candidates[list], wanted);
  if (wanted && place < lane.max_candidates) lane.candidates[place] = candidate;
  if (wanted && place >= lane.max_candidates) report_full(lane, kCandidatesFull);
}

// Follows the arcs of a list's items into candidates. The loads of a step are under way while the one before enters the table.
template <bool kEmitting, typename Team>
__device__ inline void block_expand(Lane &lane, uint32_t list, const float *row) {
  const Table<Team> table(lane);
  const SearchBeam beam = lane.job.beam;
  const bool makes_lattice = lane.job.lattice.lattice_beam > 0;
  const uint32_t first_candidate = kEmitting ? 0 : lane.first_candidate;
  if (threadIdx.x == 0) lane.n_arcs += static_cast<uint32_t>(lane.list_size[list]);
  if (__any_sync(kAllLanes, lane.is_full != 0)) return;  // the list may have holes
  const SearchArc *const arcs = lane.job.graph.arcs;
  ArcStretch stretch = stretch_of(lane, list);
  if (stretch_ends(&stretch)) return;
  ArcStep step = warp_next_step(&stretch, arcs);
  for (bool last = false; !last;) {
    ArcStep following = {};
    last = stretch_ends(&stretch);
    if (!last) following = warp_next_step(&stretch, arcs);
    const float log_likelihood = kEmitting && step.there ? log_likelihood_of(row, step.arc) : 0.0f;
    const float cost = step.there ? arc_cost(&beam, kEmitting, log_likelihood, &step.arc, step.from_cost) : CUDART_INF_F;
    const float bound = kEmitting ? warp_lower_bound(lane, cost, step.there) : lane.bound;
    const uint32_t flag = step.arc.label & kArcEpsilon;
    bool keep = step.there && cost <= bound;
    if constexpr (Team::kIsCluster) {
      const uint32_t from = kEmitting || !keep ? step.token : *table.record_at(step.token);
      const uint32_t details = kEmitting ? __float_as_uint(acoustic_cost_of(log_likelihood)) : source_of<Team>(step.token);
      send<Team>(lane, mail_of<kEmitting>(list), step.arc.next_state, keep,
                 {step.arc.next_state | flag, step.arc_index, cost, from}, details);
    } else {
      const uint32_t slot = warp_enter(lane, table, step.arc.next_state, keep, step.arc_index, cost);
      keep = slot != kNoSlot;
      const uint32_t from = kEmitting || !keep ? step.token : *table.record_at(step.token);
      warp_add_candidate(lane, list, first_candidate, keep, {slot | flag, step.arc_index, cost, from});
      if (!kEmitting && makes_lattice) warp_add_epsilon_link(lane, keep, {step.token, slot, step.arc_index, from, cost});
    }
    if constexpr (Team::kIsCluster) {
      const uint32_t n_followed = __popc(__ballot_sync(kAllLanes, keep && flag != 0));
      if (lane_number() == 0 && n_followed > 0) atomicAdd(&lane.n_followed[list], n_followed);
    }
    if (!kEmitting) warp_lower_bound(lane, cost, keep);
    step = following;
  }
}

// In a cluster: enters what was sent to this block into its table.
template <bool kEmitting, typename Team>
__device__ inline void block_enter_mail(Lane &lane, uint32_t list) {
  const Table<Team> table(lane);
  const bool makes_lattice = lane.job.lattice.lattice_beam > 0;
  const float bound = lane.bound;
  const uint32_t of_mail = mail_of<kEmitting>(list);
  const Mail &mail = lane.mail[of_mail];
  block_each_candidate<Team>(lane, of_mail, 0, 0, [&](uint32_t place, const Candidate &candidate, bool there) {
    const uint32_t state = candidate.slot & kCandidateSlot, flag = candidate.slot & kCandidateEpsilon;
    const uint32_t slot = warp_enter(lane, table, state, there && candidate.cost <= bound, candidate.arc, candidate.cost);
    if (there) mail.candidates[place].slot = slot == kNoSlot ? kNoSlot : slot | flag;
    if (!kEmitting && makes_lattice)
      warp_add_epsilon_link(lane, slot != kNoSlot,
                            {there ? mail.details[place] : 0, slot, candidate.arc, candidate.from, candidate.cost});
  });
}

// Makes tokens of the candidates that won, and the list of those whose epsilon arcs are to be followed. What an epsilon arc won
// must be undercut to be replaced in the next round. Emitting arcs need no such mark, since an epsilon arc of the same cost has
// the higher index.
template <bool kEmitting, typename Team>
__device__ inline void block_resolve(Lane &lane, uint32_t list, const float *row) {
  const Table<Team> table(lane);
  const SearchTables graph = lane.job.graph;
  const uint32_t first_candidate = kEmitting ? 0 : lane.first_candidate, of_mail = mail_of<kEmitting>(list);
  const SearchToken *const tokens = lane.job.tokens[lane.job.current];
  uint32_t *const n_records = of_leader<Team>(&lane.job.n_records);
  const uint32_t n_candidates = min(lane.n_candidates[list], lane.max_candidates - first_candidate);
  const float bound = lane.bound;
  block_each_candidate<Team>(
      lane, of_mail, first_candidate, n_candidates, [&](uint32_t place, const Candidate &candidate, bool there) {
        const uint32_t slot = candidate.slot & kCandidateSlot;
        bool won = there && candidate.slot != kNoSlot && candidate.cost <= bound;
        won = won && table.key(slot) == make_key(candidate.cost, candidate.arc + 1);
        ArcBegins begin{0, 0}, end{0, 0};
        if (won && (candidate.slot & kCandidateEpsilon) != 0) {
          const uint32_t state = table.state(slot);
          begin = graph.begins[state], end = graph.begins[state + 1];
        }
        TraceRecord record{candidate.from, candidate.arc, 0.0f};
        if (kEmitting && won) {
          record.previous = tokens[candidate.from].record;
          record.acoustic_cost = Team::kIsCluster ? __uint_as_float(lane.mail[of_mail].details[place])
                                                  : acoustic_cost_of(log_likelihood_of(row, graph.arcs[candidate.arc]));
        }
        const uint32_t number = warp_append(n_records, won);
        if (won) {
          if (!kEmitting) *table.key_at(slot) = make_key(candidate.cost, 0);
          *table.record_at(slot) = number;
          if (number < lane.job.max_records) {
            lane.job.records[number] = record;
          } else {
            report_full(lane, kTraceFull);
          }
        }
        warp_add_item(lane, list ^ 1, begin.epsilon, end.epsilon - begin.epsilon, candidate.cost, slot);
      });
}

}  // namespace asr::cuda
