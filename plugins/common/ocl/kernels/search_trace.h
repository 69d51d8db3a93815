// SPDX-License-Identifier: Apache-2.0
// Removes the records that no token can reach, and moves the part of the path that all tokens share to the settled steps.
// Every token walks back and sets a bit for each record on its path until it meets one that is set; how many records follow a
// record is counted on the way. From the root on, records with a single follower are shared by all. New places are the
// numbers of bits before, which a sum for each word of 32 gives without a table; records move through the scratch memory, as
// many at a time as fit there.

// Where the parts of a compaction lie in the scratch memory, which is free between frames.
typedef struct {
  __global uint *bits, *before;   // [words of 32 records]
  __global Followers *followers;  // [n_records + 1], the first for the root
  __global TraceRecord *moved;    // later in the place of the followers
} Compaction;

Compaction compaction_of(__local const Lane *lane, const Memory *m) {
  const Compaction c = {(__global uint *)items_of(m, 0), (__global uint *)items_of(m, 1), (__global Followers *)m->candidates,
                        (__global TraceRecord *)m->candidates};
  return c;
}

uint n_words_of(__local const Lane *lane) { return (lane->job.n_records + 31) / 32; }

void group_clear_marks(__local const Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  for (uint w = get_local_id(0); w < n_words_of(lane); w += GROUP_SIZE) c.bits[w] = 0;
  for (uint r = get_local_id(0); r <= lane->job.n_records; r += GROUP_SIZE) c.followers[r].n = 0;
}

// Walks from every token's record to what was walked before.
void group_mark_paths(__local const Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  __global const SearchToken *const tokens = last_tokens(lane, m);
  for (uint i = get_local_id(0); i < lane->job.n_tokens; i += GROUP_SIZE) {
    const uint record = tokens[i].record;
    atomic_add(&c.followers[record + 1].n, 2u);
    mark_path(c.bits, c.followers, m->records, record);
  }
}

// Moves records from the root on to the settled steps while there is one follower; a token counts as two. By one work-item.
void settle(__local Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  uint n_settled = lane->job.n_settled;
  for (uint at = 0; c.followers[at].n == 1 && n_settled < lane->job.max_settled;) {
    const uint record = c.followers[at].record;
    const PathStep step = {m->records[record].arc, m->records[record].acoustic_cost};
    m->settled[n_settled++] = step;
    c.bits[record / 32] &= ~(1u << record % 32);
    at = record + 1;
  }
  lane->job.n_settled = n_settled;
}

// How many bits are set before a word, in two steps with add_up between them.
uint n_own_bits(__local const Lane *lane, const Compaction *c) {
  const Share share = share_of(n_words_of(lane));
  uint n = 0;
  for (uint w = share.begin; w < share.end; ++w) n += popcount(c->bits[w]);
  return n;
}
void group_count_bits(__local Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  warp_sum(lane->sums, n_own_bits(lane, &c));
}
void group_number_bits(__local Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  const Share share = share_of(n_words_of(lane));
  uint n = warp_sum_before(lane->sums, n_own_bits(lane, &c));
  for (uint w = share.begin; w < share.end; ++w) {
    c.before[w] = n;
    n += popcount(c.bits[w]);
  }
}

uint new_place(const Compaction *c, uint record) { return place_of_record(c->bits, c->before, record); }

void group_move_tokens(__local const Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  __global SearchToken *const tokens = last_tokens(lane, m);
  for (uint i = get_local_id(0); i < lane->job.n_tokens; i += GROUP_SIZE) tokens[i].record = new_place(&c, tokens[i].record);
}

// Records whose new places are in a part, to the scratch memory. None moves up, so that no part overwrites what the next ones
// read.
void group_gather_records(__local const Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  for (uint r = lane->first_of_part + get_local_id(0); r < lane->job.n_records; r += GROUP_SIZE) {
    if ((c.bits[r / 32] >> r % 32 & 1) == 0) continue;
    const uint place = new_place(&c, r) - lane->first_of_part;
    if (place >= m->max_candidates) continue;  // a record is smaller than a candidate
    const TraceRecord record = m->records[r];
    const TraceRecord moved = {new_place(&c, record.previous), record.arc, record.acoustic_cost};
    c.moved[place] = moved;
  }
}

// And from there to their places.
void group_put_records(__local const Lane *lane, const Memory *m) {
  const Compaction c = compaction_of(lane, m);
  const uint first = lane->first_of_part, n = min(lane->n_staying - first, m->max_candidates);
  for (uint r = get_local_id(0); r < n; r += GROUP_SIZE) m->records[first + r] = c.moved[r];
}
