// SPDX-License-Identifier: Apache-2.0
// Steps 2 and 3 of a frame: the loops over the steps of plugins/gpu/search/search_frame-inl.h. Warps take the arcs of a list's
// items in stretches (search_stretch-inl.h). An arc within the beam so far lowers the key of its state's slot. If it did, or if
// there is to be a lattice, it is remembered as a candidate. After a barrier the candidate that is the least of its
// state has won. It writes its path's record, and goes on the next list if its state has epsilon arcs.
#pragma once

#include <cuda_pipeline.h>

#include "plugins/cuda/search/search_table.cuh"
#include "plugins/cuda/search/search_values.cuh"
#include "plugins/cuda/search/search_warp.cuh"

namespace asr {

__device__ inline float log_likelihood_of(const float *row, uint32_t pdf) { return row[pdf]; }

__device__ inline SearchArc load_arc(const SearchArc *arcs, uint32_t index) {
  const uint4 arc = __ldg(reinterpret_cast<const uint4 *>(arcs) + index);  // at once
  return {arc.x, arc.y, __uint_as_float(arc.z), arc.w};
}

}  // namespace asr

#include "plugins/gpu/search/search_frame-inl.h"  // for these warps

namespace asr::gpu {

// Returns the place of a frame's row in shared memory, where arcs look at it in no order; the row itself if it has no room
// there. The row is that of the job's next frame; nullptr: none.
__device__ inline const float *staged_row(const SearchState &search, const float *row) {
  const SearchJob &job = search.job;
  const uint32_t n = job.n_consumed < job.n_kept ? job.kept_stride : job.row_stride;
  if (row == nullptr || n > search.n_shared_row) return row;
  return reinterpret_cast<const float *>(shared_table) + 3 * max(search.n_shared_slots, blockDim.x);
}

// Begins to copy the row there. The threads wait for it in block_await_row().
__device__ inline void block_stage_row(const SearchState &search, const float *row) {
  const SearchJob &job = search.job;
  float *const staged = const_cast<float *>(staged_row(search, row));
  if (staged == row) return;
  const uint32_t n = job.n_consumed < job.n_kept ? job.kept_stride : job.row_stride;
  for (uint32_t i = threadIdx.x; i < n; i += blockDim.x) __pipeline_memcpy_async(staged + i, row + i, sizeof(float));
  __pipeline_commit();
}
template <typename Team>
__device__ inline void block_await_row(const Table<Team> *) {
  if (Team::kStagesRows) __pipeline_wait_prior(0);
}

template <typename Team>
__device__ inline FrameSteps frame_steps(SearchState &search, const float *row) {
  const SearchJob &job = search.job;
  if (Team::kStagesRows) row = staged_row(search, row);
  return {job.beam,
          search.bound,
          job.graph.arcs,
          job.graph.begins,
          job.tokens[job.current],
          row,
          of_leader<Team>(&search.job.n_records)};
}

// Returns the stretch of a list's arcs that a warp follows.
template <typename Team>
__device__ inline ArcStretch stretch_of(const SearchState &search, uint32_t list) {
  const ListSize size = list_size_of<Team>(search, list);
  return warp_stretch(search.list[list], size.n_items, size.n_arcs, blockDim.x);
}

// ---- the hooks of search_frame-inl.h ----

template <typename Team>
__device__ inline float warp_lower_best(const Table<Team> *table, float cost, bool counts) {
  SearchState &search = table->search;
  const uint32_t least = warp_min(counts ? ordered(cost) : 0xffffffffu);
  const uint32_t best = *const_cast<volatile uint32_t *>(&search.best);
  if (least < best && lane_number() == 0) atomicMin(&search.best, least);
  return bound_of(cost_of(min(least, best)), search.job.beam.beam);
}

template <typename Team>
__device__ inline uint32_t warp_enter(const Table<Team> *table, bool, uint32_t state, bool wanted, uint32_t arc, float cost) {
  bool claimed;
  const uint32_t slot = table->warp_find(state, wanted, &claimed);
  wanted = wanted && slot != kNoSlot;
  const bool keep = table->warp_lower(slot, make_key(cost, arc + 1), wanted) || (wanted && has_lattice(table));
  table->warp_add_claims(slot, claimed);
  return keep ? slot : kNoSlot;
}

template <typename Team>
__device__ inline bool warp_offer(const Table<Team> *table, const FollowedArcs *followed, bool emitting, const ArcStep *step,
                                  float cost, float, bool wanted) {
  return warp_enter_own(table, followed, emitting, step, cost, wanted);
}

template <typename Team>
__device__ inline float candidate_acoustic_cost(const Table<Team> *, const FrameSteps *steps, uint32_t, uint32_t arc) {
  return arc_acoustic_cost(steps, arc);
}

template <typename Team>
__device__ inline FrameCounts *frame_counts(const Table<Team> *table) {
  return of_leader<Team>(&table->search.counts[table->search.job.current]);
}

template <typename Team>
__device__ inline uint32_t warp_number_token(const Table<Team> *table, const SearchToken *, bool keep) {
  return warp_append(&frame_counts(table)->n_next, keep);
}

template <typename Team>
__device__ inline void put_candidate(const Table<Team> *table, uint32_t index, const Candidate *candidate) {
  if (index >= table->search.max_candidates) return report_full(table->search, kCandidatesFull);
  table->search.candidates[index] = *candidate;
}
template <typename Team>
__device__ inline void put_epsilon_link(const Table<Team> *table, uint32_t index, const EpsilonLink *link) {
  if (index >= table->search.max_epsilon_links) return report_full(table->search, kCandidatesFull);
  table->search.epsilon_links[index] = *link;
}
template <typename Team>
__device__ inline void put_record(const Table<Team> *table, uint32_t index, const TraceRecord *record) {
  if (index >= table->search.job.max_records) return report_full(table->search, kTraceFull);
  table->search.job.records[index] = *record;
}
template <typename Team>
__device__ inline void put_token(const Table<Team> *table, uint32_t index, const SearchToken *token) {
  const SearchJob &job = table->search.job;
  if (index >= job.max_tokens) return report_full(table->search, kTokensFull);
  job.tokens[job.current ^ 1][index] = *token;
}

// ---- the loops -------------------------------------------------------------------------------------------------------------

// Follows the arcs of a list's items into candidates.
template <typename Team>
__device__ __forceinline__ void block_expand(const Table<Team> *table, bool emitting, uint32_t list, const float *row) {
  SearchState &search = table->search;
  if (threadIdx.x == 0) search.n_arcs += list_size_of<Team>(search, list).n_arcs;
  if (__any_sync(kAllLanes, search.is_full != 0)) return;  // the list may have holes
  const FrameSteps steps = frame_steps<Team>(search, row);
  const FollowedArcs followed{emitting ? 0 : search.first_candidate, &search.n_candidates[list], &search.n_epsilon_links};
  warp_expand(table, &steps, &followed, emitting, stretch_of<Team>(search, list));
}

// A block has entered its arcs already.
template <typename Team>
__device__ __forceinline__ void block_settle(const Table<Team> *, bool, uint32_t) {}

// Calls action(offset, candidate, valid) for n candidates, by whole warps; `valid` is false for lanes without one. A candidate
// is loaded while the one before is processed.
template <typename OffsetOf, typename Action>
__device__ inline void block_each(const Candidate *candidates, uint32_t n, const OffsetOf &offset_of, const Action &action) {
  const uint32_t begin = warp_number() * kWarp;
  if (begin >= n) return;
  uint32_t following_offset = offset_of(begin + lane_number());
  Candidate following{0, 0, 0, 0};
  if (begin + lane_number() < n) following = candidates[following_offset];
  for (uint32_t first = begin; first < n; first += blockDim.x) {
    const uint32_t i = first + lane_number(), offset = following_offset;
    const Candidate candidate = following;
    if (first + blockDim.x < n) following_offset = offset_of(i + blockDim.x);
    if (i + blockDim.x < n) following = candidates[following_offset];
    action(offset, candidate, i < n);
  }
}

// The same for the candidates of a list, n from `first` on.
template <typename Team, typename Action>
__device__ inline void block_each_candidate(const Table<Team> *table, bool, uint32_t, uint32_t first, uint32_t n,
                                            const Action &action) {
  block_each(
      table->search.candidates, n, [&](uint32_t i) { return first + i; }, action);
}

// Makes tokens of the candidates that won, and a list of tokens whose epsilon arcs follow. Thread 0 may already set
// first_candidate, which is not the emitting arcs' one.
template <typename Team>
__device__ __forceinline__ void block_resolve(const Table<Team> *table, bool emitting, uint32_t list, const float *row) {
  SearchState &search = table->search;
  const FrameSteps steps = frame_steps<Team>(search, row);
  const uint32_t first = emitting ? 0 : search.first_candidate,
                 n = min(search.n_candidates[list], search.max_candidates - first);
  block_each_candidate(table, emitting, list, first, n, [&](uint32_t index, const Candidate &candidate, bool valid) {
    warp_resolve(table, &steps, emitting, list ^ 1, index, &candidate, valid);
  });
}

}  // namespace asr::gpu
