// SPDX-License-Identifier: Apache-2.0
// The state of a block that advances a channel, in shared memory, and its lists in scratch memory.
#pragma once

#include "plugins/cuda/search/search_launch.h"
#include "plugins/cuda/search/search_path.cuh"
#include "plugins/cuda/search/search_team.cuh"

namespace asr::gpu {

constexpr unsigned long long kNoKey = ~0ull;

// Candidates that blocks have sent to this one in a step. A quarter of the capacity is for candidates that the block
// sends to itself, among them most loops of a state. Half is divided among the other blocks, box_capacity each. A
// quarter takes the spill of full boxes. Emitting arcs come into mail 0, where they stay for the links of the frame.
// Epsilon arcs come into mail 1 and 2 in turns: a block may send the next step's candidates while others still read.
constexpr uint32_t kMails = 3;
struct Mail {
  Candidate *candidates;
  uint32_t *details;  // with each: of an emitting arc its acoustic cost's bits, of an epsilon arc where it comes from
  uint32_t quarter, box_capacity;
  uint32_t n_received[kMaxClusterSize], n_spilled;

  __device__ void lay_out(Candidate *of_candidates, uint32_t *of_details, uint32_t capacity, uint32_t n_senders) {
    candidates = of_candidates, details = of_details;
    quarter = capacity / 4, box_capacity = 2 * quarter / n_senders;
    n_spilled = 0;
    for (uint32_t &n : n_received) n = 0;  // the beginning, which follows no emitting arcs, has links of none
  }
  __device__ uint32_t box_size(bool is_own) const { return is_own ? quarter : box_capacity; }
  __device__ uint32_t box(uint32_t sender, bool is_own) const { return is_own ? 0 : quarter + sender * box_capacity; }
  __device__ uint32_t spill() const { return 3 * quarter; }
};

struct SearchState {
  SearchJob job;                    // every block of a cluster has its own, all the same
  uint32_t initial_capacity_shift;  // SearchScratch's
  uint32_t *n_ended, enough;        // likewise
  bool is_enough;                   // the leading block's is the team's
  uint32_t max_items, max_candidates, max_epsilon_links;
  uint32_t n_shared_slots, n_shared_row;
  uint32_t n_wide_slots;
  unsigned long long *wide_keys;  // [n_wide_slots]
  uint32_t *wide_states;          // [n_wide_slots]
  uint32_t *record_of;            // by slot, of either table
  uint32_t *number_of;            // by slot, when tokens have numbers
  uint32_t *used;                 // the slots that the block claimed
  ExpandItem *list[2];            // [max_items] each, the one that is followed and the one that is made
  Candidate *candidates;
  EpsilonLink *epsilon_links;
  // Free between frames: of global memory, and of shared memory so many times three numbers.
  uint32_t *spare[2], *large_spare;  // [4 * n_spare] each, [4 * n_large_spare]
  uint32_t n_spare, n_large_spare, n_shared_extras;

  unsigned long long list_size[2];  // items and arcs, as list_size_of() reads them
  uint32_t n_candidates[2];         // with the list of that number
  uint32_t n_followed[2];           // candidates of that list that have epsilon arcs after them
  uint32_t first_candidate;         // first of the present list; lattices keep emitting arcs' candidates before it
  uint32_t n_used, n_epsilon_links;
  uint32_t best;  // ordered, so far
  float bound;
  uint32_t n_records_before;
  uint32_t overflow;
  volatile uint32_t is_full;                // a thread could not go on, the others need not
  uint32_t n_active;                        // tokens of the frame, by this block
  unsigned long long n_arcs;                // likewise
  unsigned long long all_active, all_arcs;  // totals of the job's frames

  // Counts of the frame that follows tokens[i] at i. The leading block's counts are the team's, as is its
  // job.n_records.
  FrameCounts counts[2];

  uint32_t least[2];        // ordered costs of the ends of paths: as they are, with final costs
  uint32_t n_newest_links;  // links of the preceding frame, while it is not pruned
  WalkState walk;
  PathFinding path;
  PathCut path_cut;  // the leading block's is the team's

