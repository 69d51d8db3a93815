// SPDX-License-Identifier: Apache-2.0
// Writes the lattice as it is if the utterance ends with the newest frame (plugins/common/kernels/search_lattice.h).

// Finds the extra costs of the newest tokens, with their final costs. With barriers.
void group_end_extras(__local SearchState *search, const Memory *m) {
  __global const SearchToken *const tokens = last_tokens(search, m);
  const Extras extras = extras_of(search, m);
  const uint n_tokens = search->job.n_tokens;
  for (uint i = get_local_id(0); i < n_tokens; i += GROUP_SIZE)
    lower_end_costs(tokens + i, search->job.use_final, m->final_costs, search->least);
  block_sync();
  for (uint i = get_local_id(0); i < n_tokens; i += GROUP_SIZE)
    set_value(&extras.of_frame, i, end_extra(tokens + i, m->final_costs, search->least));
  block_sync();
}

// Writes the lattice, or sets the status if it does not fit. With barriers.
void group_output(__local SearchState *search, const Memory *m) {
  __local SearchJob *const job = &search->job;
  const uint n_frames = job->lattice.n_frames - n_known_frames(&job->lattice);
  uint overflow = output_fits(&job->lattice, n_known_frames(&job->lattice)) ? 0 : kFramesFull;
  if (overflow == 0) {
    if (is_first()) begin_visits(search, m, true);
    block_sync();
    group_end_extras(search, m);
    if (!group_walk_back(search, m, true)) overflow = kLinksFull;
  }
  block_sync();
  group_free_local(m);
  if (is_first()) {
    const SearchOutput written = {n_frames, search->to - job->lattice.n_links, search->n_newest,
                                  reaches_final(search->least) ? 1 : 0};
    job->written = written;
    job->has_written = overflow == 0 ? 1 : 0;
    job->overflow = overflow;
    if (overflow != 0) job->status = kSearchOverflow;
  }
  block_sync();
}
