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

namespace asr {

__device__ inline float log_likelihood_of(const float *row, const SearchArc *arc) {
  return __ldg(row + (arc->label & kArcPdf));
}

}  // namespace asr

namespace asr::cuda {

// Lowers the least cost so far by the costs of a warp, and returns the bound by it.
__device__ inline float warp_lower_bound(SearchState &search, float cost, bool counts) {
  const uint32_t least = warp_min(counts ? ordered(cost) : 0xffffffffu);
  if (lane_number() == 0 && least < *const_cast<volatile uint32_t *>(&search.best)) atomicMin(&search.best, least);
  __syncwarp();
  return bound_of(cost_of(*const_cast<volatile uint32_t *>(&search.best)), search.job.beam.beam);
}

// The stretch of a list's arcs that a warp follows.
__device__ inline ArcStretch stretch_of(const SearchState &search, uint32_t list) {
  const auto n_items = static_cast<uint32_t>(search.list_size[list] >> 32),
             n_arcs = static_cast<uint32_t>(search.list_size[list]);
  return warp_stretch(search.list[list], n_items, n_arcs, blockDim.x);
}

// Remembers epsilon arcs for the lattice, for the lanes that want to.
__device__ inline void warp_add_epsilon_link(SearchState &search, bool wanted, const EpsilonLink &link) {
  const uint32_t index = warp_append(&search.n_epsilon_links, wanted);
  if (wanted && index < search.max_epsilon_links) search.epsilon_links[index] = link;
  if (wanted && index >= search.max_epsilon_links) report_full(search, kCandidatesFull);
}

// Enters a candidate into the table; returns its slot, or none if it cannot be of use.
template <typename Team>
__device__ inline uint32_t warp_enter(SearchState &search, const Table<Team> &table, uint32_t state, bool valid, uint32_t arc,
                                      float cost) {
  bool claimed = false;
  uint32_t slot = kNoSlot;
  if (valid) slot = table.find(state, &claimed);
  const bool keep = slot != kNoSlot && (table.lower(slot, make_key(cost, arc + 1)) || search.job.lattice.lattice_beam > 0);
  __syncwarp();
  table.warp_add_claims(slot, claimed);
  return keep ? slot : kNoSlot;
}

// Remembers a candidate whose slot is known, for the lanes that want to.
__device__ inline void warp_add_candidate(SearchState &search, uint32_t list, uint32_t first_candidate, bool wanted,
                                          const Candidate &candidate) {
  const uint32_t index = first_candidate + warp_append(&search.n_candidates[list], wanted);
  if (wanted && index < search.max_candidates) search.candidates[index] = candidate;
  if (wanted && index >= search.max_candidates) report_full(search, kCandidatesFull);
}

// Follows the arcs of a list's items into candidates. The loads of a step are under way while the one before enters the table.
template <bool kEmitting, typename Team>
__device__ inline void block_expand(SearchState &search, uint32_t list, const float *row) {
  const Table<Team> table(search);
  const SearchBeam beam = search.job.beam;
  const bool makes_lattice = search.job.lattice.lattice_beam > 0;
  const uint32_t first_candidate = kEmitting ? 0 : search.first_candidate;
  if (threadIdx.x == 0) search.n_arcs += static_cast<uint32_t>(search.list_size[list]);
  if (__any_sync(kAllLanes, search.is_full != 0)) return;  // the list may have holes
  const SearchArc *const arcs = search.job.graph.arcs;
  ArcStretch stretch = stretch_of(search, list);
  if (stretch_ends(&stretch)) return;
  ArcStep step = warp_next_step(&stretch, arcs);
  for (bool last = false; !last;) {
    ArcStep following = {};
    last = stretch_ends(&stretch);
    if (!last) following = warp_next_step(&stretch, arcs);
    const float log_likelihood = kEmitting && step.valid ? log_likelihood_of(row, &step.arc) : 0.0f;
    const float cost = step.valid ? arc_cost(&beam, kEmitting, log_likelihood, &step.arc, step.from_cost) : CUDART_INF_F;
    const float bound = kEmitting ? warp_lower_bound(search, cost, step.valid) : search.bound;
    const uint32_t flag = step.arc.label & kArcEpsilon;
    bool keep = step.valid && cost <= bound;
    if constexpr (Team::kIsCluster) {
      const uint32_t from = kEmitting || !keep ? step.token : *table.record_at(step.token);
      const uint32_t details = kEmitting ? __float_as_uint(acoustic_cost_of(log_likelihood)) : source_of<Team>(step.token);
      send<Team>(search, mail_of<kEmitting>(list), step.arc.next_state, keep,
                 {step.arc.next_state | flag, step.arc_index, cost, from}, details);
    } else {
      const uint32_t slot = warp_enter(search, table, step.arc.next_state, keep, step.arc_index, cost);
      keep = slot != kNoSlot;
      const uint32_t from = kEmitting || !keep ? step.token : *table.record_at(step.token);
      warp_add_candidate(search, list, first_candidate, keep, {slot | flag, step.arc_index, cost, from});
      if (!kEmitting && makes_lattice) warp_add_epsilon_link(search, keep, {step.token, slot, step.arc_index, from, cost});
    }
    if constexpr (Team::kIsCluster) {
      const uint32_t n_followed = __popc(__ballot_sync(kAllLanes, keep && flag != 0));
      if (lane_number() == 0 && n_followed > 0) atomicAdd(&search.n_followed[list], n_followed);
    }
    if (!kEmitting) warp_lower_bound(search, cost, keep);
    step = following;
  }
}

// Enters the mail of a block of a cluster into its table.
template <bool kEmitting, typename Team>
__device__ inline void block_enter_mail(SearchState &search, uint32_t list) {
  const Table<Team> table(search);
  const bool makes_lattice = search.job.lattice.lattice_beam > 0;
  const float bound = search.bound;
  const uint32_t of_mail = mail_of<kEmitting>(list);
  const Mail &mail = search.mail[of_mail];
  block_each_candidate<Team>(search, of_mail, 0, 0, [&](uint32_t index, const Candidate &candidate, bool valid) {
    const uint32_t state = candidate.slot & kCandidateSlot, flag = candidate.slot & kCandidateEpsilon;
    const uint32_t slot = warp_enter(search, table, state, valid && candidate.cost <= bound, candidate.arc, candidate.cost);
    if (valid) mail.candidates[index].slot = slot == kNoSlot ? kNoSlot : slot | flag;
    if (!kEmitting && makes_lattice)
      warp_add_epsilon_link(search, slot != kNoSlot,
                            {valid ? mail.details[index] : 0, slot, candidate.arc, candidate.from, candidate.cost});
  });
}

// Makes tokens of the candidates that won, and the list of those whose epsilon arcs are to be followed. What an epsilon arc won
// must be undercut to be replaced in the next round. Emitting arcs need no such mark, since an epsilon arc of the same cost has
// the higher index.
template <bool kEmitting, typename Team>
__device__ inline void block_resolve(SearchState &search, uint32_t list, const float *row) {
  const Table<Team> table(search);
  const SearchTables graph = search.job.graph;
  const uint32_t first_candidate = kEmitting ? 0 : search.first_candidate, of_mail = mail_of<kEmitting>(list);
  const SearchToken *const tokens = search.job.tokens[search.job.current];
  uint32_t *const n_records = of_leader<Team>(&search.job.n_records);
  const uint32_t n_candidates = min(search.n_candidates[list], search.max_candidates - first_candidate);
  const float bound = search.bound;
  block_each_candidate<Team>(
      search, of_mail, first_candidate, n_candidates, [&](uint32_t index, const Candidate &candidate, bool valid) {
        const uint32_t slot = candidate.slot & kCandidateSlot;
        bool won = valid && candidate.slot != kNoSlot && candidate.cost <= bound;
        won = won && table.key(slot) == make_key(candidate.cost, candidate.arc + 1);
        ArcBegins begin{0, 0}, end{0, 0};
        if (won && (candidate.slot & kCandidateEpsilon) != 0) {
          const uint32_t state = table.state(slot);
          begin = graph.begins[state], end = graph.begins[state + 1];
        }
        TraceRecord record{candidate.from, candidate.arc, 0.0f};
        if (kEmitting && won) {
          record.previous = tokens[candidate.from].record;
          record.acoustic_cost = Team::kIsCluster ? __uint_as_float(search.mail[of_mail].details[index])
                                                  : acoustic_cost_of(log_likelihood_of(row, &graph.arcs[candidate.arc]));
        }
        const uint32_t number = warp_append(n_records, won);
        if (won) {
          if (!kEmitting) *table.key_at(slot) = make_key(candidate.cost, 0);
          *table.record_at(slot) = number;
          if (number < search.job.max_records) {
            search.job.records[number] = record;
          } else {
            report_full(search, kTraceFull);
          }
        }
        warp_add_item(search, list ^ 1, begin.epsilon, end.epsilon - begin.epsilon, candidate.cost, slot);
      });
}

}  // namespace asr::cuda
