// SPDX-License-Identifier: Apache-2.0
// What a block knows of the channel it advances, in shared memory, and where its lists lie.
#pragma once

#include "plugins/cuda/kernels/search.h"
#include "plugins/cuda/kernels/search_path.cuh"
#include "plugins/cuda/kernels/search_team.cuh"

namespace asr::cuda {

constexpr uint32_t kFewKeys = 128;
constexpr unsigned long long kNoKey = ~0ull;

// What a block tells the others of its team at a stand (search_stand.cuh), or what all of them told together.
struct alignas(16) Standing {
  uint32_t overflow;    // what was too small
  uint32_t n_followed;  // candidates that lead to states with epsilon arcs
  uint32_t n_used;      // slots
  uint32_t best;        // ordered cost so far
};

// A token of the last frame that the block owns, and its emitting arcs.
struct OwnToken {
  uint32_t state;
  float cost;
  uint32_t number, first_arc, n_arcs;
};

// What blocks have sent to this one in a step. Of its places a quarter are for what the block sends to itself, which most arcs
// from a state to itself are; half are shared out among the other blocks, n_places each; and a quarter take what did not fit
// there. Emitting arcs come into mail 0, where they stay for the links of the frame, epsilon arcs into mail 1 and 2 in turns:
// who has been told all of a step may send of the next one while others still read.
constexpr uint32_t kMails = 3;
struct Mail {
  Candidate *candidates;
  uint32_t *details;  // with each: of an emitting arc its acoustic cost's bits, of an epsilon arc where it comes from
  uint32_t quarter, n_places;
  uint32_t n_received[kMaxClusterSize], n_spilled;

  __device__ void lay_out(Candidate *of_candidates, uint32_t *of_details, uint32_t capacity, uint32_t n_senders) {
    candidates = of_candidates, details = of_details;
    quarter = capacity / 4, n_places = 2 * quarter / n_senders;
    n_spilled = 0;
    for (uint32_t &n : n_received) n = 0;  // the beginning, which follows no emitting arcs, has links of none
  }
  __device__ uint32_t box_size(bool is_own) const { return is_own ? quarter : n_places; }
  __device__ uint32_t box(uint32_t sender, bool is_own) const { return is_own ? 0 : quarter + sender * n_places; }
  __device__ uint32_t spill() const { return 3 * quarter; }
};

// What the threads know together on their way back through a lattice (search_walk_back.cuh).
struct WalkState {
  uint32_t most_tokens;   // of a frame
  SearchFrame frames[4];  // frame t at t % 4
  uint32_t n_left[2][3];  // of frame t, at t % 2: its tokens, emitting links, and epsilon links
};

// Places given out in a frame, by all blocks of a team.
struct FrameCounts {
  uint32_t n_next, n_within;  // tokens, those of them within the beam
  uint32_t n_links[2];        // emitting ones, epsilon ones
};

struct Lane {
  SearchJob job;         // every block of a cluster has its own, all the same
  uint32_t small_rooms;  // SearchScratch's
  uint32_t max_items, max_claims, max_candidates, max_epsilon_links;
  uint32_t n_shared_slots;
  uint32_t n_wide_slots;
  unsigned long long *wide_keys;  // [n_wide_slots]
  uint32_t *wide_states;          // [n_wide_slots]
  uint32_t *record_of;            // by slot, of either table
  uint32_t *number_of;            // by slot, when tokens have numbers
  uint32_t *used;                 // [max_claims], the slots that the block claimed
  ExpandItem *list[2];            // [max_items] each, the one that is followed and the one that is made
  Candidate *candidates;
  EpsilonLink *epsilon_links;
  // Free between frames: of global memory, and of shared memory so many times three numbers.
  uint32_t *spare[2], *large_spare;  // [4 * n_spare] each, [4 * n_large_spare]
  uint32_t n_spare, n_large_spare, n_shared_extras;

  unsigned long long list_size[2];  // items << 32 | arcs
  uint32_t n_candidates[2];         // with the list of that number
  uint32_t n_followed[2];           // of the candidates of that list, those with epsilon arcs after them
  uint32_t first_candidate;         // of the present list; in lattices those of emitting arcs stay before it
  uint32_t n_used, n_epsilon_links;
  uint32_t best;  // ordered, so far
  float bound;
  uint32_t n_records_before;
  uint32_t overflow;
  volatile uint32_t is_full;                // a thread could not go on, the others need not
  unsigned long long n_active, n_arcs;      // of the frame, by this block
  unsigned long long all_active, all_arcs;  // of the job's frames

