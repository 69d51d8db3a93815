// SPDX-License-Identifier: Apache-2.0
// The data of the GPUs' search that hosts and kernels read alike: graph, tokens, traces, results. docs/search.md defines the
// search; each back end adds the layout of its channels and jobs.
#ifndef SENONE_KERNELS_SEARCH_TYPES_H
#define SENONE_KERNELS_SEARCH_TYPES_H

#include "plugins/common/dialect.h"
#ifdef __cplusplus
namespace asr {
#endif

// The label of an arc: its pdf and two flags.
FIXED uint32_t kArcWord = 0x80000000u;     // the arc has a word
FIXED uint32_t kArcEpsilon = 0x40000000u;  // next_state has epsilon arcs
FIXED uint32_t kArcPdf = 0x3fffffffu;

// An arc; its index is that of the graph's arc.
typedef struct SearchArc {
  uint32_t next_state, label;
  float graph_cost;
  uint32_t unused;
} KERNEL_ALIGNED(16) SearchArc;

// The first arcs of a state.
typedef struct ArcBegins {
  uint32_t emitting, epsilon;
} ArcBegins;

typedef struct SearchToken {
  uint32_t state;
  float cost;
  uint32_t record;  // its path
} SearchToken;

// The last arc of a path and the path before it.
typedef struct TraceRecord {
  uint32_t previous, arc;
  float acoustic_cost;
} TraceRecord;

FIXED uint32_t kTraceRoot = 0xffffffffu;  // instead of a record's number: the end of the settled path

FIXED uint32_t kNoRecord = 0xfffffffeu;  // of a token that was cut

// The frames that a channel has consumed, and how many records its trace had at the end of frames that cuts go back to: frame
// t at t / kCutPeriod % 4, for the last kCutDistance frames (path_cuts-inl.h).
typedef struct TraceMarks {
  uint32_t n_frames;
  uint32_t n_records[4];
} TraceMarks;

// Shared memory of a team that cuts paths: the best token, the end of the records that are on the paths of all tokens, and
// whether a buffer was too small for the frame, so that records may be missing.
typedef struct PathCut {
  uint32_t state, record, common_end, overflow;
} PathCut;

// An arc of a path.
typedef struct PathStep {
  uint32_t arc;
  float acoustic_cost;
} PathStep;

typedef struct SearchBeam {
  float beam, acoustic_scale, word_insertion_cost;
  uint32_t max_active, min_active;  // max_active is at least min_active
} SearchBeam;

typedef enum SearchStatus {
  kSearchRunning,
  kSearchDied,
  kSearchOverflow,
  kSearchNegativeCycle,
} SearchStatus;

// The buffers that were too small for a frame. The frame was not consumed.
typedef enum SearchOverflow {
  kTableFull = 1,
  kCandidatesFull = 2,
  kTokensFull = 4,
  kTraceFull = 8,
  kLinksFull = 16,
  kFramesFull = 32,  // the host has to take the settled frames
  kLocalFull = 64,   // the kernel itself goes on with a smaller share
} SearchOverflow;

// An arc between tokens of a lattice, numbered in the source's frame and in the destination's. `cost` says how much dearer it
// is than the destination's token. Acoustic costs lie in an array of their own, so that one load brings a link.
typedef struct SearchLink {
  uint32_t source, destination, arc;
  float cost;
} KERNEL_ALIGNED(16) SearchLink;

// A frame of a lattice. Its emitting links, which lead to its tokens, come before its epsilon links. A pruned frame
// also has the extra costs of its tokens.
typedef struct SearchFrame {
  uint32_t first_link, n_emitting, n_epsilon, n_tokens;
  uint32_t is_pruned;
} SearchFrame;

// Links and frames in global memory. AMD's compiler leaves a struct that is only loaded and stored whole in scratch memory.
#if defined(WARP_KIND) && WARP_KIND == 2
DEVICE SearchLink link_at(GLOBAL const SearchLink *at) {
  const SearchLink link = {at->source, at->destination, at->arc, at->cost};
  return link;
}
DEVICE SearchFrame frame_at(GLOBAL const SearchFrame *at) {
  const SearchFrame frame = {at->first_link, at->n_emitting, at->n_epsilon, at->n_tokens, at->is_pruned};
  return frame;
}
#else
#define link_at(at) (*(at))
#define frame_at(at) (*(at))
#endif

// The counts of a channel's lattice on the device; all zero in channels without.
typedef struct ChannelLattice {
  float lattice_beam;
  uint32_t max_links, max_frames;
  uint32_t n_links;       // up to the end of the newest frame's; there may be gaps between frames
  uint32_t n_kept;        // without gaps, when they were closed last
  uint32_t n_frames;      // on the device
  uint32_t first_frame;   // the number of the first of them
  uint32_t n_taken;       // frames at the front that the host has taken
  uint32_t last_settled;  // the number of the last frame that is pruned no more
  // When a job ends, the links of the frames up to that one that the host lacks.
  uint32_t settled_begin, settled_end;
  uint32_t n_unpruned;  // frames at the end
} ChannelLattice;

// The buffers of a channel's lattice.
typedef struct LatticeMemory {
  GLOBAL SearchLink *links;      // [max_links]
  GLOBAL float *acoustic_costs;  // [max_links]
  GLOBAL float *extras;          // [max_links + 1]
  GLOBAL SearchFrame *frames;    // [max_frames]
} LatticeMemory;

// A lattice that was written behind the channel's links and frames, as if the utterance ended there. It has the frames
// from the newest one back to the first that the host lacks. The newest frame's tokens are in the buffer of the next
// frame's.
typedef struct SearchOutput {
  uint32_t n_frames, n_links, n_tokens;
  uint32_t reached_final;
} SearchOutput;

// The state in which a best path ends, and how many steps the path has since it was settled. The first n_common of these are on
// the paths of all tokens; 0 unless wanted.
typedef struct SearchEnd {
  uint32_t state;
  uint32_t reached_final, n_steps, n_common;
} SearchEnd;

// ---- lists of a frame ----------------------------------------------------------------------------------------------------

// A token whose arcs are followed: its first arc, and its cost. `token` is its number for emitting arcs, or its slot
// for epsilon arcs. `offset` is the number of arcs of the earlier items.
typedef struct ExpandItem {
  uint32_t first_arc;
  float cost;
  uint32_t token, offset;
} KERNEL_ALIGNED(16) ExpandItem;

// An arc within the beam, and the slot of the state it leads to, with a flag. `from`: of an emitting arc the number of its
// token, of an epsilon arc the record of its token's path.
typedef struct Candidate {
  uint32_t slot, arc;
  float cost;
  uint32_t from;
} KERNEL_ALIGNED(16) Candidate;

FIXED uint32_t kCandidateEpsilon = 0x40000000u;  // as kArcEpsilon
FIXED uint32_t kCandidateSlot = 0x3fffffffu;

// An epsilon arc that was followed when its source's path had the record `from`, and the cost it led to. Destinations are
// slots. Sources are slots too, in a cluster of blocks with the number of the block (plugins/cuda/search/search_mail.cuh).
typedef struct EpsilonLink {
  uint32_t source, destination, arc, from;
  float cost;
} EpsilonLink;

// The data that the steps of a frame read, and the number of records of the trace, to which they append.
typedef struct FrameSteps {
  SearchBeam beam;
  float bound;  // bound of costs; it falls while emitting arcs are followed
  GLOBAL const SearchArc *arcs;
  GLOBAL const ArcBegins *begins;
  GLOBAL const SearchToken *tokens;  // tokens of the last frame
  GLOBAL const float *row;           // nullptr for epsilon arcs
  LOCAL uint32_t *n_records;
} FrameSteps;

// A token of the last frame that the block owns, and its emitting arcs.
typedef struct OwnToken {
  uint32_t state;
  float cost;
  uint32_t number, first_arc, n_arcs;
} OwnToken;

DEVICE void set_arcs(GLOBAL const ArcBegins *begins, OwnToken *token) {
  token->first_arc = begins[token->state].emitting;
  token->n_arcs = begins[token->state + 1].emitting - token->first_arc;
}

// Counters of a block after a step, or the totals of all blocks of its team.
typedef struct StepTotals {
  uint32_t overflow;    // SearchOverflow
  uint32_t n_followed;  // candidates that lead to states with epsilon arcs, in clusters
  uint32_t n_used;      // slots
  uint32_t best;        // ordered cost so far
} KERNEL_ALIGNED(16) StepTotals;

FIXED uint32_t kNoList = 2;  // list number of a step that follows no arcs

// The numbers of a frame's tokens and links, counted by all blocks of a team.
typedef struct FrameCounts {
  uint32_t n_next, n_within;  // tokens; tokens within the beam
  uint32_t n_links[2];        // emitting ones, epsilon ones
} FrameCounts;

// Shared memory of the threads on their way back through a lattice (search_prune-inl.h).
typedef struct WalkState {
  uint32_t max_tokens;    // largest number of tokens in a frame
  SearchFrame frames[4];  // frame t at t % 4
  uint32_t n_left[2][3];  // frame t at t % 2: remaining tokens, emitting links, and epsilon links
} WalkState;

FIXED uint32_t kFreeSlot = 0xffffffffu;  // instead of a slot's state
FIXED uint32_t kNoSlot = 0xffffffffu;
FIXED uint32_t kBins = 2048;       // bins of the histogram over the beam
FIXED uint32_t kFewKeys = 128;     // most keys that are compared with each other
FIXED uint32_t kPruneFrames = 16;  // new frames of a lattice that is pruned

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_TYPES_H
