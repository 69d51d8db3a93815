// SPDX-License-Identifier: Apache-2.0
// Compacts the trace (plugins/common/kernels/search_trace.h) in the scratch memory, which is free between frames.

Compaction compaction_of(const Memory *m) {
  const Compaction c = {(__global uint *)items_of(m, 0), (__global uint *)items_of(m, 1), (__global Followers *)m->candidates,
                        (__global TraceRecord *)m->candidates};
  return c;
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

// With barriers.
void group_compact_trace(__local SearchState *search, const Memory *m) {
  const Compaction c = compaction_of(m);
  __global SearchToken *const tokens = last_tokens(search, m);
  const uint n_records = search->job.n_records, n_tokens = search->job.n_tokens, own = get_local_id(0);
  clear_marks(&c, n_records, own, GROUP_SIZE);
  block_sync();
  mark_tokens(&c, tokens, n_tokens, m->records, own, GROUP_SIZE);
  block_sync();
  if (is_first()) settle(search, m);
  block_sync();
  const Share words = share_of(n_bit_words(n_records));
  uint n_left;
  number_bits(&c, words, block_scan(count_bits(&c, words), search->sums, &n_left));
  block_sync();
  renumber_tokens(&c, tokens, n_tokens, own, GROUP_SIZE);
  const uint n_part = m->max_candidates;  // a record needs less than a candidate
  for (uint part = 0; part < n_left; part += n_part) {
    gather_records(&c, m->records, n_records, part, n_part, own, GROUP_SIZE);
    block_sync();
    put_records(&c, m->records, part, min(n_left - part, n_part), own, GROUP_SIZE);
    block_sync();
  }
  if (is_first()) search->job.n_records = search->job.n_compacted = n_left;
  block_sync();
}
