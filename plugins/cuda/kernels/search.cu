// SPDX-License-Identifier: Apache-2.0
// The Viterbi beam search: a block owns a channel and takes it through all frames of a window, with barriers of that block
// only. Nothing waits for the host or for other blocks, so as many channels run beside each other as there are multiprocessors,
// and further ones after them. A frame is: select (search_select.cuh), expand and resolve the emitting arcs, expand and resolve
// epsilon arcs until no cost falls (search_expand.cuh), write the tokens down and free their slots. A frame that does not fit
// its memory leaves the channel as it was before it: the kernel ends there and the host, with more memory, goes on. Channels
// that make lattices keep the frame's links (search_links.cuh), and every few frames prune what they have (search_prune.cuh).
// What is found depends on the order of threads in nothing but the numbers of tokens and records and the order of links.
//
// Floor, a frame of kaldi_20k (3000 active tokens, 10,500 arcs, 3300 new tokens): arcs 170 KB, where they begin 100 KB of
// sectors, tokens, candidates and records, written and read, 600 KB: 0.9 MB, 0.2 us of an H200's memory. What a frame takes is
// the chain of its loads.
#include <math_constants.h>

#include "plugins/cuda/kernels/search_expand.cuh"
#include "plugins/cuda/kernels/search_links.cuh"
#include "plugins/cuda/kernels/search_output.cuh"
#include "plugins/cuda/kernels/search_select.cuh"
#include "plugins/cuda/kernels/search_trace.cuh"

