// SPDX-License-Identifier: Apache-2.0
// Walks back through the frames of a lattice, finds extra costs and removes links. Global memory that a visit reads is
// prefetched into shared memory during the visit before, as far as it fits: links, their acoustic costs, and the extra costs
// stored by the last pruning. So a visit is barriers and shared memory. A frame's links name their sources by numbers that
// change when the frame before is pruned; the old numbers stay in shared memory until then.
#pragma once

#include <cuda_pipeline.h>

#include "plugins/cuda/kernels/search_extras.cuh"

namespace asr::cuda {

// Shared memory behind the extra costs: of two frames in turns the first n_staged links, acoustic costs and stored extra
// costs, and the sources that the links had before pruning: a fast warp prunes a frame while a slow one still reads those of
// the frame after it.
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

template <bool kInShared>
class WalkBack {
 public:
  // Starts at the newest frame, before the extra costs of its tokens are set. No frame has more than n_tokens.
  __device__ WalkBack(SearchState &search, uint32_t n_tokens)
      : extras(search, n_tokens),
        search_(search),
        lattice_(search.job.lattice),
        stage_(search, Extras<kInShared>::n_words(n_tokens)),
        t_(search.job.lattice.n_frames - 1) {
    if (threadIdx.x < 2 && threadIdx.x <= t_) frame_at(t_ - threadIdx.x) = lattice_.frames[t_ - threadIdx.x];
    if (threadIdx.x < 3) search.walk.n_left[t_ % 2][threadIdx.x] = 0;
    __syncthreads();
    prefetch(t_);
    __pipeline_commit();
  }

  Extras<kInShared> extras;
  __device__ uint32_t t() const { return t_; }
  __device__ const SearchFrame &frame() const { return frame_at(t_); }

  // Begins the visit: extra costs become those of paths through epsilon links too.
  __device__ void complete_extras() {
    __pipeline_wait_prior(0);
    __syncthreads();  // what was asked for is there
    if (threadIdx.x < 3) search_.walk.n_left[(t_ + 1) % 2][threadIdx.x] = 0;
    if (t_ > 0) prefetch(t_ - 1);
    if (t_ > 1) prefetch_frame(t_ - 2);
    __pipeline_commit();
    const uint32_t first = frame().n_emitting, end = first + frame().n_epsilon;
    for (bool fell = first < end; fell;) {
      fell = false;
      for (uint32_t i = first + threadIdx.x; i < end; i += blockDim.x) {
        const SearchLink from = link(i);
        fell |= follow_back(&extras.of_frame, &from);
      }
      fell = __syncthreads_or(fell ? 1 : 0) != 0;
    }
  }

  // Returns true if the extra costs are as when the frame was pruned the last time.
  __device__ bool is_as_before() const {
    if (frame().is_pruned == 0) return false;
    bool differs = false;
    for (uint32_t i = threadIdx.x; i < frame().n_tokens; i += blockDim.x) {
      const float before = i < stage_.n_staged ? stage_.extras(t_)[i] : stored(t_)[i];
      differs |= __float_as_uint(before) != value_now(&extras.of_frame, i);
    }
    return __syncthreads_or(differs ? 1 : 0) == 0;
  }

  // Moves the surviving links to `to` and computes the previous frame's extra costs. Stores the frame's extra costs if its
  // links stay in the frame's own range.
  __device__ SearchFrame prune(uint32_t to, bool stores) {
    const uint32_t n_before = t_ > 0 ? frame_at(t_ - 1).n_tokens : 0;
    uint32_t *const n_left = search_.walk.n_left[t_ % 2];
    for (uint32_t i = threadIdx.x; i < n_before; i += blockDim.x) extras.before[i] = __float_as_uint(CUDART_INF_F);
    const bool is_newest = t_ + 1 == lattice_.n_frames;
    float *const to_store = stores ? stored(t_) : nullptr;
    block_renumber(n_left, frame().n_tokens, is_newest, lattice_.lattice_beam, extras, to_store);
    __syncthreads();
    if (!is_newest) rename_sources(frame_at(t_ + 1));
    prune_links<true>(n_left + 1, 0, frame().n_emitting, to);
    __syncthreads();
    prune_links<false>(n_left + 2, frame().n_emitting, frame().n_epsilon, to + n_left[1]);
    __syncthreads();
    const SearchFrame pruned{to, n_left[1], n_left[2], n_left[0], 1};
    if (threadIdx.x == 0) frame_at(t_) = pruned;
    return pruned;
  }