  StepTotals step_totals[2][kMaxClusterSize];  // by each block of the team, in turns
  uint32_t turn;

  // Data of a block in a cluster.
  OwnToken *own_tokens;  // [max_own_tokens]
  uint32_t max_own_tokens, n_own_tokens;
  bool has_own_tokens;  // or they have to be loaded
  Mail mail[kMails];
  uint32_t n_sent[kMaxClusterSize];  // since the last all-reduce, to each block

  KthKey kth;
  uint32_t *histogram, *team_histogram;  // [kBins] each
  SearchKey few_keys[kFewKeys];
  uint32_t sums[kMaxWarps];
};

// Claims a part of the scratch memory that no other block has, for one thread of a block. There are as many parts as blocks run
// beside each other, so the search begins at the multiprocessor's own.
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

__device__ inline void set_scratch(SearchState &search, const SearchScratch &scratch, uint32_t part) {
  const uint32_t n = scratch.max_tokens, n_candidates = scratch.max_candidates;
  uint4 *const memory = scratch.memory + part * search_scratch_size(n, n_candidates);
  search.turn = 0;
  for (uint32_t &n_sent : search.n_sent) n_sent = 0;
  search.initial_capacity_shift = scratch.initial_capacity_shift;
  search.n_ended = scratch.n_ended;
  search.enough = scratch.enough;
  search.n_shared_slots = scratch.n_shared_slots;
  search.n_shared_row = scratch.n_shared_row;
  search.n_wide_slots = 2 * n;
  search.wide_keys = reinterpret_cast<unsigned long long *>(memory);
  search.wide_states = reinterpret_cast<uint32_t *>(memory + n);
  search.n_spare = n;
  search.spare[0] = reinterpret_cast<uint32_t *>(memory + 2 * n);
  search.spare[1] = reinterpret_cast<uint32_t *>(memory + 3 * n);
  search.n_large_spare = n_candidates;
  search.large_spare = reinterpret_cast<uint32_t *>(memory + 4 * n);
}

// A block that advances a channel by itself has its lists in its scratch memory.
__device__ inline void set_lists(SearchState &search) {
  const uint32_t n = search.n_spare, n_candidates = search.n_large_spare;
  search.record_of = search.wide_states + search.n_wide_slots;
  search.max_items = n;
  search.list[0] = reinterpret_cast<ExpandItem *>(search.spare[0]);
  search.list[1] = reinterpret_cast<ExpandItem *>(search.spare[1]);
  search.max_candidates = n_candidates;
  search.candidates = reinterpret_cast<Candidate *>(search.large_spare);
  search.max_epsilon_links = n_candidates / 4;
  search.epsilon_links = reinterpret_cast<EpsilonLink *>(search.candidates + n_candidates);
  search.number_of = reinterpret_cast<uint32_t *>(search.epsilon_links + search.max_epsilon_links);
  search.used = search.number_of + search.n_wide_slots;
  search.n_shared_extras = search.n_shared_slots;
}

extern __shared__ __align__(16) unsigned long long shared_table[];  // keys, then states

// The shared memory of a block in a cluster. A block's share of a frame is small; if more of a frame falls to a block, the
// leading block alone does the frame. search.initial_capacity_shift makes the part in use smaller for tests.
struct ClusterShare {
  static constexpr uint32_t kMinCapacity = 32;
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

__device__ inline void set_lists_of(BlockTeam, SearchState &search) { set_lists(search); }
__device__ inline void set_lists_of(ClusterTeam, SearchState &search) {
  set_lists(search);
  ClusterShare &share = *reinterpret_cast<ClusterShare *>(shared_table);
  search.record_of = share.records;
  search.number_of = share.numbers;
  const auto capacity = [&](uint32_t usual) {
    return max(usual >> min(search.initial_capacity_shift, 31u), ClusterShare::kMinCapacity);
  };
  search.max_items = capacity(ClusterShare::kItems);
  search.list[0] = share.items;
  search.list[1] = share.other_items;
  search.used = share.used;
  search.own_tokens = share.tokens;
  search.max_own_tokens = capacity(ClusterShare::kTokens);
  search.mail[0].lay_out(share.emitting_mail, share.emitting_details, capacity(ClusterShare::kEmittingMail),
                         ClusterTeam::size());
  for (uint32_t i = 0; i < 2; ++i)
    search.mail[1 + i].lay_out(share.epsilon_mail[i], share.epsilon_details[i], capacity(ClusterShare::kEpsilonMail),
                               ClusterTeam::size());
  search.histogram = reinterpret_cast<uint32_t *>(share.emitting_mail);  // needed before there is mail
  search.team_histogram = search.histogram + kBins;
  search.n_shared_extras = capacity(sizeof(ClusterShare) / (3 * sizeof(uint32_t)));
}

__device__ inline void report_full(SearchState &search, uint32_t overflow) {
  atomicOr(&search.overflow, overflow);
  search.is_full = 1;
}

__device__ inline OwnToken with_arcs(const SearchTables &graph, OwnToken token) {
  set_arcs(graph.begins, &token);
  return token;
}

// Sets the i-th token that the block owns.
__device__ inline void add_own_token(SearchState &search, uint32_t i, const OwnToken &token) {
  if (i >= search.max_own_tokens) return report_full(search, kTableFull);
  search.own_tokens[i] = token;
}

// The size of a list. Items and arcs are counted by one atomic operation, so that the items' first arcs rise with their
// indices. It is one of 32 bits, since shared memory has no addition of 64 bits; a frame with more is done by a wide team.
struct ListSize {
  static constexpr uint32_t kArcBits = 18, kMaxArcs = (1u << kArcBits) - 1, kMaxItems = (1u << (32 - kArcBits)) - 1;
  uint32_t n_items, n_arcs;
};

template <typename Team>
__device__ inline ListSize list_size_of(const SearchState &search, uint32_t list) {
  const unsigned long long size = search.list_size[list];
  if (Team::kIsWide) return {static_cast<uint32_t>(size >> 32), static_cast<uint32_t>(size)};
  return {static_cast<uint32_t>(size) >> ListSize::kArcBits, static_cast<uint32_t>(size) & ListSize::kMaxArcs};
}

// Adds items and their arcs to the size of a list, and returns what it was; of one lane.
template <typename Team>
__device__ inline ListSize add_to_list_size(SearchState &search, uint32_t list, uint32_t n_items, uint32_t n_arcs) {
  if (Team::kIsWide) {
    const unsigned long long added = static_cast<unsigned long long>(n_items) << 32 | n_arcs,
                             size = atomicAdd(&search.list_size[list], added);
    return {static_cast<uint32_t>(size >> 32), static_cast<uint32_t>(size)};
  }
  const uint32_t size =
      atomicAdd(reinterpret_cast<uint32_t *>(&search.list_size[list]), n_items << ListSize::kArcBits | n_arcs);
  const ListSize before{size >> ListSize::kArcBits, size & ListSize::kMaxArcs};
  if (n_arcs > ListSize::kMaxArcs - before.n_arcs || n_items > ListSize::kMaxItems - before.n_items)
    report_full(search, kTableFull);
  return before;
}

// Adds the tokens of lanes with n_arcs > 0 to a list.
template <typename Team>
__device__ inline void warp_add_item(SearchState &search, uint32_t list, uint32_t first_arc, uint32_t n_arcs, float cost,
                                     uint32_t token) {
  const uint32_t scanned = warp_scan(n_arcs), mask = __ballot_sync(kAllLanes, n_arcs != 0);
  ListSize size{0, 0};
  if (lane_number() == kWarp - 1 && mask != 0) size = add_to_list_size<Team>(search, list, __popc(mask), scanned);
  const uint32_t index = __shfl_sync(kAllLanes, size.n_items, kWarp - 1) + __popc(mask & ((1u << lane_number()) - 1));
  const uint32_t offset = __shfl_sync(kAllLanes, size.n_arcs, kWarp - 1) + scanned - n_arcs;
  if (n_arcs == 0) return;
  if (index >= search.max_items) return report_full(search, kTableFull);
  search.list[list][index] = {first_arc, cost, token, offset};
}

}  // namespace asr::gpu
