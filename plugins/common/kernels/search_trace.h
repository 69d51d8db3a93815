// SPDX-License-Identifier: Apache-2.0
// The trace of the search, the records of all paths: the best path's steps, and the bits that tell which records a compaction
// keeps. A record's new place is the number of bits before its own.
#ifndef SENONE_KERNELS_SEARCH_TRACE_H
#define SENONE_KERNELS_SEARCH_TRACE_H

#include "plugins/common/kernels/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

// How many records follow a record, and one of them.
typedef struct Followers {
  uint32_t n, record;
} KERNEL_ALIGNED(8) Followers;

// Whether the trace is compacted before a frame of n_tokens; n_compacted: the records there were after the last compaction.
DEVICE bool trace_is_crowded(uint32_t n_records, uint32_t max_records, uint32_t n_tokens, uint32_t n_compacted) {
  return n_records + 2 * n_tokens > max_records && n_records > n_compacted;
}

// Walks from a token's record back to a record that was walked before; followers[0] is the root's. The next record is on its
// way while the bit of this one is set.
DEVICE void mark_path(GLOBAL uint32_t *bits, GLOBAL Followers *followers, GLOBAL const TraceRecord *records, uint32_t record) {
  while (record != kTraceRoot) {
    const uint32_t bit = 1u << record % 32, previous = records[record].previous;
    if ((atomic_or(&bits[record / 32], bit) & bit) != 0) return;
    atomic_add(&followers[previous + 1].n, 1u);
    followers[previous + 1].record = record;
    record = previous;
  }
}

// The new place of a record, or the root if it has none; before[w]: the bits before word w.
DEVICE uint32_t place_of_record(GLOBAL const uint32_t *bits, GLOBAL const uint32_t *before, uint32_t record) {
  if (record == kTraceRoot) return record;
  const uint32_t bit = 1u << record % 32, word = bits[record / 32], n_before = before[record / 32];
  return (word & bit) != 0 ? n_before + popcount(word & (bit - 1)) : kTraceRoot;
}

// Returns the newest record on the paths of both records. A record has a higher number than the one before it; the root, plus
// one, counts as 0.
DEVICE uint32_t where_paths_meet(GLOBAL const TraceRecord *records, uint32_t a, uint32_t b) {
  while (a != b) {
    if (a + 1 > b + 1) {
      a = records[a].previous;
    } else {
      b = records[b].previous;
    }
  }
  return a;
}

// Writes the path that ends in a record, from its last arc back, as far as max_steps; fills the numbers of steps in *end. Records
// below common_end are on the paths of all tokens.
DEVICE void write_path(GLOBAL const TraceRecord *records, uint32_t record, uint32_t common_end, GLOBAL PathStep *steps,
                       uint32_t max_steps, SearchEnd *end) {
  uint32_t n = 0, n_own = 0;
  for (uint32_t r = record; r != kTraceRoot; ++n) {
    const TraceRecord at = records[r];
    const PathStep step = {at.arc, at.acoustic_cost};
    if (n < max_steps) steps[n] = step;
    if (r >= common_end) ++n_own;
    r = at.previous;
  }
  end->n_steps = n;
  end->n_common = n - n_own;
}

#ifdef __cplusplus
}  // namespace asr
#endif
#endif  // SENONE_KERNELS_SEARCH_TRACE_H