  // Of the frame that follows tokens[i] at i. Those of the leading block count, as does its job.n_records.
  FrameCounts counts[2];

  uint32_t n_newest_links;  // of the frame before, while it is not pruned
  WalkState walk;
  PathFinding path;

  Standing told[2][kMaxClusterSize];  // by each block of the team, in turns
  uint32_t turn;

  // Of a block in a cluster.
  OwnToken *own_tokens;  // [max_own_tokens]
  uint32_t max_own_tokens, n_own_tokens;
  bool knows_tokens;  // or they have to be loaded
  Mail mail[kMails];
  uint32_t n_sent[kMaxClusterSize];  // since the last stand, to each block

  unsigned long long threshold;           // of the keys of active tokens, where it is not the beam's
  uint32_t *histogram, *team_histogram;   // [kBins] each
  unsigned long long few_keys[kFewKeys];  // those of a bin, if they are few
  uint32_t n_few;
  uint32_t bin, n_in_bin, n_left;
  uint32_t sums[kMaxWarps];
};

// A part of the scratch memory that no other block has; one thread of a block asks. There are as many as blocks run beside each
// other, so that the search begins where it most likely ends.
__device__ inline uint32_t claim_scratch(const SearchScratch &scratch) {
  uint32_t multiprocessor;
  asm("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
  uint32_t part = multiprocessor % scratch.n_parts;
  while (atomicCAS(&scratch.busy[part], 0u, 1u) != 0) part = part + 1 < scratch.n_parts ? part + 1 : 0;
  __threadfence();
  return part;
}
// After the block's barrier.
__device__ inline void release_scratch(const SearchScratch &scratch, uint32_t part) {
  __threadfence();
  atomicExch(&scratch.busy[part], 0u);
}

__device__ inline void set_scratch(Lane &lane, const SearchScratch &scratch, uint32_t part) {
  const uint32_t n = scratch.max_tokens, n_candidates = scratch.max_candidates;
  uint4 *const memory = scratch.memory + part * search_scratch_size(n, n_candidates);
  lane.turn = 0;
  for (uint32_t &n_sent : lane.n_sent) n_sent = 0;
  lane.small_rooms = scratch.small_rooms;
  lane.n_shared_slots = scratch.n_shared_slots;
  lane.n_wide_slots = 2 * n;
  lane.wide_keys = reinterpret_cast<unsigned long long *>(memory);
  lane.wide_states = reinterpret_cast<uint32_t *>(memory + n);
  lane.n_spare = n;
  lane.spare[0] = reinterpret_cast<uint32_t *>(memory + 2 * n);
  lane.spare[1] = reinterpret_cast<uint32_t *>(memory + 3 * n);
  lane.n_large_spare = n_candidates;
  lane.large_spare = reinterpret_cast<uint32_t *>(memory + 4 * n);
}

// A block that advances a channel by itself has its lists in its scratch memory.
__device__ inline void set_lists(Lane &lane) {
  const uint32_t n = lane.n_spare, n_candidates = lane.n_large_spare;
  lane.record_of = lane.wide_states + lane.n_wide_slots;
  lane.max_items = lane.max_claims = n;
  lane.list[0] = reinterpret_cast<ExpandItem *>(lane.spare[0]);
  lane.list[1] = reinterpret_cast<ExpandItem *>(lane.spare[1]);
  lane.max_candidates = n_candidates;
  lane.candidates = reinterpret_cast<Candidate *>(lane.large_spare);
  lane.max_epsilon_links = n_candidates / 4;
  lane.epsilon_links = reinterpret_cast<EpsilonLink *>(lane.candidates + n_candidates);
  lane.number_of = reinterpret_cast<uint32_t *>(lane.epsilon_links + lane.max_epsilon_links);
  lane.used = lane.number_of + lane.n_wide_slots;
  lane.n_shared_extras = lane.n_shared_slots;
}

extern __shared__ __align__(16) unsigned long long shared_table[];  // keys, then states

// What a block of a cluster has in its shared memory. Its share of a frame is a small one; a frame of which more falls to a
// block is done by the leading block alone. For tests lane.small_rooms makes the part in use smaller.
struct ClusterShare {
  static constexpr uint32_t kLeastRoom = 32;
  static constexpr uint32_t kSlots = 2048, kClaims = kSlots / 8 * 7, kTokens = 2048, kItems = 1536;
  static constexpr uint32_t kEmittingMail = 4096, kEpsilonMail = 768;

  unsigned long long keys[kSlots];
  uint32_t states[kSlots], records[kSlots], numbers[kSlots], used[kClaims];
  ExpandItem items[kItems];  // list 0
  union {
    OwnToken tokens[kTokens];  // from the end of a frame until list 0 is made of them
    ExpandItem other_items[kItems];
  };
  Candidate emitting_mail[kEmittingMail], epsilon_mail[2][kEpsilonMail];
  uint32_t emitting_details[kEmittingMail], epsilon_details[2][kEpsilonMail];
};
static_assert(2 * kBins * sizeof(uint32_t) <= sizeof(ClusterShare::emitting_mail));

template <typename Team>
__device__ inline void set_share(Lane &lane) {
  set_lists(lane);
  ClusterShare &share = *reinterpret_cast<ClusterShare *>(shared_table);
  lane.record_of = share.records;
  lane.number_of = share.numbers;
  const auto room = [&](uint32_t usual) { return max(usual >> min(lane.small_rooms, 31u), ClusterShare::kLeastRoom); };
  lane.max_items = room(ClusterShare::kItems);
  lane.list[0] = share.items;
  lane.list[1] = share.other_items;
  lane.max_claims = lane.n_shared_slots / 8 * 7;
  lane.used = share.used;
  lane.own_tokens = share.tokens;
  lane.max_own_tokens = room(ClusterShare::kTokens);
  lane.mail[0].lay_out(share.emitting_mail, share.emitting_details, room(ClusterShare::kEmittingMail), Team::size());
  for (uint32_t i = 0; i < 2; ++i)
    lane.mail[1 + i].lay_out(share.epsilon_mail[i], share.epsilon_details[i], room(ClusterShare::kEpsilonMail), Team::size());
  lane.histogram = reinterpret_cast<uint32_t *>(share.emitting_mail);  // needed before there is mail
  lane.team_histogram = lane.histogram + kBins;
  lane.n_shared_extras = room(sizeof(ClusterShare) / (3 * sizeof(uint32_t)));
}

__device__ inline void report_full(Lane &lane, uint32_t what) {
  atomicOr(&lane.overflow, what);
  lane.is_full = 1;
}

__device__ inline OwnToken with_arcs(const SearchTables &graph, OwnToken token) {
  token.first_arc = graph.begins[token.state].emitting;
  token.n_arcs = graph.begins[token.state + 1].emitting - token.first_arc;
  return token;
}

// The i-th token that the block owns.
__device__ inline void add_own_token(Lane &lane, uint32_t i, const OwnToken &token) {
  if (i >= lane.max_own_tokens) return report_full(lane, kTableFull);
  lane.own_tokens[i] = token;
}

// Adds a token with n_arcs > 0 arcs to a list, for the lanes that want to.
__device__ inline void warp_add_item(Lane &lane, uint32_t list, uint32_t first_arc, uint32_t n_arcs, float cost,
                                     uint32_t token) {
  const uint32_t scanned = warp_scan(n_arcs), mask = __ballot_sync(kAllLanes, n_arcs != 0);
  unsigned long long size = 0;
  if (lane_number() == kWarp - 1 && mask != 0) {
    size = atomicAdd(&lane.list_size[list], static_cast<unsigned long long>(__popc(mask)) << 32 | scanned);
  }
  size = __shfl_sync(kAllLanes, size, kWarp - 1);
  const uint32_t place = static_cast<uint32_t>(size >> 32) + __popc(mask & ((1u << lane_number()) - 1));
  if (n_arcs == 0) return;
  if (place >= lane.max_items) return report_full(lane, kTableFull);
  lane.list[list][place] = {first_arc, cost, token, static_cast<uint32_t>(size) + scanned - n_arcs};
}

}  // namespace asr::cuda
