// SPDX-License-Identifier: Apache-2.0
// Walks back through the frames of a lattice, finds extra costs and removes links (search_lattice-inl.h), by a block. It
// prunes the lattice, or writes it as it is if the utterance ends here. The back end may prefetch the data of a visit
// during the visit before. Before it includes this file it defines warp_append and the types Values and Walk, and for these
// the functions that search_values_hooks-inl.h and search_prune_hooks-inl.h declare.
#ifndef SENONE_KERNELS_SEARCH_PRUNE_H
#define SENONE_KERNELS_SEARCH_PRUNE_H

#include "plugins/gpu/search/search_lattice-inl.h"
#include "plugins/gpu/search/search_prune_hooks-inl.h"
#ifdef __cplusplus
namespace asr {
#endif

// Returns frame t while it, or a frame beside it, is visited.
FOR_TYPE(Walk) DEVICE LOCAL SearchFrame *walk_frame(const Walk *w, uint32_t t) { return &w->state->frames[t % 4]; }

// Returns the extra costs that are stored of a frame's tokens.
FOR_TYPE(Walk) DEVICE GLOBAL float *stored_extras(const Walk *w, uint32_t t) {
  return w->memory->extras + first_extra_of(w->lattice->first_frame + t, walk_frame(w, t)->first_link);
}

// Returns the most tokens that a frame of the lattice has; `most` is in shared memory.
DEVICE uint32_t block_max_tokens(LOCAL const ChannelLattice *lattice, GLOBAL const SearchFrame *frames, LOCAL uint32_t *most) {
  if (thread_number() == 0) *most = 0;
  block_sync();
  for (uint32_t t = thread_number(); t < lattice->n_frames; t += block_size()) atomic_max(most, frames[t].n_tokens);
  block_sync();
  return *most;
}

// Starts at the newest frame, before the extra costs of its tokens are set.
FOR_TYPE(Walk)
DEVICE void begin_walk(Walk *w, LOCAL ChannelLattice *lattice, LOCAL const LatticeMemory *memory, LOCAL WalkState *state) {
  w->state = state;
  w->lattice = lattice;
  w->memory = memory;
  w->t = lattice->n_frames - 1;
  w->to = lattice->n_links;
  for (uint32_t i = thread_number(); i < 2 && i <= w->t; i += block_size()) *walk_frame(w, w->t - i) = memory->frames[w->t - i];
  for (uint32_t i = thread_number(); i < 3; i += block_size()) state->n_left[w->t % 2][i] = 0;
  block_sync();
}

// Begins the visit: extra costs include paths through epsilon links, in rounds until no cost falls.
FOR_TYPE(Walk) DEVICE void block_complete_extras(Walk *w) {
  const uint32_t first = walk_frame(w, w->t)->n_emitting, end = first + walk_frame(w, w->t)->n_epsilon;
  for (bool fell = first < end; fell;) {
    fell = false;
    for (uint32_t i = first + thread_number(); i < end; i += block_size()) {
      const SearchLink link = frame_link(w, i);
      fell |= follow_back(&w->of_frame, &link);
    }
    fell = block_any(w, fell);
  }
}

// Returns true if the extra costs are as when the frame was pruned the last time.
FOR_TYPE(Walk) DEVICE bool block_is_as_before(Walk *w) {
  const uint32_t n_tokens = walk_frame(w, w->t)->n_tokens;
  if (walk_frame(w, w->t)->is_pruned == 0) return false;
  bool differs = false;
  for (uint32_t i = thread_number(); i < n_tokens; i += block_size())
    differs |= as_uint(stored_extra(w, i)) != value_now(&w->of_frame, i);
  return !block_any(w, differs);
}

// Numbers the tokens within the beam and, unless the lattice is written, stores their extra costs. The newest tokens are then
// all within it and keep their numbers.
FOR_TYPE(Walk) DEVICE void block_renumber(Walk *w, LOCAL uint32_t *n_kept, bool writes) {
  const uint32_t most = as_uint(w->lattice->lattice_beam), n_tokens = walk_frame(w, w->t)->n_tokens;
  const bool keeps_numbers = !writes && w->t + 1 == w->lattice->n_frames;
  GLOBAL float *const stored = stored_extras(w, w->t);
  for (uint32_t first = warp_number() * warp_size(); first < n_tokens; first += block_size()) {
    const uint32_t i = first + lane_number();
    const uint32_t extra = i < n_tokens ? value_now(&w->of_frame, i) : 0;
    const bool keep = i < n_tokens && extra <= most;
    const uint32_t index = warp_append(n_kept, keep), number = keeps_numbers ? i : index;
    if (!keep) continue;
    set_value(&w->new_number, i, number);
    if (!writes) stored[number] = as_float(extra);
  }
}

// The emitting links of the frame after this one get the new numbers of their sources.
FOR_TYPE(Walk) DEVICE void block_rename_sources(Walk *w) {
  LOCAL const SearchFrame *const next = walk_frame(w, w->t + 1);
  for (uint32_t i = thread_number(); i < next->n_emitting; i += block_size()) {
    GLOBAL uint32_t *const source = &w->memory->links[next->first_link + i].source;
    *source = value_now(&w->new_number, i < n_staged(w) ? old_source(w, i) : *source);
  }
}

// Removes links of one kind, n from the frame's link `from` on. The remaining links move to `to` on; n_kept counts them
// from 0. Emitting links lower the extra costs of the preceding frame.
FOR_TYPE(Walk)
DEVICE void block_prune_links(Walk *w, bool emitting, LOCAL uint32_t *n_kept, uint32_t from, uint32_t n, uint32_t to) {
  const uint32_t most = as_uint(w->lattice->lattice_beam);
  for (uint32_t first = 0; first < n; first += block_size()) {
    const uint32_t i = from + first + thread_number();
    SearchLink kept = {0, 0, 0, 0.0f};
    float acoustic_cost = 0;
    uint32_t through = 0;
    bool keep = false;
    if (first + thread_number() < n) {
      kept = frame_link(w, i);
      if (emitting) acoustic_cost = frame_acoustic_cost(w, i);
      through = extra_of_link(&w->of_frame, &kept);
      keep = through <= most;
    }
    if (from + min(first + block_size(), n) > n_staged(w)) block_sync();  // links are read before they are overwritten
    const uint32_t number = warp_append(n_kept, keep), index = to + number;
    if (!keep) continue;
    if (emitting && number < n_staged(w)) set_old_source(w, number, kept.source);
    renumber_link(&w->before, &w->new_number, emitting, through, &kept);
    if (index < w->lattice->max_links) {
      w->memory->links[index] = kept;
      w->memory->acoustic_costs[index] = acoustic_cost;
    } else {
      report_links_full(w);
    }
  }
}

// Moves the surviving links to w->to, or within the frame's own range, and computes the extra costs of the frame before.
FOR_TYPE(Walk) DEVICE SearchFrame block_prune_frame(Walk *w, bool writes) {
  LOCAL const SearchFrame *const frame = walk_frame(w, w->t);
  const uint32_t n_before = w->t > 0 ? walk_frame(w, w->t - 1)->n_tokens : 0, to = writes ? w->to : frame->first_link;
  LOCAL uint32_t *const n_left = w->state->n_left[w->t % 2];
  for (uint32_t i = thread_number(); i < n_before; i += block_size()) set_value(&w->before, i, as_uint(INFINITY));
  block_renumber(w, n_left, writes);
  block_sync();
  if (w->t + 1 < w->lattice->n_frames) block_rename_sources(w);
  block_prune_links(w, true, n_left + 1, 0, frame->n_emitting, to);
  block_sync();
  block_prune_links(w, false, n_left + 2, frame->n_emitting, frame->n_epsilon, to + n_left[1]);
  block_sync();
  const SearchFrame pruned = {to, n_left[1], n_left[2], n_left[0], 1};
  if (thread_number() == 0) *walk_frame(w, w->t) = pruned;
  return pruned;
}

// Visits the frames back to frame `last`. A pruning ends early, at a frame whose extra costs have not changed. A
// lattice is written until it does not fit; *overflow says so. Written are its links, from the end of the channel's own
// to w->to, its frames, and the newest frame's tokens, from `tokens` to `kept_tokens`. Returns the number of these.
FOR_TYPE(Walk)
DEVICE uint32_t block_walk_back(Walk *w, bool writes, uint32_t last, LOCAL const uint32_t *overflow,
                                GLOBAL const SearchToken *tokens, GLOBAL SearchToken *kept_tokens) {
  CHECK_HOOKS(WalkHooks, Walk);
  const uint32_t newest = w->t, most = as_uint(w->lattice->lattice_beam);
  uint32_t n_kept_tokens = 0;
  for (;;) {
    finish_prefetch(w);
    block_sync();
    for (uint32_t i = thread_number(); i < 3; i += block_size()) w->state->n_left[(w->t + 1) % 2][i] = 0;
    prefetch(w);
    block_complete_extras(w);
    if (!writes && block_is_as_before(w)) break;
    const uint32_t n_tokens = writes ? walk_frame(w, w->t)->n_tokens : 0;
    const SearchFrame pruned = block_prune_frame(w, writes);
    if (writes && *overflow != 0) break;
    if (writes && w->t == newest) {
      n_kept_tokens = pruned.n_tokens;
      for (uint32_t i = thread_number(); i < n_tokens; i += block_size())
        if (value_now(&w->of_frame, i) <= most) kept_tokens[value_now(&w->new_number, i)] = tokens[i];
    }
    if (thread_number() == 0) w->memory->frames[writes ? output_entry(w->lattice, w->t) : w->t] = pruned;
    w->to += pruned.n_emitting + pruned.n_epsilon;
    if (w->t == last) break;
    --w->t;
    swap_values(&w->of_frame, &w->before);
  }
  finish_prefetch(w);
  block_sync();
  return n_kept_tokens;
}

// Sets the extra costs of the newest tokens, from the paths that end with them. `least`: [2] in shared memory.
FOR_TYPE(Walk)
DEVICE void block_end_extras(Walk *w, GLOBAL const SearchToken *tokens, uint32_t n_tokens, bool use_final,
                             GLOBAL const float *final_costs, LOCAL uint32_t *least) {
  if (thread_number() == 0) least[0] = least[1] = ordered(INFINITY);
  block_sync();
  for (uint32_t i = thread_number(); i < n_tokens; i += block_size())
    lower_end_costs(tokens + i, use_final, final_costs, least);
  block_sync();
  for (uint32_t i = thread_number(); i < n_tokens; i += block_size())
    set_value(&w->of_frame, i, end_extra(tokens + i, final_costs, least));
  block_sync();
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_PRUNE_H
