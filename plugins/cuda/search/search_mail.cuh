// SPDX-License-Identifier: Apache-2.0
// Candidates on their way from the block that follows an arc to the block that owns its next state. Every block has a box for
// each other, so sending is a write into the other's shared memory and waits for nothing. The next all-reduce publishes the
// number sent.
#pragma once

#include "plugins/cuda/search/search_state.cuh"

namespace asr::gpu {

// Returns the mail that receives the candidates of a step.
__device__ inline uint32_t mail_of(bool emitting, uint32_t list) { return emitting ? 0 : list == 1 ? 1 : 2; }

// A slot and its block in one number, and the value of that slot.
constexpr uint32_t kSourceBits = 16;
static_assert(ClusterShare::kSlots <= 1u << kSourceBits);
__device__ inline uint32_t source_of(uint32_t slot) { return ClusterTeam::rank() << kSourceBits | slot; }
__device__ inline uint32_t at_source(uint32_t *by_slot, uint32_t source) {
  return *ClusterTeam::of_block(by_slot + (source & ((1u << kSourceBits) - 1)), source >> kSourceBits);
}

// Sends the candidates of lanes with `wanted` to the block that owns `state`, which finds their slots.
__device__ inline void send(SearchState &search, uint32_t to_mail, uint32_t state, bool wanted, const Candidate &candidate,
                            uint32_t details) {
  if (!wanted) return;
  const Mail &mail = search.mail[to_mail];
  const uint32_t owner = ClusterTeam::owner_of(state), n = atomicAdd(&search.n_sent[owner], 1u);
  const bool is_own = owner == ClusterTeam::rank();
  uint32_t offset = mail.box(ClusterTeam::rank(), is_own) + n;
  if (n >= mail.box_size(is_own)) {
    const uint32_t n_spilled = atomicAdd(ClusterTeam::of_block(&search.mail[to_mail].n_spilled, owner), 1u);
    if (n_spilled >= mail.quarter) return report_full(search, kCandidatesFull);
    offset = mail.spill() + n_spilled;
  }
  *ClusterTeam::of_block(mail.candidates + offset, owner) = candidate;
  *ClusterTeam::of_block(mail.details + offset, owner) = details;
}

// Numbers the candidates of a mail: its boxes one after the other, the block's own, and the spill. Each lane knows one
// box; the lanes of a warp ask together.
class MailIndex {
 public:
  __device__ static MailIndex of(const Mail &mail) {
    constexpr uint32_t kOwn = kMaxClusterSize, kSpill = kMaxClusterSize + 1;
    const uint32_t box = lane_number(), rank = ClusterTeam::rank();
    uint32_t n = 0, begin = mail.box(box, box == kOwn);
    if (box < ClusterTeam::size() && box != rank) n = mail.n_received[box];
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
  uint32_t end_ = 0, shift_ = 0;  // the lane's box: first number after it, and first offset less first number
};

}  // namespace asr::gpu
