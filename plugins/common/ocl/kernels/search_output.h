// SPDX-License-Identifier: Apache-2.0
// The lattice as it is if the utterance ends with the newest frame: pruned once more, but from the extra costs of the newest
// tokens with their final costs, and into the free place behind what the channel has, which stays as it is for the next frames.
// Only this crosses to the host, a hundredth of what is kept for the newest frames.

// The least cost of the newest tokens, as they are and with their final costs.
void group_find_least(__local Lane *lane, const Memory *m) {
  __global const SearchToken *const tokens = last_tokens(lane, m);
  for (uint i = get_local_id(0); i < lane->job.n_tokens; i += GROUP_SIZE) {
    for (uint with_final = 0; with_final <= lane->job.use_final; ++with_final) {
      const float cost = end_cost(tokens + i, with_final, m->final_costs);
      if (cost <= FLT_MAX) atomic_min(&lane->least[with_final], ordered(cost));
    }
  }
}

bool reaches_final(__local const Lane *lane) { return lane->least[1] != ordered(INFINITY); }

// Their extra costs.
void group_end_extras(__local const Lane *lane, const Memory *m) {
  __global const SearchToken *const tokens = last_tokens(lane, m);
  const Extras extras = extras_of(lane, m);
  const uint with_final = reaches_final(lane) ? 1 : 0;
  const float least = cost_of(lane->least[with_final]);
  for (uint i = get_local_id(0); i < lane->job.n_tokens; i += GROUP_SIZE) {
    set_value(&extras.of_frame, i, extra_of_end(end_cost(tokens + i, with_final, m->final_costs), least));
  }
}

// How many frames at the front the host has.
uint n_known(__local const SearchLinks *lattice) {
  return lattice->first_frame + lattice->n_taken > 0 ? lattice->n_taken + 1 : 0;
}

uint begin_output(__local Lane *lane, const Memory *m) {
  __local SearchJob *const job = &lane->job;
  __local const SearchLinks *const lattice = &job->lattice;
  if (2 * lattice->n_frames - n_known(lattice) > lattice->max_frames) {
    job->status = kSearchOverflow;
    job->overflow = kFramesFull;
    return kStepEndJob;
  }
  begin_visits(lane, m);
  lane->writes = 1;
  lane->to = lattice->n_links;
  lane->least[0] = lane->least[1] = ordered(INFINITY);
  return kStepFindLeast;
}

// All frames are written, or the next does not fit.
uint end_output(__local Lane *lane, bool fits) {
  __local SearchJob *const job = &lane->job;
  const uint n_frames = job->lattice.n_frames - n_known(&job->lattice);
  const SearchOutput written = {n_frames, lane->to - job->lattice.n_links, lane->n_newest, reaches_final(lane) ? 1 : 0};
  job->written = written;
  if (fits) {
    job->output = 0;
  } else {
    job->status = kSearchOverflow;
    job->overflow = kLinksFull;
  }
  return kStepFreeExtras;
}
