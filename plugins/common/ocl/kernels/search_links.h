// SPDX-License-Identifier: Apache-2.0
// Makes the links of a frame (plugins/common/kernels/search_lattice.h). The source of an epsilon link kept its path if it kept
// its cost. By now the record of a slot is the number of its token.

// Appends links for the lanes that want to: of one kind, after those of the other.
void warp_add_link(__local SearchState *search, const Memory *m, uint kind, bool wanted, SearchLink link, float acoustic_cost) {
  const uint before = search->job.lattice.n_links + (kind == 1 ? search->n_links[0] : 0);
  const uint index = before + warp_append(&search->n_links[kind], wanted);
  if (!wanted) return;
  if (index >= search->job.lattice.max_links) {
    report_full(search, kLinksFull);
    return;
  }
  m->links[index] = link;
  m->acoustic_costs[index] = acoustic_cost;
}

void group_make_emitting_links(__local SearchState *search, const Memory *m) {
  const float lattice_beam = search->job.lattice.lattice_beam, bound = search->bound;
  const uint n_candidates = search->first_candidate;
  for (uint first = warp_number() * WARP; first < n_candidates; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    bool keep = false;
    float acoustic_cost = 0.0f;
    SearchLink link = {0, 0, 0, 0.0f};
    if (i < n_candidates) {
      const Candidate candidate = m->candidates[i];
      const uint slot = candidate.slot & kCandidateSlot;
      keep = make_link(candidate.from, m->slots[slot].record, candidate.arc, candidate.cost, cost_of(cost_in(m, slot)),
                       lattice_beam, &link) &&
             candidate.cost <= bound;
      if (keep) acoustic_cost = arc_acoustic_cost(search, m, candidate.arc);
    }
    warp_add_link(search, m, 0, keep, link, acoustic_cost);
  }
}

void group_make_epsilon_links(__local SearchState *search, const Memory *m) {
  const SearchBeam beam = search->job.beam;
  const float lattice_beam = search->job.lattice.lattice_beam;
  const uint n_followed = search->n_epsilon_links;
  for (uint first = warp_number() * WARP; first < n_followed; first += GROUP_SIZE) {
    const uint i = first + lane_number();
    bool keep = false;
    SearchLink link = {0, 0, 0, 0.0f};
    if (i < n_followed) {
      const EpsilonLink followed = m->epsilon_links[i];
      const SearchArc arc = m->arcs[followed.arc];
      const float cost = arc_cost(&beam, false, 0.0f, &arc, followed.source_cost);
      keep = make_link(m->slots[followed.source].record, m->slots[followed.destination].record, followed.arc, cost,
                       cost_of(cost_in(m, followed.destination)), lattice_beam, &link) &&
             followed.source_cost == cost_of(cost_in(m, followed.source));
    }
    warp_add_link(search, m, 1, keep, link, 0.0f);
  }
}

// The frame's links become the channel's: by one work-item.
void add_frame(__local SearchState *search, const Memory *m) {
  __local ChannelLattice *const lattice = &search->job.lattice;
  const SearchFrame frame = append_frame(lattice, search->n_links[0], search->n_links[1], search->n_next);
  m->frames[lattice->n_frames - 1] = frame;
}
