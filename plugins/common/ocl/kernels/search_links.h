// SPDX-License-Identifier: Apache-2.0
// Makes the links of a frame: the loops over the steps of plugins/common/kernels/search_frame.h.

// Returns the links of a kind: epsilon links come after emitting ones.
FrameLinks frame_links(__local SearchState *search, const Memory *m, uint kind) {
  const FrameLinks links = {m->lattice.links,
                            m->lattice.acoustic_costs,
                            &search->n_links[kind],
                            search->job.lattice.n_links + (kind == 1 ? search->n_links[0] : 0),
                            search->job.lattice.max_links,
                            search->job.lattice.lattice_beam};
  return links;
}

void group_make_emitting_links(__local SearchState *search, const Memory *m) {
  const Search s = {search, m};
  const FrameSteps steps = frame_steps(search, m);
  const FrameLinks links = frame_links(search, m, 0);
  const uint n_candidates = search->first_candidate;
  for (uint first = warp_number() * WARP; first < n_candidates; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    Candidate candidate = {0, 0, 0.0f, 0};
    if (i < n_candidates) candidate = m->candidates[i];
    warp_link_candidate(&s, &steps, &links, i, &candidate, i < n_candidates);
  }
}

void group_make_epsilon_links(__local SearchState *search, const Memory *m) {
  const Search s = {search, m};
  const FrameLinks links = frame_links(search, m, 1);
  const uint n = search->n_epsilon_links;
  for (uint first = warp_number() * WARP; first < n; first += GROUP_SIZE)
    warp_link_epsilon_arc(&s, &links, m->epsilon_links, first + lane_number(), n);
}

// The frame's links become the channel's: by one work-item.
void add_frame(__local SearchState *search, const Memory *m) {
  __local ChannelLattice *const lattice = &search->job.lattice;
  const SearchFrame frame = append_frame(lattice, search->n_links[0], search->n_links[1], search->n_next);
  m->lattice.frames[lattice->n_frames - 1] = frame;
}
