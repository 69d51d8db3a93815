// SPDX-License-Identifier: Apache-2.0
// The parts of a frame that a cluster of blocks does its own way: overloads of functions of the same names. An arc's candidate
// is sent to the block that owns its state. A block keeps its tokens and their arcs in shared memory from frame to frame.
#pragma once

#include "plugins/cuda/search/search_links.cuh"
#include "plugins/cuda/search/search_mail.cuh"
#include "plugins/cuda/search/search_reduce.cuh"
#include "plugins/cuda/search/search_select.cuh"

namespace asr::gpu {

using ClusterTable = Table<ClusterTeam>;

// ---- selection -------------------------------------------------------------------------------------------------------------

// Loads the tokens if the block has lost them.
__device__ inline void block_find_own_tokens(const ClusterTable *table) {
  SearchState &search = table->search;
  if (search.has_own_tokens) return;
  const SearchToken *const tokens = search.job.tokens[search.job.current];
  if (threadIdx.x == 0) search.n_own_tokens = 0;
  __syncthreads();
  for (uint32_t i = threadIdx.x; i < search.job.n_tokens; i += blockDim.x) {
    const SearchToken token = tokens[i];
    if (ClusterTeam::owner_of(token.state) != ClusterTeam::rank()) continue;
    add_own_token(search, atomicAdd(&search.n_own_tokens, 1u), with_arcs(search.job.graph, {token.state, token.cost, i, 0, 0}));
  }
  __syncthreads();
  if (threadIdx.x == 0) search.has_own_tokens = true;
}
__device__ inline uint32_t n_own_tokens(const ClusterTable *table) {
  return min(table->search.n_own_tokens, table->search.max_own_tokens);
}
__device__ inline OwnToken own_token(const ClusterTable *table, uint32_t i) { return table->search.own_tokens[i]; }
// A cluster needs no first bound: it enters nothing into a table before the bound is known.
__device__ inline void need_arcs(const ClusterTable *, OwnToken *, const float *) {}

// A block adds up its share of the bins, eight threads each, and sends it to the others.
__device__ inline const uint32_t *team_add_bins(const ClusterTable *table) {
  SearchState &search = table->search;
  constexpr uint32_t kAdders = 8, kBinsOfWarp = kWarp / kAdders;
  const uint32_t n_blocks = ClusterTeam::size();
  const uint32_t n_bins = (kBins / kBinsOfWarp + n_blocks - 1) / n_blocks * kBinsOfWarp;
  const uint32_t adder = threadIdx.x % kAdders;
  ClusterTeam::sync();
  for (uint32_t b = threadIdx.x / kAdders; b < n_bins; b += blockDim.x / kAdders) {
    const uint32_t bin = ClusterTeam::rank() * n_bins + b;
    uint32_t n = 0;
    for (uint32_t rank = adder; rank < n_blocks && bin < kBins; rank += kAdders)
      n += *ClusterTeam::of_block(&search.histogram[bin], rank);
    for (uint32_t d = 1; d < kAdders; d *= 2) n += __shfl_xor_sync(kAllLanes, n, d);
    for (uint32_t rank = adder; rank < n_blocks && bin < kBins; rank += kAdders)
      *ClusterTeam::of_block(&search.team_histogram[bin], rank) = n;
  }
  ClusterTeam::sync();
  return search.team_histogram;
}

// Copies the keys that the leading block has collected.
__device__ inline const SearchKey *team_share_few_keys(const ClusterTable *table, uint32_t n) {
  SearchState &search = table->search;
  ClusterTeam::sync();
  const SearchKey *const collected = of_leader<ClusterTeam>(search.few_keys);
  if (ClusterTeam::rank() != 0 && threadIdx.x < n) search.few_keys[threadIdx.x] = collected[threadIdx.x];
  __syncthreads();
  return search.few_keys;
}

// ---- arcs and candidates ---------------------------------------------------------------------------------------------------

// The owner of the state enters the arc into its table, once it has got it by mail (block_settle). Its list is 1 in the first
// round of epsilon arcs, then 0 and 1 in turns.
__device__ inline bool warp_offer(const ClusterTable *table, const FollowedArcs *followed, bool emitting, const ArcStep *step,
                                  float cost, float acoustic_cost, bool wanted) {
  SearchState &search = table->search;
  const auto list = static_cast<uint32_t>(followed->n_candidates - search.n_candidates);
  const uint32_t flag = step->arc.label & kArcEpsilon;
  const uint32_t from = emitting || !wanted ? step->token : *table->record_at(step->token);
  const uint32_t details = emitting ? __float_as_uint(acoustic_cost) : source_of(step->token);
  send(search, mail_of(emitting, list), step->arc.next_state, wanted,
       {step->arc.next_state | flag, step->arc_index, cost, from}, details);
  const uint32_t n_followed = __popc(__ballot_sync(kAllLanes, wanted && flag != 0));
  if (lane_number() == 0 && n_followed > 0) atomicAdd(&search.n_followed[list], n_followed);
  return wanted;
}

// The acoustic cost came by mail.
__device__ inline float candidate_acoustic_cost(const ClusterTable *table, const FrameSteps *, uint32_t index, uint32_t) {
  return __uint_as_float(table->search.mail[0].details[index]);
}

// The step's mail has the candidates.
template <typename Action>
__device__ inline void block_each_candidate(const ClusterTable *table, bool emitting, uint32_t list, uint32_t, uint32_t,
                                            const Action &action) {
  const Mail &mail = table->search.mail[mail_of(emitting, list)];
  const MailIndex index = MailIndex::of(mail);
  block_each(
      mail.candidates, index.n(), [&](uint32_t i) { return index.offset(i); }, action);
}

// Enters a block's mail into its table.
__device__ __forceinline__ void block_settle(const ClusterTable *table, bool emitting, uint32_t list) {
  SearchState &search = table->search;
  const bool keeps_links = !emitting && has_lattice(table);
  const float bound = search.bound;
  const Mail &mail = search.mail[mail_of(emitting, list)];
  block_each_candidate(table, emitting, list, 0, 0, [&](uint32_t index, const Candidate &candidate, bool valid) {
    const uint32_t state = candidate.slot & kCandidateSlot, flag = candidate.slot & kCandidateEpsilon;
    const bool wanted = valid && candidate.cost <= bound;
    const uint32_t slot = warp_enter(table, emitting, state, wanted, candidate.arc, candidate.cost);
    if (valid) mail.candidates[index].slot = slot == kNoSlot ? kNoSlot : slot | flag;
    if (!keeps_links) return;
    const EpsilonLink link{valid ? mail.details[index] : 0, slot, candidate.arc, candidate.from, candidate.cost};
    warp_add_epsilon_link(table, &search.n_epsilon_links, slot != kNoSlot, &link);
  });
  __syncthreads();
}

// ---- tokens and links ------------------------------------------------------------------------------------------------------

// Keeps the block's tokens with their arcs for the next frame, too.
__device__ inline uint32_t warp_number_token(const ClusterTable *table, const SearchToken *token, bool keep) {
  SearchState &search = table->search;
  OwnToken own_token = with_arcs(search.job.graph, {token->state, token->cost, 0, 0, 0});  // is loading meanwhile
  const uint32_t own = warp_append(&search.n_own_tokens, keep);
  own_token.number = warp_append(&frame_counts(table)->n_next, keep);
  if (keep) add_own_token(search, own, own_token);
  return own_token.number;
}

__device__ inline uint32_t source_record(const ClusterTable *table, uint32_t source) {
  return at_source(table->search.record_of, source);
}
__device__ inline uint32_t source_number(const ClusterTable *table, uint32_t source) {
  return at_source(table->search.number_of, source);
}

// ---- all blocks together ---------------------------------------------------------------------------------------------------

// All blocks wait for each other, publish the number of candidates that they sent by mail, and get the same totals.
__device__ inline StepTotals team_all_reduce(const ClusterTable *table, bool emitting, uint32_t list) {
  SearchState &search = table->search;
  const uint32_t turn = search.turn, rank = ClusterTeam::rank(), mail = list == kNoList ? kMails : mail_of(emitting, list);
  if (list == kNoList) list = 0;
  __syncthreads();
  if (threadIdx.x < ClusterTeam::size()) {
    *ClusterTeam::of_block(&search.step_totals[turn][rank], threadIdx.x) = {search.overflow, search.n_followed[list],
                                                                            search.n_used, search.best};
    if (mail < kMails) {
      uint32_t &n_sent = search.n_sent[threadIdx.x];
      *ClusterTeam::of_block(&search.mail[mail].n_received[rank], threadIdx.x) =
          min(n_sent, search.mail[mail].box_size(threadIdx.x == rank));
      n_sent = 0;
    }
  }
  if (threadIdx.x == 0) {
    search.turn = turn ^ 1;
    // Every block has read the mails that nobody sends to in this step. A frame may end with either mail of epsilon arcs.
    for (uint32_t other = mail == kMails ? 0 : 1; other < kMails; ++other) {
      if (other != mail && mail != 0) search.mail[other].n_spilled = 0;
    }
  }
  ClusterTeam::sync();
  StepTotals one{0, 0, 0, 0xffffffffu};
  if (lane_number() < ClusterTeam::size()) one = search.step_totals[turn][lane_number()];
  return {warp_or(one.overflow), warp_sum(one.n_followed), warp_sum(one.n_used), warp_min(one.best)};
}

// Returns true if candidates of any block led to states with epsilon arcs.
__device__ inline bool has_arcs_left(const ClusterTable *, uint32_t, const StepTotals *totals) {
  return totals->n_followed != 0;
}

// Runs an action on the leading block only, once the others have read their data from the job and from memory. The
// others then copy the job.
template <typename Action>
__device__ inline void team_run_on_leader(ClusterTeam, SearchState &search, const Action &action) {
  ClusterTeam::sync();
  if (ClusterTeam::rank() == 0) action();
  if (threadIdx.x == 0) search.has_own_tokens = false;  // their memory may have been used
  ClusterTeam::sync();
  if (ClusterTeam::rank() != 0) {
    const auto *const from = reinterpret_cast<const uint32_t *>(&of_leader<ClusterTeam>(&search)->job);
    auto *const to = reinterpret_cast<uint32_t *>(&search.job);
    for (uint32_t i = threadIdx.x; i < sizeof(SearchJob) / sizeof(uint32_t); i += blockDim.x) to[i] = from[i];
  }
  ClusterTeam::sync();
  if (threadIdx.x == 0) note_newest_links(search);
}

}  // namespace asr::gpu
