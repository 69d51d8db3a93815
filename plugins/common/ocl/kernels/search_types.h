// SPDX-License-Identifier: Apache-2.0
// Between search*.cc and the kernels of the search: graph, channels and jobs as they lie in memory. Read by both compilers.
// What is found is defined by docs/search.md; how, by the paragraphs at the top of search.cl and of the files it follows.
#ifndef SENONE_OCL_SEARCH_TYPES_H
#define SENONE_OCL_SEARCH_TYPES_H

#include "plugins/common/kernels/search_types.h"
#ifdef __cplusplus
#include "plugins/common/lattice_frames.h"  // host only
namespace asr::ocl {
#endif

// An arc between tokens of a lattice, as LatticeLink of lattice_frames.h. `cost` says how much dearer it is than the
// destination's token.
#ifdef __cplusplus
using SearchLink = LatticeLink;
#else
typedef struct SearchLink {
  uint32_t source, destination, arc;
  float cost, acoustic_cost;
} SearchLink;
#endif

// A frame of a lattice: its emitting links, which lead to its tokens, then its epsilon links, and, if it has been pruned, the
// extra costs of its tokens (search_prune.h).
typedef struct SearchFrame {
  uint32_t first_link, n_emitting, n_epsilon, n_tokens;
  uint32_t is_pruned;
  uint32_t moves_to;  // while gaps are closed: the first link's new place
} SearchFrame;

// What a channel has of its lattice; all zero in channels without.
typedef struct SearchLinks {
  float lattice_beam;
  uint32_t max_links, max_frames;
  uint32_t n_links;       // up to the end of the newest frame's; there may be gaps between frames
  uint32_t n_kept;        // without gaps, when they were closed last
  uint32_t n_frames;      // on the device
  uint32_t first_frame;   // the number of the first of them
  uint32_t n_taken;       // frames at the front that the host has taken
  uint32_t last_settled;  // the number of the last frame that is pruned no more
  uint32_t n_unpruned;    // frames at the end
  uint32_t n_cramped;     // how often it was pruned early for want of room, since there is as much as this
} SearchLinks;

// A channel and the frames to consume. The kernel reads it at its start and writes it back at its end. Places are indices
// into the buffers that the kernel gets.
typedef struct SearchJob {
  uint64_t rows;     // float, of log-likelihoods
  uint64_t channel;  // uint, its buffers as channel_layout() says
  uint64_t n_active, n_arcs_expanded;
  uint32_t row_stride, n_frames;
  uint32_t begin, start_state;  // begin: 1 = first makes the token of the start state
  uint32_t output, use_final;   // output: 1 = at the end writes the lattice (search_output.h)
  SearchBeam beam;
  float bins_per_cost;  // of the histogram over the beam

  uint32_t max_tokens, max_records, max_settled;
  uint32_t local_share;         // of the states, in 2^-32: their tokens are found in local memory
  uint32_t current;             // which of the tokens are the last frame's
  uint32_t n_tokens, n_within;  // of them within the beam
  uint32_t n_records, n_settled;
  uint32_t n_compacted;  // records there were after the last compaction
  float best;            // the least cost
  SearchLinks lattice;
  SearchOutput written;

  uint32_t n_consumed;  // of n_frames
  uint32_t status, overflow;
} SearchJob;

// A channel whose best path is looked for: places of its tokens and records in the channels' memory, and of its steps, of which
// the last max_steps are written.
typedef struct SearchPathJob {
  uint64_t tokens, records, steps;
  uint32_t n_tokens, max_steps;
} SearchPathJob;

// ---- layouts of memory --------------------------------------------------------------------------------------------------

#define SEARCH_WORDS(type) (sizeof(type) / sizeof(uint32_t))

// The first words of a channel's buffers, from SearchJob::channel on: tokens [2][max_tokens] at 0, records [max_records],
// settled steps [max_settled], links [max_links], extra costs [max_links + 1] and frames [max_frames].
typedef struct ChannelLayout {
  uint64_t records, settled, links, extras, frames, end;
} ChannelLayout;

DEVICE ChannelLayout channel_layout(uint64_t max_tokens, uint64_t max_records, uint64_t max_settled, uint64_t max_links,
                                    uint64_t max_frames) {
  ChannelLayout at;
  at.records = 2 * max_tokens * SEARCH_WORDS(SearchToken);
  at.settled = at.records + max_records * SEARCH_WORDS(TraceRecord);
  at.links = at.settled + max_settled * SEARCH_WORDS(PathStep);
  at.extras = at.links + max_links * SEARCH_WORDS(SearchLink);
  at.frames = at.extras + max_links + 1;
  at.end = at.frames + max_frames * SEARCH_WORDS(SearchFrame);
  return at;
}

// The scratch memory of a work-group in units of 16 bytes: slots [max_slots], items [2][max_slots], candidates
// [max_candidates], epsilon links [max_candidates / 4] with twice as many places behind for links that are moved, and the
// numbers of used slots [max_slots].
DEVICE size_t search_scratch_size(size_t max_slots, size_t max_candidates) {
  return 3 * max_slots + max_candidates + max_candidates / 4 * 3 + max_slots / 4;
}

#ifdef __cplusplus
}  // namespace asr::ocl
#endif
#endif
