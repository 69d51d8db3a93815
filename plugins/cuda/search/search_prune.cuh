// SPDX-License-Identifier: Apache-2.0
// Prunes and writes lattices (plugins/gpu/search/search_prune-inl.h). Extra costs lie in shared memory instead of the table,
// which is free between frames, if they fit. Global memory that a visit reads is prefetched behind them during the
// earlier visit, as far as it fits. It has links, their acoustic costs, and the extra costs stored by the last pruning.
// So a visit is barriers and shared memory. A frame's links name their sources by numbers that change when the
// preceding frame is pruned. The old numbers stay in shared memory until then. A fast warp prunes a frame while a slow
// one still reads the next frame's numbers.
#pragma once

#include <cuda_pipeline.h>

#include "plugins/cuda/search/search_table.cuh"
#include "plugins/cuda/search/search_values.cuh"

#include "plugins/gpu/search/search_gaps-inl.h"
#include "plugins/gpu/search/search_prune-inl.h"  // for these values

namespace asr::gpu {

// Shared memory behind the extra costs, of two frames in turns: the first n_staged links, acoustic costs, stored extra costs
// and sources before pruning.
struct Stage {
  static constexpr uint32_t kWordsOfLink = 14;
  uint32_t first_word, n_staged;

  __device__ Stage(const SearchState &search, uint32_t n_words_taken)
      : first_word((n_words_taken + 3) / 4 * 4),
        n_staged(first_word < 3 * search.n_shared_extras ? (3 * search.n_shared_extras - first_word) / kWordsOfLink : 0) {}

  __device__ uint32_t *word(uint32_t i) const { return reinterpret_cast<uint32_t *>(shared_table) + first_word + i * n_staged; }
  __device__ SearchLink *links(uint32_t t) const { return reinterpret_cast<SearchLink *>(word(t % 2 * 4)); }
  __device__ float *acoustic_costs(uint32_t t) const { return reinterpret_cast<float *>(word(8 + t % 2)); }
  __device__ float *extras(uint32_t t) const { return reinterpret_cast<float *>(word(10 + t % 2)); }
  __device__ uint32_t *sources(uint32_t t) const { return word(12 + t % 2); }
};

// The compiler knows the memory of the extra costs: atomic operations on shared memory differ from those on global memory.
template <bool kInShared>
struct Walk {
  SearchState &search;
  const Stage stage;
  uint32_t *of_frame, *before, *new_number;
  WalkState *state;
  ChannelLattice *lattice;
  const LatticeMemory *memory;
  uint32_t t, to;

  // No frame has more than n_tokens.
  __device__ Walk(SearchState &search, uint32_t n_tokens) : search(search), stage(search, kInShared ? 3 * n_tokens : 0) {
    of_frame = kInShared ? reinterpret_cast<uint32_t *>(shared_table) : search.spare[0];
    before = of_frame + (kInShared ? n_tokens : search.n_spare);
    new_number = before + (kInShared ? n_tokens : search.n_spare);
    begin_walk(this, &search.job.lattice, &search.job.lattice, &search.walk);
    prefetch_links(t);
    __pipeline_commit();
  }

