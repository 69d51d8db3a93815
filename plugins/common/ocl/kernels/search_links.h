// SPDX-License-Identifier: Apache-2.0
// Makes the links of a frame: the loops over the steps of plugins/common/kernels/search_frame.h.

void block_make_emitting_links(const Search *s, __global const float *row) {
  __local SearchState *const search = s->state;
  const FrameSteps steps = frame_steps(search, s->m);
  const uint n_candidates = search->first_candidate, first_link = search->job.lattice.n_links;
  const float beam = search->job.lattice.lattice_beam;
  for (uint first = warp_number() * WARP; first < n_candidates; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    Candidate candidate = {0, 0, 0.0f, 0};
    if (i < n_candidates) candidate = s->m->candidates[i];
    warp_link_candidate(s, &steps, beam, first_link, &search->n_links[0], i, &candidate, i < n_candidates);
  }
}

// After the emitting links have been counted.
void block_make_epsilon_links(const Search *s) {
  __local SearchState *const search = s->state;
  const uint n = search->n_epsilon_links, first_link = search->job.lattice.n_links + search->n_links[0];
  const float beam = search->job.lattice.lattice_beam;
  for (uint first = warp_number() * WARP; first < n; first += GROUP_SIZE)
    warp_link_epsilon_arc(s, beam, first_link, &search->n_links[1], s->m->epsilon_links, first + lane_number(), n);
}

// The frame's links become the channel's: by one work-item.
void add_frame(__local SearchState *search) {
  __local ChannelLattice *const lattice = &search->job.lattice;
  const SearchFrame frame = append_frame(lattice, search->n_links[0], search->n_links[1], search->n_next);
  search->lattice.frames[lattice->n_frames - 1] = frame;
}
