// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame. The arcs of all items of a list are numbered through and shared out evenly: a warp takes a stretch
// of them, finds its first item, and from then on 32 arcs at a time: as every item has an arc, the items that
// begin among those 32 are the next 32 at most, one load and one mask tell each lane its own. An arc within the beam so far
// lowers the key of its state's slot, and if it did, or if there is to be a lattice, is remembered as a candidate; in a
// cluster it is sent to the owner of the state, who does so. After a barrier the candidate that is the least of its state has
// won, writes its path's record, and goes on the next list if its state has epsilon arcs.
#pragma once

#include "plugins/common/kernels/search_costs.h"
#include "plugins/cuda/kernels/search_mail.cuh"
#include "plugins/cuda/kernels/search_table.cuh"

namespace asr::cuda {

// The last item that begins at or before an arc: 32 places are looked at at a time, by the lanes of a warp.
__device__ inline uint32_t warp_item_of(const ExpandItem *items, uint32_t n_items, uint32_t arc) {
  uint32_t low = 0, n = n_items;  // it is one of n from `low` on
  while (n > 1) {
    const uint32_t step = (n + kWarp - 1) / kWarp, place = lane_number() * step;
    const bool at_or_before = place < n && items[low + place].offset <= arc;
    const uint32_t last = __popc(__ballot_sync(kAllLanes, at_or_before)) - 1;
    low += last * step;
    n = min(step, n - last * step);
  }
  return low;
}

__device__ inline float log_likelihood_of(const float *row, const SearchArc &arc) {
  return __ldg(row + (arc.label & kArcPdf));
}

// Lowers the least cost so far by the costs of a warp, and returns the bound by it.
__device__ inline float warp_lower_bound(Lane &lane, float cost, bool counts) {
  const uint32_t least = warp_min(counts ? ordered(cost) : 0xffffffffu);
  if (lane_number() == 0 && least < *const_cast<volatile uint32_t *>(&lane.best)) atomicMin(&lane.best, least);
  __syncwarp();
  return bound_of(cost_of(*const_cast<volatile uint32_t *>(&lane.best)), lane.job.beam.beam);
}

// The arcs of a list's items, 32 at a time: a warp's stretch of them.
class ArcStretch {
 public:
  // An arc that a lane has to follow, its token and the token's cost.
  struct Step {
    bool there = false;
    uint32_t arc_index = 0, token = 0;
    float from_cost = 0;
    SearchArc arc{0, 0, 0, 0};
  };

  __device__ ArcStretch(const Lane &lane, uint32_t list)
      : items_(lane.list[list]), arcs_(lane.job.graph.arcs), n_items_(static_cast<uint32_t>(lane.list_size[list] >> 32)) {
    const auto n_arcs = static_cast<uint32_t>(lane.list_size[list]);
    const uint32_t n_steps = (n_arcs + blockDim.x - 1) / blockDim.x;  // of each warp
    base_ = warp_number() * n_steps * kWarp;
    end_ = min(n_arcs, base_ + n_steps * kWarp);
    if (base_ < end_) item_ = warp_item_of(items_, n_items_, base_);
  }

  __device__ bool at_end() const { return base_ >= end_; }

  // The step of each lane; then goes on by 32.
  __device__ Step next() {
    Step step;
    const uint32_t following = item_ + 1 + lane_number();
    const uint32_t starts = following < n_items_ ? items_[following].offset - base_ : kWarp;
    const uint32_t mask = warp_or(starts < kWarp ? 1u << starts : 0u);
    const uint32_t own = item_ + __popc(mask & ((2u << lane_number()) - 1));
    step.there = base_ + lane_number() < end_;
    if (step.there) {
      const ExpandItem from = items_[own];
      step.arc_index = from.first_arc + (base_ + lane_number() - from.offset);
      step.arc = arcs_[step.arc_index];
      step.token = from.token;
      step.from_cost = from.cost;
    }
    item_ += __popc(mask);
    base_ += kWarp;
    return step;
  }

 private:
  const ExpandItem *const items_;
  const SearchArc *const arcs_;
  const uint32_t n_items_;
  uint32_t base_, end_, item_ = 0;
};

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
  ArcStretch stretch(lane, list);
  if (stretch.at_end()) return;
  ArcStretch::Step step = stretch.next();
  for (bool last = false; !last;) {
    ArcStretch::Step following;
    last = stretch.at_end();
    if (!last) following = stretch.next();
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