  __device__ void step_back() {
    --t_;
    extras.swap();
  }

  // Waits for the prefetches, so that shared memory is written no more.
  __device__ void finish() const { __pipeline_wait_prior(0); }

 private:
  __device__ SearchFrame &frame_at(uint32_t t) const { return search_.walk.frames[t % 4]; }
  __device__ float *stored(uint32_t t) const {
    return lattice_.extras + first_extra_of(lattice_.first_frame + t, frame_at(t).first_link);
  }
  __device__ SearchLink link(uint32_t i) const {
    return i < stage_.n_staged ? stage_.links(t_)[i] : lattice_.links[frame().first_link + i];
  }
  __device__ float acoustic_cost(uint32_t i) const {
    return i < stage_.n_staged ? stage_.acoustic_costs(t_)[i] : lattice_.acoustic_costs[frame().first_link + i];
  }

  __device__ void prefetch_frame(uint32_t t) const {
    constexpr uint32_t kWords = sizeof(SearchFrame) / sizeof(uint32_t);
    if (threadIdx.x >= kWords) return;
    auto *const to = reinterpret_cast<uint32_t *>(&frame_at(t));
    const auto *const from = reinterpret_cast<const uint32_t *>(lattice_.frames + t);
    __pipeline_memcpy_async(to + threadIdx.x, from + threadIdx.x, sizeof(uint32_t));
  }
  __device__ void prefetch(uint32_t t) const {
    const SearchFrame &frame = frame_at(t);
    const uint32_t n_links = min(frame.n_emitting + frame.n_epsilon, stage_.n_staged);
    for (uint32_t i = threadIdx.x; i < n_links; i += blockDim.x) {
      __pipeline_memcpy_async(stage_.links(t) + i, lattice_.links + frame.first_link + i, sizeof(SearchLink));
      __pipeline_memcpy_async(stage_.acoustic_costs(t) + i, lattice_.acoustic_costs + frame.first_link + i, sizeof(float));
    }
    if (frame.is_pruned == 0) return;
    const uint32_t n_tokens = min(frame.n_tokens, stage_.n_staged);
    for (uint32_t i = threadIdx.x; i < n_tokens; i += blockDim.x) {
      __pipeline_memcpy_async(stage_.extras(t) + i, stored(t) + i, sizeof(float));
    }
  }

  // The emitting links of the frame after this one get the new numbers of their sources.
  __device__ void rename_sources(const SearchFrame &next) const {
    for (uint32_t i = threadIdx.x; i < next.n_emitting; i += blockDim.x) {
      uint32_t &source = lattice_.links[next.first_link + i].source;
      source = extras.new_number[i < stage_.n_staged ? stage_.sources(t_ + 1)[i] : source];
    }
  }

  // Removes links of one kind, n from the frame's link `from` on; those that stay, by a counter that is 0, go to `to` on.
  // Emitting ones lower the extra costs of the frame before.
  template <bool kEmitting>
  __device__ void prune_links(uint32_t *n_kept, uint32_t from, uint32_t n, uint32_t to) const {
    const uint32_t most = __float_as_uint(lattice_.lattice_beam);
    for (uint32_t first = 0; first < n; first += blockDim.x) {
      const uint32_t i = from + first + threadIdx.x;
      SearchLink kept{};
      float acoustic = 0;
      uint32_t through = 0;
      bool keep = false;
      if (first + threadIdx.x < n) {
        kept = link(i);
        if (kEmitting) acoustic = acoustic_cost(i);
        through = extra_of_link(&extras.of_frame, &kept);
        keep = through <= most;
      }
      if (from + min(first + blockDim.x, n) > stage_.n_staged) __syncthreads();  // what is overwritten has been read
      const uint32_t number = warp_append(n_kept, keep), index = to + number;
      if (!keep) continue;
      if (kEmitting && number < stage_.n_staged) stage_.sources(t_)[number] = kept.source;
      renumber_link(&extras.before, &extras.new_number, kEmitting, through, &kept);
      if (index < lattice_.max_links) {
        lattice_.links[index] = kept;
        lattice_.acoustic_costs[index] = acoustic;
      } else {
        report_full(search_, kLinksFull);
      }
    }
  }

  SearchState &search_;
  const SearchLinks &lattice_;
  const Stage stage_;
  uint32_t t_;
};

}  // namespace asr::cuda
