// SPDX-License-Identifier: Apache-2.0
// The trace of the search: the records of all paths. The best path's steps are read from it, and compactions keep it small.
// A compaction removes the records that no token can reach, and moves the part of the path that all tokens share to the settled
// steps. Every token walks back and sets a bit for each record on its path until it meets one that is set. The followers of
// each record are counted on the way: from the root on, records with a single follower are shared by all. A record's new index
// is the number of bits before its own, which a sum for each word of 32 bits gives without a table. Records move through
// scratch memory, as many at a time as fit there. No record moves up, so no part overwrites records that the next ones
// read.
#ifndef SENONE_KERNELS_SEARCH_TRACE_H
#define SENONE_KERNELS_SEARCH_TRACE_H

#include "plugins/common/path_cuts-inl.h"
#include "plugins/gpu/search/search_types.h"
#ifdef __cplusplus
namespace asr {
#endif

// The number of records that follow a record, and one of them.
typedef struct Followers {
  uint32_t n, record;
} KERNEL_ALIGNED(8) Followers;

// The buffers of a compaction, in scratch memory.
typedef struct Compaction {
  GLOBAL uint32_t *bits, *before;  // [words of 32 records]
  GLOBAL Followers *followers;     // [n_records + 1], the first for the root
  GLOBAL TraceRecord *moved;       // overwrites the followers
} Compaction;

// A thread's share of n neighbouring elements.
typedef struct Share {
  uint32_t begin, end;
} Share;

DEVICE Share share_of_thread(uint32_t n, uint32_t thread, uint32_t n_threads) {
  const uint32_t n_own = (n + n_threads - 1) / n_threads, begin = thread * n_own;
  const Share share = {min(begin, n), min(begin + n_own, n)};
  return share;
}

// Returns true if the trace is compacted before a frame of n_tokens; n_compacted: the records left by the last
// compaction.
DEVICE bool trace_needs_compaction(uint32_t n_records, uint32_t max_records, uint32_t n_tokens, uint32_t n_compacted) {
  return n_records + 2 * n_tokens > max_records && n_records > n_compacted;
}

// Walks from a token's record back to a record that was walked before; followers[0] is the root's. The next record is loaded
// while the bit of this one is set.
DEVICE void mark_path(GLOBAL uint32_t *bits, GLOBAL Followers *followers, GLOBAL const TraceRecord *records, uint32_t record) {
  while (record != kTraceRoot) {
    const uint32_t bit = 1u << record % 32, previous = records[record].previous;
    if ((atomic_or(&bits[record / 32], bit) & bit) != 0) return;
    atomic_add(&followers[previous + 1].n, 1u);
    followers[previous + 1].record = record;
    record = previous;
  }
}

// Returns the number of records that stay before a record; before[w]: the bits before word w.
DEVICE uint32_t index_before(GLOBAL const uint32_t *bits, GLOBAL const uint32_t *before, uint32_t record) {
  return before[record / 32] + popcount(bits[record / 32] & ((1u << record % 32) - 1));
}

// Returns the new index of a record, or the root if the record goes.
DEVICE uint32_t index_of_record(GLOBAL const uint32_t *bits, GLOBAL const uint32_t *before, uint32_t record) {
  if (record == kTraceRoot) return record;
  const uint32_t bit = 1u << record % 32, word = bits[record / 32], n_before = before[record / 32];
  return (word & bit) != 0 ? n_before + popcount(word & (bit - 1)) : kTraceRoot;
}

// ---- the steps of a compaction, by n_threads threads with barriers between the steps ---------------------------------------

DEVICE uint32_t n_bit_words(uint32_t n_records) { return (n_records + 31) / 32; }

DEVICE void clear_marks(const Compaction *c, uint32_t n_records, uint32_t thread, uint32_t n_threads) {
  for (uint32_t w = thread; w < n_bit_words(n_records); w += n_threads) c->bits[w] = 0;
  for (uint32_t r = thread; r <= n_records; r += n_threads) c->followers[r].n = 0;
}

// Walks back from every token's record. A token counts as two followers, so that no record after it is shared.
DEVICE void mark_tokens(const Compaction *c, GLOBAL const SearchToken *tokens, uint32_t n_tokens,
                        GLOBAL const TraceRecord *records, uint32_t thread, uint32_t n_threads) {
  for (uint32_t i = thread; i < n_tokens; i += n_threads) {
    const uint32_t record = tokens[i].record;
    atomic_add(&c->followers[record + 1].n, 2u);
    mark_path(c->bits, c->followers, records, record);
  }
}

// Counts the bits of a share of the words. Then it gets the number of bits before the share, and writes the number
// before each word.
DEVICE uint32_t count_bits(const Compaction *c, Share words) {
  uint32_t n = 0;
  for (uint32_t w = words.begin; w < words.end; ++w) n += popcount(c->bits[w]);
  return n;
}
DEVICE void number_bits(const Compaction *c, Share words, uint32_t n_before) {
  for (uint32_t w = words.begin; w < words.end; ++w) {
    c->before[w] = n_before;
    n_before += popcount(c->bits[w]);
  }
}

DEVICE void renumber_tokens(const Compaction *c, GLOBAL SearchToken *tokens, uint32_t n_tokens, uint32_t thread,
                            uint32_t n_threads) {
  for (uint32_t i = thread; i < n_tokens; i += n_threads) {
    tokens[i].record = index_of_record(c->bits, c->before, tokens[i].record);
  }
}

// Copies the records whose new indices are among the n_part from `first` on to the scratch memory.
DEVICE void gather_records(const Compaction *c, GLOBAL const TraceRecord *records, uint32_t n_records, uint32_t first,
                           uint32_t n_part, uint32_t thread, uint32_t n_threads) {
  for (uint32_t r = first + thread; r < n_records; r += n_threads) {
    const uint32_t index = index_of_record(c->bits, c->before, r);
    if (index - first >= n_part) continue;  // also of records that go
    const TraceRecord record = records[r];
    const TraceRecord moved = {index_of_record(c->bits, c->before, record.previous), record.arc, record.acoustic_cost};
    c->moved[index - first] = moved;
  }
}

// Copies the n records of that part back.
DEVICE void put_records(const Compaction *c, GLOBAL TraceRecord *records, uint32_t first, uint32_t n, uint32_t thread,
                        uint32_t n_threads) {
  for (uint32_t r = thread; r < n; r += n_threads) records[first + r] = c->moved[r];
}

// ---- cuts (search_driver-inl.h) ----

// Returns the mark of a frame that is a multiple of kCutPeriod.
DEVICE LOCAL uint32_t *mark_of(LOCAL TraceMarks *marks, uint32_t frame) { return &marks->n_records[frame / kCutPeriod % 4]; }

// Notes that frames were consumed; the trace then has n_records.
DEVICE void pass_frames(LOCAL TraceMarks *marks, uint32_t n_frames, uint32_t n_records) {
  marks->n_frames += n_frames;
  if (n_frames > 0 && marks->n_frames % kCutPeriod == 0) *mark_of(marks, marks->n_frames) = n_records;
}

// Renumbers the marks as a compaction renumbers records, of which n_left are left.
DEVICE void renumber_marks(const Compaction *c, LOCAL TraceMarks *marks, uint32_t n_records, uint32_t n_left) {
  for (uint32_t i = 0; i < 4; ++i) {
    const uint32_t mark = marks->n_records[i];
    marks->n_records[i] = mark < n_records ? index_before(c->bits, c->before, mark) : n_left;
  }
}

// Returns the record of the path's last emitting arc among the first n_marked records; the root if it has settled.
DEVICE uint32_t emitting_record_before(GLOBAL const TraceRecord *records, uint32_t record, uint32_t n_marked,
                                       uint32_t n_emitting_arcs) {
  while (record != kTraceRoot && (record >= n_marked || records[record].arc >= n_emitting_arcs))
    record = records[record].previous;
  return record;
}

// ---- best paths ------------------------------------------------------------------------------------------------------------

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

// Returns the newest record that the paths of a thread's tokens share with the path of `record`.
DEVICE uint32_t newest_common_record(GLOBAL const TraceRecord *records, uint32_t record, GLOBAL const SearchToken *tokens,
                                     uint32_t n_tokens, uint32_t thread, uint32_t n_threads) {
  for (uint32_t i = thread; i < n_tokens; i += n_threads) record = where_paths_meet(records, record, tokens[i].record);
  return record;
}

// Writes the path that ends in a record, from its last arc back, as far as max_steps; fills the numbers of steps in *end.
// Records below common_end are on the paths of all tokens.
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