  __device__ void prefetch_frame(uint32_t of) const {
    constexpr uint32_t kWords = sizeof(SearchFrame) / sizeof(uint32_t);
    if (threadIdx.x >= kWords) return;
    auto *const into = reinterpret_cast<uint32_t *>(walk_frame(this, of));
    const auto *const from = reinterpret_cast<const uint32_t *>(memory->frames + of);
    __pipeline_memcpy_async(into + threadIdx.x, from + threadIdx.x, sizeof(uint32_t));
  }
  __device__ void prefetch_links(uint32_t of) const {
    const SearchFrame &frame = *walk_frame(this, of);
    const uint32_t n_links = min(frame.n_emitting + frame.n_epsilon, stage.n_staged);
    for (uint32_t i = threadIdx.x; i < n_links; i += blockDim.x) {
      __pipeline_memcpy_async(stage.links(of) + i, memory->links + frame.first_link + i, sizeof(SearchLink));
      __pipeline_memcpy_async(stage.acoustic_costs(of) + i, memory->acoustic_costs + frame.first_link + i, sizeof(float));
    }
    if (frame.is_pruned == 0) return;
    const uint32_t n_tokens = min(frame.n_tokens, stage.n_staged);
    for (uint32_t i = threadIdx.x; i < n_tokens; i += blockDim.x)
      __pipeline_memcpy_async(stage.extras(of) + i, stored_extras(this, of) + i, sizeof(float));
  }
};

// ---- the hooks of search_prune-inl.h ----

template <bool kInShared>
__device__ inline void prefetch(const Walk<kInShared> *w) {
  if (w->t > 0) w->prefetch_links(w->t - 1);
  if (w->t > 1) w->prefetch_frame(w->t - 2);
  __pipeline_commit();
}
template <bool kInShared>
__device__ inline void finish_prefetch(const Walk<kInShared> *) {
  __pipeline_wait_prior(0);
}
template <bool kInShared>
__device__ inline bool block_any(const Walk<kInShared> *, bool value) {
  return __syncthreads_or(value ? 1 : 0) != 0;
}
template <bool kInShared>
__device__ inline void report_links_full(const Walk<kInShared> *w) {
  report_full(w->search, kLinksFull);
}
template <bool kInShared>
__device__ inline uint32_t n_staged(const Walk<kInShared> *w) {
  return w->stage.n_staged;
}
template <bool kInShared>
__device__ inline SearchLink frame_link(const Walk<kInShared> *w, uint32_t i) {
  return i < w->stage.n_staged ? w->stage.links(w->t)[i] : w->memory->links[walk_frame(w, w->t)->first_link + i];
}
template <bool kInShared>
__device__ inline float frame_acoustic_cost(const Walk<kInShared> *w, uint32_t i) {
  return i < w->stage.n_staged ? w->stage.acoustic_costs(w->t)[i]
                               : w->memory->acoustic_costs[walk_frame(w, w->t)->first_link + i];
}
template <bool kInShared>
__device__ inline float stored_extra(const Walk<kInShared> *w, uint32_t i) {
  return i < w->stage.n_staged ? w->stage.extras(w->t)[i] : stored_extras(w, w->t)[i];
}
template <bool kInShared>
__device__ inline void set_old_source(const Walk<kInShared> *w, uint32_t i, uint32_t source) {
  w->stage.sources(w->t)[i] = source;
}
template <bool kInShared>
__device__ inline uint32_t old_source(const Walk<kInShared> *w, uint32_t i) {
  return w->stage.sources(w->t + 1)[i];
}

// ---- pruning and writing ---------------------------------------------------------------------------------------------------

template <bool kInShared>
__device__ inline void block_prune_frames(SearchState &search, uint32_t max_tokens) {
  Walk<kInShared> walk(search, max_tokens);
  for (uint32_t i = threadIdx.x; i < walk_frame(&walk, walk.t)->n_tokens; i += blockDim.x) walk.of_frame[i] = 0;
  block_walk_back(&walk, false, n_fixed_frames(walk.lattice), &search.overflow, nullptr, nullptr);
}

// noinline: rare code must not raise the register count of every frame.
__device__ __noinline__ void block_prune(SearchState &search, bool close_gaps) {
  __builtin_assume(__isShared(&search));
  SearchLinks &lattice = search.job.lattice;
  block_drop_taken(&lattice, lattice.frames);
  const uint32_t max_tokens = block_max_tokens(&lattice, lattice.frames, &search.walk.max_tokens);
  if (max_tokens <= search.n_shared_extras) {
    block_prune_frames<true>(search, max_tokens);
  } else {
    block_prune_frames<false>(search, max_tokens);
  }
  if (threadIdx.x == 0) lattice.n_unpruned = 0;
  if (close_gaps) block_close_gaps(&lattice, lattice, reinterpret_cast<uint32_t *>(shared_table), search.sums);
  Table<NarrowTeam>(search).block_free_own();
  __syncthreads();
}

// Writes the lattice as it is if the utterance ends with the newest frame; search.overflow says if something is too small. The
// newest tokens that are left go to the buffer of the next frame's.
template <bool kInShared>
__device__ inline void block_write_lattice(SearchState &search, uint32_t max_tokens) {
  SearchJob &job = search.job;
  SearchLinks &lattice = job.lattice;
  // The host takes what has settled by the end of the job, also in this one.
  const uint32_t n_known = n_fixed_frames(&lattice);
  const SearchToken *const tokens = job.tokens[job.current];
  Walk<kInShared> walk(search, max_tokens);
  block_end_extras(&walk, tokens, job.n_tokens, job.use_final, job.graph.final_costs, search.least);
  const uint32_t n_left = block_walk_back(&walk, true, n_known, &search.overflow, tokens, job.tokens[job.current ^ 1]);
  if (threadIdx.x == 0)
    job.written = {lattice.n_frames - n_known, walk.to - lattice.n_links, n_left, reaches_final(search.least) ? 1u : 0u};
}

// Writes the lattice. If it does not fit behind links that could go, these are pruned first.
__device__ __noinline__ void block_output(SearchState &search) {
  __builtin_assume(__isShared(&search));
  SearchJob &job = search.job;
  SearchLinks &lattice = job.lattice;
  for (bool again = true; again;) {
    const bool fits = output_fits(&lattice, n_fixed_frames(&lattice));
    if (threadIdx.x == 0) {
      search.overflow = fits ? 0 : kFramesFull;
      search.is_full = 0;
    }
    const uint32_t max_tokens = block_max_tokens(&lattice, lattice.frames, &search.walk.max_tokens);
    if (fits && max_tokens <= search.n_shared_extras) {
      block_write_lattice<true>(search, max_tokens);
    } else if (fits) {
      block_write_lattice<false>(search, max_tokens);
    }
    again = search.overflow != 0 && lattice.n_unpruned > 0;
    __syncthreads();
    if (again) block_prune(search, true);
  }
  Table<NarrowTeam>(search).block_free_own();
  if (threadIdx.x == 0) {
    job.overflow = search.overflow;
    job.has_written = search.overflow == 0;
    if (search.overflow != 0 && job.status == kSearchRunning) job.status = kSearchOverflow;
  }
  __syncthreads();
}

// Writes the path and the lattice that are wanted after the frames.
__device__ __noinline__ void block_give_results(SearchState &search) {
  __builtin_assume(__isShared(&search));
  SearchJob &job = search.job;
  const bool wants_path = job.path.end != nullptr && !job.has_path, wants_lattice = job.output && !job.has_written;
  if (wants_path) {
    block_find_path(path_job_of(job), search.path);
    if (threadIdx.x == 0) job.has_path = true;
  }
  if (wants_lattice) block_output(search);
  __syncthreads();
}

}  // namespace asr::gpu
