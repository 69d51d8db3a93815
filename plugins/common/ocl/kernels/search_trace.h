// SPDX-License-Identifier: Apache-2.0
// Compacts the trace (plugins/common/kernels/search_trace.h) in steps of the work-group, in the scratch memory, which is free
// between frames.

Compaction compaction_of(const Memory *m) {
  const Compaction c = {(__global uint *)items_of(m, 0), (__global uint *)items_of(m, 1), (__global Followers *)m->candidates,
                        (__global TraceRecord *)m->candidates};
  return c;
}

void group_clear_marks(__local const SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  clear_marks(&c, search->job.n_records, get_local_id(0), GROUP_SIZE);
}

void group_mark_paths(__local const SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  mark_tokens(&c, last_tokens(search, m), search->job.n_tokens, m->records, get_local_id(0), GROUP_SIZE);
}

// Moves records from the root on to the settled steps while there is one follower. By one work-item.
void settle(__local SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  uint n_settled = search->job.n_settled;
  for (uint at = 0; c.followers[at].n == 1 && n_settled < search->job.max_settled;) {
    const uint record = c.followers[at].record;
    const PathStep step = {m->records[record].arc, m->records[record].acoustic_cost};
    m->settled[n_settled++] = step;
    c.bits[record / 32] &= ~(1u << record % 32);
    at = record + 1;
  }
  search->job.n_settled = n_settled;
}

// Numbers the bits in two steps with add_up between them.
void group_count_bits(__local SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  warp_sum(search->sums, count_bits(&c, share_of(n_bit_words(search->job.n_records))));
}
void group_number_bits(__local SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  const Share words = share_of(n_bit_words(search->job.n_records));
  number_bits(&c, words, warp_sum_before(search->sums, count_bits(&c, words)));
}

void group_move_tokens(__local const SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  renumber_tokens(&c, last_tokens(search, m), search->job.n_tokens, get_local_id(0), GROUP_SIZE);
}

// Move a part of the records to the scratch memory, where a record needs less than a candidate, and back.
void group_gather_records(__local const SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  gather_records(&c, m->records, search->job.n_records, search->first_of_part, m->max_candidates, get_local_id(0), GROUP_SIZE);
}
void group_put_records(__local const SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  const uint first = search->first_of_part;
  put_records(&c, m->records, first, min(search->n_staying - first, m->max_candidates), get_local_id(0), GROUP_SIZE);
}