namespace asr::cuda {
namespace {

constexpr uint32_t kThreads = 1024;
constexpr size_t kSlotBytes = sizeof(unsigned long long) + sizeof(uint32_t);

// Before a frame; the caller's barrier follows.
__device__ void reset(Lane &lane) {
  if (threadIdx.x != 0) return;
  lane.list_size[0] = lane.list_size[1] = 0;
  lane.n_candidates[0] = lane.n_candidates[1] = lane.first_candidate = 0;
  lane.n_epsilon_links = lane.n_links[0] = lane.n_links[1] = 0;
  lane.n_used = lane.n_active = lane.n_next = lane.n_within = 0;
  lane.n_arcs = 0;
  lane.best = ordered(CUDART_INF_F);
  lane.overflow = 0;
  lane.is_full = 0;
  lane.n_records_before = lane.job.n_records;
}

// A frame that cannot be finished: as if it had not begun.
template <bool kWide>
__device__ void give_up(Lane &lane, SearchStatus status) {
  Table<kWide>(lane).block_free_all();
  if (threadIdx.x == 0) {
    lane.job.status = status;
    lane.job.overflow = lane.overflow;
    lane.job.n_records = lane.n_records_before;
  }
  __syncthreads();
}

// Follows epsilon arcs, those of list 1 first, until no cost falls. Returns false if the frame was given up.
template <bool kWide>
__device__ bool follow_epsilons(Lane &lane) {
  if (threadIdx.x == 0 && lane.job.lattice.lattice_beam > 0) lane.first_candidate = lane.n_candidates[0];  // the emitting stay
  uint32_t list = 1;
  for (uint32_t n_rounds = 0;; ++n_rounds, list ^= 1) {
    const bool done = lane.list_size[list] >> 32 == 0, full = lane.overflow != 0;
    const bool endless = !done && n_rounds > lane.n_used;
    __syncthreads();  // all have read this before any goes on
    if (full || endless) {
      give_up<kWide>(lane, full ? SearchStatus::kOverflow : SearchStatus::kNegativeCycle);
      return false;
    }
    if (done) return true;
    if (threadIdx.x == 0) lane.list_size[list ^ 1] = lane.n_candidates[list ^ 1] = 0;
    block_expand<false, kWide>(lane, list, nullptr);
    __syncthreads();
    block_resolve<false, kWide>(lane, list, nullptr);
    __syncthreads();
    block_mark_winners<kWide>(lane, list);
  }
}

// Writes the tokens down and frees their slots, or, if there are links to be made, puts the tokens' numbers in the place of
// their records.
template <bool kWide>
__device__ void finish_tokens(Lane &lane) {
  const Table<kWide> table(lane);
  const bool makes_lattice = lane.job.lattice.lattice_beam > 0;
  SearchToken *const tokens = lane.job.tokens[lane.job.current ^ 1];
  const float cutoff = __fadd_rn(cost_of(lane.best), lane.job.beam.beam);
  uint32_t n_within = 0;
  for (uint32_t first = warp_number() * kWarp; first < lane.n_used; first += blockDim.x) {
    const uint32_t i = first + lane_number();
    SearchToken token{0, 0, 0};
    bool keep = false;
    uint32_t slot = 0;
    if (i < lane.n_used) {
      slot = lane.used[i];
      token = {table.state(slot), cost_of(static_cast<uint32_t>(table.key(slot) >> 32)), lane.record_of[slot]};
      keep = token.cost <= lane.bound;
      if (!makes_lattice) table.free(slot);
    }
    const uint32_t place = warp_append(&lane.n_next, keep);
    if (keep && makes_lattice) lane.record_of[slot] = place;
    if (keep && place < lane.job.max_tokens) tokens[place] = token;
    if (keep && place >= lane.job.max_tokens) report_full(lane, kTokensFull);
    n_within += __popc(__ballot_sync(kAllLanes, keep && token.cost <= cutoff));
  }
  if (lane_number() == 0 && n_within > 0) atomicAdd(&lane.n_within, n_within);
}

// The frame's tokens become the channel's.
__device__ void commit(Lane &lane, uint32_t n_frames) {
  if (threadIdx.x != 0) return;
  SearchJob &job = lane.job;
  job.current ^= 1;
  job.n_tokens = lane.n_next;
  job.n_within = lane.n_within;
  job.best = cost_of(lane.best);
  job.n_active += lane.n_active;
  job.n_arcs_expanded += lane.n_arcs;
  job.n_consumed += n_frames;
  if (job.lattice.lattice_beam > 0) add_frame(lane);
}

// Epsilon arcs and what follows them. `n_frames`: 1, or 0 for the beginning, which has no row.
template <bool kWide>
__device__ void finish_frame(Lane &lane, uint32_t n_frames, const float *row) {
  if (!follow_epsilons<kWide>(lane)) return;
  finish_tokens<kWide>(lane);
  __syncthreads();
  bool full = lane.overflow != 0;
  __syncthreads();
  if (!full && lane.job.lattice.lattice_beam > 0) {
    block_make_links<kWide>(lane, row);
    __syncthreads();
    full = lane.overflow != 0;
    __syncthreads();
  }
  if (full) return give_up<kWide>(lane, SearchStatus::kOverflow);
  commit(lane, n_frames);
  __syncthreads();
}

template <bool kWide>
__device__ void begin(Lane &lane) {
  reset(lane);
  __syncthreads();
  if (threadIdx.x == 0) {
    const uint32_t state = lane.job.graph.start_state;
    const Table<kWide> table(lane);
    const uint32_t slot = table.find(state);
    table.keys[slot] = make_key(0.0f, 0);
    lane.record_of[slot] = TraceRecord::kRoot;
    const uint32_t first = lane.job.graph.begins[state].epsilon, n_arcs = lane.job.graph.begins[state + 1].epsilon - first;
    lane.best = ordered(0.0f);
    lane.bound = bound_of(0.0f, lane.job.beam.beam);
    lane.list[1][0] = {first, 0.0f, slot, 0};
    if (n_arcs > 0) lane.list_size[1] = 1ull << 32 | n_arcs;
  }
  __syncthreads();
  finish_frame<kWide>(lane, 0, nullptr);
}

template <bool kWide>
__device__ void consume(Lane &lane) {
  SearchJob &job = lane.job;
  const bool crowded = job.n_records + 2 * job.n_tokens > job.max_records && job.n_records > job.n_compacted;
  __syncthreads();
  if (crowded) block_compact_trace(lane);
  reset(lane);
  __syncthreads();
  const float *const row = job.rows + size_t{job.n_consumed} * job.row_stride;
  block_select(lane, row);
  __syncthreads();
  block_expand<true, kWide>(lane, 0, row);
  __syncthreads();
  const bool full = lane.is_full != 0;
  const float best = cost_of(lane.best);
  if (threadIdx.x == 0) lane.bound = bound_of(best, job.beam.beam);
  __syncthreads();
  if (full) return give_up<kWide>(lane, SearchStatus::kOverflow);
  if (!(best <= FLT_MAX)) {
    if (threadIdx.x == 0) {
      job.status = SearchStatus::kDied;
      job.n_active += lane.n_active;
      job.n_arcs_expanded += lane.n_arcs;
    }
    __syncthreads();
    return;
  }
  block_resolve<true, kWide>(lane, 0, row);
  __syncthreads();
  finish_frame<kWide>(lane, 1, row);
}

template <bool kWide>
__device__ void advance(Lane &lane) {
  SearchJob &job = lane.job;
  if (job.begin) begin<kWide>(lane);
  while (job.status == SearchStatus::kRunning && job.n_consumed < job.n_frames) {
    if (job.lattice.lattice_beam > 0 && !block_make_room(lane)) return;
    consume<kWide>(lane);
    if (job.lattice.lattice_beam > 0) block_tend_lattice(lane);
  }
  if (job.output) block_output(lane);
}

__global__ void __launch_bounds__(kThreads) search_kernel(SearchJob *jobs, uint32_t n_jobs, SearchScratch scratch) {
  __shared__ Lane lane;
  if (threadIdx.x == 0) set_scratch(lane, scratch);
  __syncthreads();
  Table<false>(lane).block_free_all();
  for (uint32_t j = blockIdx.x; j < n_jobs; j += gridDim.x) {
    if (threadIdx.x == 0) lane.job = jobs[j];
    __syncthreads();
    if (lane.job.wide) {
      advance<true>(lane);
    } else {
      advance<false>(lane);
    }
    if (threadIdx.x == 0) jobs[j] = lane.job;
    __syncthreads();
  }
}

}  // namespace

uint32_t search_shared_slots(size_t shared_bytes) {
  uint32_t n = 1;
  while (2 * n * kSlotBytes + sizeof(Lane) <= shared_bytes) n *= 2;
  return n;
}

cudaError_t prepare_search(uint32_t n_shared_slots) {
  return cudaFuncSetAttribute(search_kernel, cudaFuncAttributeMaxDynamicSharedMemorySize,
                              static_cast<int>(n_shared_slots * kSlotBytes));
}

void launch_search(SearchJob *jobs, uint32_t n_jobs, const SearchScratch &scratch, uint32_t n_blocks, cudaStream_t stream) {
  search_kernel<<<n_blocks, kThreads, scratch.n_shared_slots * kSlotBytes, stream>>>(jobs, n_jobs, scratch);
}

}  // namespace asr::cuda
