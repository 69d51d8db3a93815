// SPDX-License-Identifier: Apache-2.0
// Between search*.cc and the kernels of the search: graph, channels and jobs as they lie in memory. Read by both compilers.
// What is found is defined by docs/search.md; how, by the paragraphs at the top of search.cl and of the files it follows.
#ifndef SENONE_OCL_SEARCH_TYPES_H
#define SENONE_OCL_SEARCH_TYPES_H

#include "plugins/common/ocl/kernels/types.h"
#ifdef __cplusplus
#include "plugins/common/search_path.h"
namespace asr::ocl {
#endif

// The label of an arc: its pdf and two flags.
#define SEARCH_ARC_WORD 0x80000000u     // the arc has a word
#define SEARCH_ARC_EPSILON 0x40000000u  // next_state has epsilon arcs
#define SEARCH_ARC_PDF 0x3fffffffu

#define SEARCH_ROOT 0xffffffffu  // in place of a record: the end of the settled path

// An arc; its index is that of the graph's arc.
typedef struct SearchArc {
  uint32_t next_state, label;
  float graph_cost;
  uint32_t unused;
} SearchArc;

// Where the arcs of a state begin.
typedef struct SearchBegins {
  uint32_t emitting, epsilon;
} SearchBegins;

typedef struct SearchToken {
  uint32_t state;
  float cost;
  uint32_t record;  // its path
} SearchToken;

// The last arc of a path and the path before it.
typedef struct SearchRecord {
  uint32_t previous, arc;
  float acoustic_cost;
} SearchRecord;

#ifdef __cplusplus
using SearchStep = PathStep;
#else
typedef struct SearchStep {
  uint32_t arc;
  float acoustic_cost;
} SearchStep;
#endif

typedef struct SearchBeam {
  float beam, acoustic_scale, word_insertion_cost;
  float bins_per_cost;              // of the histogram over the beam
  uint32_t max_active, min_active;  // max_active is at least min_active
} SearchBeam;

typedef enum SearchStatus {
  kSearchRunning,
  kSearchDied,
  kSearchOverflow,
  kSearchNegativeCycle,
} SearchStatus;

// What was too small for a frame. The frame was not consumed.
typedef enum SearchOverflow {
  kSearchTableFull = 1,
  kSearchCandidatesFull = 2,
  kSearchTokensFull = 4,
  kSearchTraceFull = 8,
} SearchOverflow;

// A channel and the frames to consume. The kernel reads it at its start and writes it back at its end. Places are indices
// into the buffers that the kernel gets.
typedef struct SearchJob {
  uint64_t rows;     // float, of log-likelihoods
  uint64_t channel;  // uint, its tokens [2][max_tokens], records [max_records] and settled steps [max_settled]
  uint64_t n_active, n_arcs_expanded;
  uint32_t row_stride, n_frames;
  uint32_t begin, start_state;  // begin: 1 = first makes the token of the start state
  SearchBeam beam;

  uint32_t max_tokens, max_records, max_settled;
  uint32_t n_slots;             // of the table, a power of two
  uint32_t current;             // which of the tokens are the last frame's
  uint32_t n_tokens, n_within;  // of them within the beam
  uint32_t n_records, n_settled;
  uint32_t n_compacted;  // records there were after the last compaction
  float best;            // the least cost

  uint32_t n_consumed;  // of n_frames
  uint32_t status, overflow;
} SearchJob;

// What the kernel of the best path finds.
typedef struct SearchEnd {
  uint32_t state;
  uint32_t reached_final, n_steps;
} SearchEnd;

#ifdef __cplusplus
}  // namespace asr::ocl
#endif
#endif
