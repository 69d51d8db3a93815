// SPDX-License-Identifier: Apache-2.0
// Writes the lattice as it is if the utterance ends with the newest frame (plugins/common/kernels/search_lattice.h).

void group_find_least(__local SearchState *search, const Memory *m) {
  __global const SearchToken *const tokens = last_tokens(search, m);
  for (uint i = get_local_id(0); i < search->job.n_tokens; i += GROUP_SIZE) {
    lower_end_costs(tokens + i, search->job.use_final, m->final_costs, search->least);
  }
}

void group_end_extras(__local const SearchState *search, const Memory *m) {
  __global const SearchToken *const tokens = last_tokens(search, m);
  const Extras extras = extras_of(search, m);
  for (uint i = get_local_id(0); i < search->job.n_tokens; i += GROUP_SIZE) {
    set_value(&extras.of_frame, i, end_extra(tokens + i, m->final_costs, search->least));
  }
}

uint begin_output(__local SearchState *search, const Memory *m) {
  __local SearchJob *const job = &search->job;
  if (!output_fits(&job->lattice, n_known_frames(&job->lattice))) {
    job->status = kSearchOverflow;
    job->overflow = kFramesFull;
    return kStepEndJob;
  }
  begin_visits(search, m);
  search->writes = 1;
  search->to = job->lattice.n_links;
  search->least[0] = search->least[1] = ordered(INFINITY);
  return kStepFindLeast;
}

// All frames are written, or the next does not fit.
uint end_output(__local SearchState *search, bool fits) {
  __local SearchJob *const job = &search->job;
  const uint n_frames = job->lattice.n_frames - n_known_frames(&job->lattice);
  const SearchOutput written = {n_frames, search->to - job->lattice.n_links, search->n_newest,
                                reaches_final(search->least) ? 1 : 0};
  job->written = written;
  if (fits) {
    job->has_written = 1;
  } else {
    job->status = kSearchOverflow;
    job->overflow = kLinksFull;
  }
  return kStepFreeExtras;
}
