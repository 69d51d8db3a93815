// SPDX-License-Identifier: Apache-2.0
// The parts of a compaction of the trace (plugins/common/kernels/search_trace.h) that a work-group does its own way, in the
// scratch memory, which is free between frames.

Compaction compaction(const Search *s) {
  const Memory *const m = s->m;
  const Compaction c = {(__global uint *)items_of(m, 0), (__global uint *)items_of(m, 1), (__global Followers *)m->candidates,
                        (__global TraceRecord *)m->candidates};
  return c;
}

__global SearchToken *last_tokens(const Search *s) { return tokens_of(s->state, s->m, s->state->job.current); }
__global TraceRecord *trace_records(const Search *s) { return s->m->records; }
uint n_moved_at_once(const Search *s) { return s->m->max_candidates; }  // a record needs less than a candidate
uint team_thread_number(const Search *s) { return get_local_id(0); }
uint team_n_threads(const Search *s) { return GROUP_SIZE; }
void team_sync(const Search *s) { block_sync(); }

// Cutting paths that do not join (docs/search.md).
__local PathCut *path_cut(const Search *s) { return &s->state->path_cut; }
uint n_emitting_arcs(const Search *s) { return s->m->begins[0].epsilon; }
void cut_slot(const Search *s, uint slot) {
  if (is_local(s->m, slot)) {
    s->m->table->costs[slot] = ordered(INFINITY);
  } else {
    s->m->slots[slot].cost = ordered(INFINITY);
  }
  set_slot_record(s, slot, kNoRecord);
}

// Moves records from the root on to the settled steps while there is one follower.
void team_settle(const Search *s, const Compaction *c) {
  __local SearchJob *const job = &s->state->job;
  if (thread_number() != 0) return;
  uint n_settled = job->n_settled;
  for (uint at = 0; c->followers[at].n == 1 && n_settled < job->max_settled;) {
    const uint record = c->followers[at].record;
    const PathStep step = {s->m->records[record].arc, s->m->records[record].acoustic_cost};
    s->m->settled[n_settled++] = step;
    c->bits[record / 32] &= ~(1u << record % 32);
    at = record + 1;
  }
  job->n_settled = n_settled;
}
