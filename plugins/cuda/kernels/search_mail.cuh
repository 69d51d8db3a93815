// SPDX-License-Identifier: Apache-2.0
// Candidates on their way from the block that follows an arc to the block that owns its next state. Every block has a box for
// each other, so sending is a write into the other's shared memory and waits for nothing. The next all-reduce publishes the
// number sent. A single block keeps its candidates where it made them.
#pragma once

#include "plugins/cuda/kernels/search_state.cuh"

namespace asr::cuda {

// Returns the mail that receives the candidates of a step.
__device__ inline uint32_t mail_of(bool emitting, uint32_t list) { return emitting ? 0 : list == 1 ? 1 : 2; }

// A slot and its block in one number, and the value of that slot.
constexpr uint32_t kSourceBits = 16;
static_assert(ClusterShare::kSlots <= 1u << kSourceBits);
template <typename Team>
__device__ inline uint32_t source_of(uint32_t slot) {
  return Team::kIsCluster ? Team::rank() << kSourceBits | slot : slot;
}
template <typename Team>
__device__ inline uint32_t at_source(uint32_t *by_slot, uint32_t source) {
  if constexpr (!Team::kIsCluster) return by_slot[source];
  return *Team::of_block(by_slot + (source & ((1u << kSourceBits) - 1)), source >> kSourceBits);
}

// Sends a candidate, its slot to be found by the owner of `state`, for the lanes that want to.
template <typename Team>
__device__ inline void send(SearchState &search, uint32_t to_mail, uint32_t state, bool wanted, const Candidate &candidate,
                            uint32_t details) {
  if (!wanted) return;
  const Mail &mail = search.mail[to_mail];
  const uint32_t owner = owner_of<Team>(state), n = atomicAdd(&search.n_sent[owner], 1u);
  const bool is_own = owner == Team::rank();
  uint32_t offset = mail.box(Team::rank(), is_own) + n;
  if (n >= mail.box_size(is_own)) {
    const uint32_t n_spilled = atomicAdd(Team::of_block(&search.mail[to_mail].n_spilled, owner), 1u);
    if (n_spilled >= mail.quarter) return report_full(search, kCandidatesFull);
    offset = mail.spill() + n_spilled;
  }
  *Team::of_block(mail.candidates + offset, owner) = candidate;
  *Team::of_block(mail.details + offset, owner) = details;
}

// Numbers the candidates of a mail through: its boxes one after the other, the block's own, and what was spilled. Each lane
// knows of a box; the lanes of a warp ask together.
class MailIndex {
 public:
  template <typename Team>
  __device__ static MailIndex of(const Mail &mail) {
    constexpr uint32_t kOwn = kMaxClusterSize, kSpill = kMaxClusterSize + 1;
    const uint32_t box = lane_number(), rank = Team::rank();
    uint32_t n = 0, begin = mail.box(box, box == kOwn);
    if (box < Team::size() && box != rank) n = mail.n_received[box];
    if (box == kOwn) n = mail.n_received[rank];
    if (box == kSpill) n = min(mail.n_spilled, mail.quarter), begin = mail.spill();
    MailIndex index;
    index.end_ = warp_scan(n);
    index.shift_ = begin - (index.end_ - n);
    return index;
  }
  __device__ uint32_t n() const { return __shfl_sync(kAllLanes, end_, kWarp - 1); }
  // Returns the offset of candidate i.
  __device__ uint32_t offset(uint32_t i) const {
    uint32_t box = 0;
#pragma unroll
    for (uint32_t step = kWarp / 2; step > 0; step /= 2) {
      if (__shfl_sync(kAllLanes, end_, box + step - 1) <= i) box += step;
    }
    return i + __shfl_sync(kAllLanes, shift_, box);
  }

 private:
  uint32_t end_ = 0, shift_ = 0;  // of the lane's box: the first number after it, and its first offset less its first number
};

// Calls action(offset, candidate, valid) for all candidates of a step, by whole warps; `valid` is false for lanes without one.
// In a cluster they are those of a mail, otherwise the n_candidates from first_candidate on. A candidate is loaded while the
// one before is processed.
template <typename Team, typename Action>
__device__ inline void block_each_candidate(const SearchState &search, uint32_t of_mail, uint32_t first_candidate,
                                            uint32_t n_candidates, const Action &action) {
  MailIndex index;
  if constexpr (Team::kIsCluster) {
    index = MailIndex::of<Team>(search.mail[of_mail]);
    n_candidates = index.n();
  }
  const auto offset_of = [&](uint32_t i) { return Team::kIsCluster ? index.offset(i) : first_candidate + i; };
  const Candidate *const candidates = Team::kIsCluster ? search.mail[of_mail].candidates : search.candidates;
  const uint32_t begin = warp_number() * kWarp;
  if (begin >= n_candidates) return;
  uint32_t following_offset = offset_of(begin + lane_number());
  Candidate following{0, 0, 0, 0};
  if (begin + lane_number() < n_candidates) following = candidates[following_offset];
  for (uint32_t first = begin; first < n_candidates; first += blockDim.x) {
    const uint32_t i = first + lane_number(), offset = following_offset;
    const Candidate candidate = following;
    if (first + blockDim.x < n_candidates) following_offset = offset_of(i + blockDim.x);
    if (i + blockDim.x < n_candidates) following = candidates[following_offset];
    action(offset, candidate, i < n_candidates);
  }
}

}  // namespace asr::cuda
