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
    warp_link_candidate(s, &steps, beam, first_link, search->counts.n_links, i, &candidate, i < n_candidates);
  }
}

__global const EpsilonLink *epsilon_links(const Search *s) { return s->m->epsilon_links; }

// Makes the frame's links the channel's, by one work-item.
void add_frame(__local SearchState *search) {
  __local ChannelLattice *const lattice = &search->job.lattice;
  const SearchFrame frame = append_frame(lattice, search->counts.n_links[0], search->counts.n_links[1], search->counts.n_next);
  search->lattice.frames[lattice->n_frames - 1] = frame;
}
