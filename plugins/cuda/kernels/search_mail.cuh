// SPDX-License-Identifier: Apache-2.0
// Candidates on their way from the block that follows an arc to the block that owns the state it leads to. Every block has a
// box for each other, so that sending is a write into the other's shared memory and waits for nothing; how much is there is
// told at the next stand. A block by itself keeps its candidates where it has made them.
#pragma once

#include "plugins/cuda/kernels/search_lane.cuh"

namespace asr::cuda {

// In which mail a step's candidates are.
template <bool kEmitting>
__device__ inline uint32_t mail_of(uint32_t list) {
  return kEmitting ? 0 : list == 1 ? 1 : 2;
}

// A slot as others name it, and what is there.
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
__device__ inline void send(Lane &lane, uint32_t to_mail, uint32_t state, bool wanted, const Candidate &candidate,
                            uint32_t details) {
  if (!wanted) return;
  const Mail &mail = lane.mail[to_mail];
  const uint32_t owner = owner_of<Team>(state), n = atomicAdd(&lane.n_sent[owner], 1u);
  const bool is_own = owner == Team::rank();
  uint32_t place = mail.box(Team::rank(), is_own) + n;
  if (n >= mail.box_size(is_own)) {
    const uint32_t n_spilled = atomicAdd(Team::of_block(&lane.mail[to_mail].n_spilled, owner), 1u);
    if (n_spilled >= mail.quarter) return report_full(lane, kCandidatesFull);
    place = mail.spill() + n_spilled;
  }
  *Team::of_block(mail.candidates + place, owner) = candidate;
  *Team::of_block(mail.details + place, owner) = details;
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
  // Where candidate i is.
  __device__ uint32_t place(uint32_t i) const {
    uint32_t box = 0;
#pragma unroll
    for (uint32_t step = kWarp / 2; step > 0; step /= 2) {
      if (__shfl_sync(kAllLanes, end_, box + step - 1) <= i) box += step;
    }
    return i + __shfl_sync(kAllLanes, shift_, box);
  }

 private:
  uint32_t end_ = 0, shift_ = 0;  // of the lane's box: the first number after it, and its first place less its first number
};

// Calls action(place, candidate, there) for all candidates of a step, by whole warps; `there` is false for lanes without one.
// In a cluster they are those of a mail, otherwise the n_candidates from first_candidate on. A candidate is loaded while the
// one before is dealt with.
template <typename Team, typename Action>
__device__ inline void block_each_candidate(const Lane &lane, uint32_t of_mail, uint32_t first_candidate, uint32_t n_candidates,
                                            const Action &action) {
  MailIndex index;
  if constexpr (Team::kIsCluster) {
    index = MailIndex::of<Team>(lane.mail[of_mail]);
    n_candidates = index.n();
  }
  const auto place_of = [&](uint32_t i) { return Team::kIsCluster ? index.place(i) : first_candidate + i; };
  const Candidate *const candidates = Team::kIsCluster ? lane.mail[of_mail].candidates : lane.candidates;
  const uint32_t begin = warp_number() * kWarp;
  if (begin >= n_candidates) return;
  uint32_t following_place = place_of(begin + lane_number());
  Candidate following{0, 0, 0, 0};
  if (begin + lane_number() < n_candidates) following = candidates[following_place];
  for (uint32_t first = begin; first < n_candidates; first += blockDim.x) {
    const uint32_t i = first + lane_number(), place = following_place;
    const Candidate candidate = following;
    if (first + blockDim.x < n_candidates) following_place = place_of(i + blockDim.x);
    if (i + blockDim.x < n_candidates) following = candidates[following_place];
    action(place, candidate, i < n_candidates);
  }
}

}  // namespace asr::cuda
