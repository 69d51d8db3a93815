// SPDX-License-Identifier: Apache-2.0
// Between search*.cc and the kernels of the search: graph, channels and jobs as they lie in memory. Read by both compilers.
// docs/search.md defines the result. The paragraphs at the top of search.cl, and of the files it follows, describe the
// method.
#ifndef SENONE_OCL_SEARCH_TYPES_H
#define SENONE_OCL_SEARCH_TYPES_H

#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr::gpu {
#endif

// A channel and the frames to consume. The kernel reads it at its start and writes it back at its end. `rows` and `channel` are
// indices into the buffers that the kernel gets.
typedef struct SearchJob {
  uint64_t rows;     // float, of log-likelihoods
  uint64_t channel;  // uint, its buffers as channel_layout() says
  uint64_t n_active, n_arcs_expanded;
  uint32_t row_stride, n_frames;
  uint32_t begin, start_state;  // begin: 1 = first makes the token of the start state
  uint32_t output, use_final;   // output: 1 = at the end writes the lattice
  uint32_t has_written;         // the lattice; set by the kernel
  SearchBeam beam;

  uint32_t max_tokens, max_records, max_settled;
  uint32_t local_share;         // share of states whose tokens are in local memory, in 2^-32
  uint32_t current;             // index of the last frame's tokens
  uint32_t n_tokens, n_within;  // tokens of the last frame: all, within the beam
  uint32_t n_records, n_settled;
  uint32_t n_compacted;  // records after the last compaction
  TraceMarks marks;
  float best;  // the least cost
  ChannelLattice lattice;
  uint32_t n_early_prunings;  // for lack of links, since the last growth
  SearchOutput written;

  uint32_t n_consumed;  // frames done, of n_frames
  uint32_t status, overflow;
} SearchJob;

// The best path of a channel: offsets of its tokens, records and steps in the channels' memory. Only the last max_steps
// steps are written.
typedef struct SearchPathJob {
  uint64_t tokens, records, steps;
  uint32_t n_tokens, max_steps;
} SearchPathJob;

// ---- layouts of memory --------------------------------------------------------------------------------------------------

#define SEARCH_WORDS(type) (sizeof(type) / sizeof(uint32_t))

// The first words of a channel's buffers, from SearchJob::channel on. Links [max_links] are at 0. Their acoustic costs
// [max_links], extra costs [max_links + 1] and frames [max_frames] follow. The last are tokens [2][max_tokens], records
// [max_records] and settled steps [max_settled]. The end is a multiple of a link's size, so that links of all channels
// are aligned.
typedef struct ChannelLayout {
  uint64_t acoustic_costs, extras, frames, tokens, records, settled, end;
} ChannelLayout;

DEVICE ChannelLayout channel_layout(uint64_t max_tokens, uint64_t max_records, uint64_t max_settled, uint64_t max_links,
                                    uint64_t max_frames) {
  ChannelLayout at;
  at.acoustic_costs = max_links * SEARCH_WORDS(SearchLink);
  at.extras = at.acoustic_costs + max_links;
  at.frames = at.extras + max_links + 1;
  at.tokens = at.frames + max_frames * SEARCH_WORDS(SearchFrame);
  at.records = at.tokens + 2 * max_tokens * SEARCH_WORDS(SearchToken);
  at.settled = at.records + max_records * SEARCH_WORDS(TraceRecord);
  at.end = at.settled + max_settled * SEARCH_WORDS(PathStep);
  at.end += (SEARCH_WORDS(SearchLink) - at.end % SEARCH_WORDS(SearchLink)) % SEARCH_WORDS(SearchLink);
  return at;
}

// The scratch memory of a work-group in units of 16 bytes. Slots [max_slots] are at 0, then items [2][max_slots] and
// candidates [max_candidates]. Epsilon links [max_candidates / 4] and the numbers of used slots [max_slots] follow.
typedef struct ScratchLayout {
  size_t items, candidates, epsilon_links, used, end;
} ScratchLayout;

DEVICE ScratchLayout scratch_layout(size_t max_slots, size_t max_candidates) {
  ScratchLayout at;
  at.items = max_slots;
  at.candidates = at.items + 2 * max_slots;
  at.epsilon_links = at.candidates + max_candidates;
  at.used = at.epsilon_links + (max_candidates + 15) / 16 * 5;
  at.end = at.used + max_slots / 4;
  return at;
}

#ifdef __cplusplus
}  // namespace asr::gpu
#endif
#endif
